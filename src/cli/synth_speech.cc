// Clips that sound like syllables to a mel filter bank, and their transcripts.

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/synth_data.h"
#include "cli/synth_shards.h"
#include "cli/synth_words.h"
#include "io/file.h"

namespace penstock {
namespace {

constexpr int kRate = 16'000;
constexpr double kLetterSeconds = 0.08;

// Renders each letter as a chord; a blank is silence.
std::vector<float> spoken(const std::string& text, RandomStream& random) {
  const auto letter_frames = static_cast<size_t>(kRate * kLetterSeconds);
  std::vector<float> out(text.size() * letter_frames);
  const double pitch = 90 + 120 * random.next_double();
  for (size_t i = 0; i < text.size(); ++i) {
    const double formant = 300 + 97.0 * (text[i] - 'a');
    for (size_t k = 0; k < letter_frames; ++k) {
      const double t = static_cast<double>(k) / kRate;
      const double swell = std::sin(std::numbers::pi * t / kLetterSeconds);
      const double voice = std::sin(2 * std::numbers::pi * pitch * t) +
                           0.5 * std::sin(2 * std::numbers::pi * formant * t) +
                           0.3 * std::sin(2 * std::numbers::pi * formant * 2.4 * t);
      const double noise = 0.02 * (random.next_float() - 0.5f);
      out[i * letter_frames + k] =
          static_cast<float>((text[i] == ' ' ? 0 : 0.3 * swell * voice) + noise);
    }
  }
  return out;
}

struct Sink {
  std::string bytes;
  size_t at = 0;
};

sf_count_t sink_size(void* user) {
  return static_cast<sf_count_t>(static_cast<Sink*>(user)->bytes.size());
}
sf_count_t sink_seek(sf_count_t offset, int whence, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  const sf_count_t base = whence == SEEK_SET   ? 0
                          : whence == SEEK_CUR ? static_cast<sf_count_t>(sink.at)
                                               : sink_size(user);
  sink.at = static_cast<size_t>(std::max<sf_count_t>(base + offset, 0));
  return static_cast<sf_count_t>(sink.at);
}
sf_count_t sink_read(void*, sf_count_t, void*) { return 0; }
sf_count_t sink_write(const void* from, sf_count_t count, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  const auto n = static_cast<size_t>(count);
  if (sink.bytes.size() < sink.at + n) sink.bytes.resize(sink.at + n);
  if (n > 0) std::memcpy(sink.bytes.data() + sink.at, from, n);
  sink.at += n;
  return count;
}
sf_count_t sink_tell(void* user) { return static_cast<sf_count_t>(static_cast<Sink*>(user)->at); }

std::string flac_of(const std::vector<float>& samples) {
  SF_VIRTUAL_IO io{sink_size, sink_seek, sink_read, sink_write, sink_tell};
  SF_INFO info{};
  info.samplerate = kRate;
  info.channels = 1;
  info.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  Sink sink;
  SNDFILE* file = sf_open_virtual(&io, SFM_WRITE, &info, &sink);
  if (!file) throw Error(Code::internal, std::string("synth: libsndfile: ") + sf_strerror(nullptr));
  const auto frames = static_cast<sf_count_t>(samples.size());
  const bool whole = sf_writef_float(file, samples.data(), frames) == frames;
  if (sf_close(file) != 0 || !whole)
    throw Error(Code::internal, "synth: libsndfile does not write FLAC");
  return std::move(sink.bytes);
}

// Returns a .npy file of 80 floats.
std::string npy_of(float base, float step) {
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (80,), }";
  head.resize(117, ' ');
  std::string out = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head + "\n";
  std::array<float, 80> values;
  for (size_t i = 0; i < values.size(); ++i) values[i] = base + step * static_cast<float>(i);
  out.append(reinterpret_cast<const char*>(values.data()), sizeof values);
  return out;
}

std::string letters() {
  std::string out = "<blank>\n \n'\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) out += std::string(1, letter) + "\n";
  return out;
}

}  // namespace

SynthSummary synth_speech(const std::string& folder, int64_t elements, uint64_t seed) {
  prepare_folder(folder + "/clips", elements, 1);
  std::vector<std::string> rows(static_cast<size_t>(elements));
  const int64_t groups = std::clamp<int64_t>(elements, 1, 64);
  SynthSummary out = write_shards(elements, groups, [&](int64_t, int64_t first, int64_t last) {
    int64_t bytes = 0;
    for (int64_t i = first; i < last; ++i) {
      RandomStream random(seed, 0, static_cast<uint64_t>(i));
      std::string text = common_words(random, 2 + random.next_below(26));
      text.resize(std::min<size_t>(text.size(), 200));
      const std::vector<float> samples = spoken(text, random);
      char name[32];
      std::snprintf(name, sizeof name, "clips/%06d.flac", static_cast<int>(i));
      const std::string flac = flac_of(samples);
      write_file_atomically(folder + "/" + name, flac);
      std::string& row = rows[static_cast<size_t>(i)];
      row = std::string("{\"audio\": \"") + name + "\", \"text\": \"" + text + "\", \"duration\": ";
      append_fixed(row, static_cast<double>(samples.size()) / kRate, 3);
      row += "}\n";
      bytes += static_cast<int64_t>(flac.size());
    }
    return bytes;
  });
  std::string manifest;
  for (const std::string& row : rows) manifest += row;
  const std::array<std::pair<const char*, std::string>, 4> whole = {
      {{"/train.jsonl", manifest},
       {"/letters.txt", letters()},
       {"/mean.npy", npy_of(-9, 0.03f)},
       {"/std.npy", npy_of(4, 0.005f)}}};
  for (const auto& [name, content] : whole) {
    write_file_atomically(folder + name, content);
    out.bytes += static_cast<int64_t>(content.size());
  }
  out.files = elements + 4;
  return out;
}

}  // namespace penstock
