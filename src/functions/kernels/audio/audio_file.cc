#include "functions/kernels/audio/audio_file.h"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace penstock {
namespace {

[[noreturn]] void fail(const char* who, Code code, const std::string& what) {
  throw Error(code, std::string(who) + ": " + what);
}

struct Source {
  std::string_view file;
  sf_count_t at = 0;
};

sf_count_t source_length(void* user) {
  return static_cast<sf_count_t>(static_cast<Source*>(user)->file.size());
}
sf_count_t source_seek(sf_count_t offset, int whence, void* user) {
  auto& source = *static_cast<Source*>(user);
  const sf_count_t size = source_length(user);
  const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.at : size;
  source.at = std::clamp<sf_count_t>(base + offset, 0, size);
  return source.at;
}
sf_count_t source_read(void* to, sf_count_t count, void* user) {
  auto& source = *static_cast<Source*>(user);
  const sf_count_t now = std::min(count, source_length(user) - source.at);
  std::memcpy(to, source.file.data() + source.at, static_cast<size_t>(now));
  source.at += now;
  return now;
}
sf_count_t source_write(const void*, sf_count_t, void*) { return 0; }
sf_count_t source_tell(void* user) { return static_cast<Source*>(user)->at; }

struct Closer {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

uint32_t word_at(std::string_view file, size_t at, bool big_endian) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const auto byte = static_cast<uint32_t>(static_cast<uint8_t>(file[at + i]));
    value |= byte << (8 * (big_endian ? 3 - i : i));
  }
  return value;
}

struct Chunks {
  std::string_view format, samples;
};

// RIFF and AIFF: every chunk must end within the file. libsndfile gives what is there instead.
Chunks read_chunks(const char* who, std::string_view file, bool big_endian) {
  const std::string_view data = big_endian ? "SSND" : "data";
  Chunks chunks;
  bool found = false;
  size_t at = 12;
  while (at + 8 <= file.size()) {
    const size_t bytes = word_at(file, at + 4, big_endian);
    if (bytes > file.size() - at - 8) {
      fail(who, Code::data_loss,
           "file is cut: chunk \"" + std::string(file.substr(at, 4)) + "\" claims " +
               std::to_string(bytes) + " bytes, " + std::to_string(file.size() - at - 8) +
               " are there");
    }
    if (file.substr(at, 4) == "fmt ") chunks.format = file.substr(at + 8, bytes);
    if (file.substr(at, 4) == data) {
      chunks.samples = file.substr(at + 8, bytes);
      found = true;
    }
    at += 8 + bytes + bytes % 2;
  }
  if (!found) fail(who, Code::invalid_argument, "no chunk of samples in the file");
  return chunks;
}

// Plain WAV samples as libsndfile's headerless format; 0 for all other codings. libsndfile itself
// stops at some chunks before the samples.
int raw_format(const char* who, std::string_view format, SF_INFO* info) {
  if (format.size() < 16) fail(who, Code::data_loss, "WAV format chunk is cut");
  const auto field = [format](size_t at) { return word_at(format, at, false) & 0xffff; };
  const uint32_t coding = field(0) == 0xfffe && format.size() >= 26 ? field(24) : field(0);
  const uint32_t bits = field(14);
  info->channels = static_cast<int>(field(2));
  info->samplerate = static_cast<int>(word_at(format, 4, false));
  const auto pick = [&]() -> int {
    if (coding == 3) return bits == 32 ? SF_FORMAT_FLOAT : bits == 64 ? SF_FORMAT_DOUBLE : 0;
    if (coding != 1) return 0;
    if (bits == 8) return SF_FORMAT_PCM_U8;
    if (bits == 16) return SF_FORMAT_PCM_16;
    return bits == 24 ? SF_FORMAT_PCM_24 : bits == 32 ? SF_FORMAT_PCM_32 : 0;
  };
  const int found = pick();
  if (found != 0 && field(12) != field(2) * bits / 8) {
    fail(who, Code::invalid_argument,
         "WAV frames of " + std::to_string(field(12)) + " bytes do not hold " +
             std::to_string(field(2)) + " channels of " + std::to_string(bits) + " bits");
  }
  return found == 0 ? 0 : SF_FORMAT_RAW | found;
}

// The last page of an OGG stream says that it is the last, and is whole.
void check_pages(const char* who, std::string_view file) {
  const size_t page = file.rfind("OggS");
  bool whole = file.size() - page >= 27 && (file[page + 5] & 4) != 0;
  if (whole) {
    const auto segments = static_cast<size_t>(static_cast<uint8_t>(file[page + 26]));
    size_t bytes = 27 + segments;
    whole = file.size() - page >= bytes;
    for (size_t i = 0; whole && i < segments; ++i) {
      bytes += static_cast<uint8_t>(file[page + 27 + i]);
    }
    whole = whole && file.size() - page >= bytes;
  }
  if (!whole) {
    fail(who, Code::data_loss,
         "OGG file is cut: ends after " + std::to_string(file.size()) + " bytes");
  }
}

void check_complete(const char* who, std::string_view file) {
  if (file.size() < 12) {
    fail(who, Code::invalid_argument,
         file.empty() ? "input is empty"
                      : "not a sound file: " + std::to_string(file.size()) + " bytes");
  }
  if (file.starts_with("FORM")) read_chunks(who, file, true);
  if (file.starts_with("OggS")) check_pages(who, file);
}

}  // namespace

Sound decode_sound(const char* who, std::string_view file, bool wav_only, int64_t max_samples) {
  if (wav_only && !file.starts_with("RIFF")) {
    fail(who, Code::invalid_argument, "not a WAV file: does not begin with RIFF");
  }
  check_complete(who, file);
  SF_VIRTUAL_IO io{source_length, source_seek, source_read, source_write, source_tell};
  Source source{file};
  SF_INFO info{};
  if (file.starts_with("RIFF")) {
    const Chunks chunks = read_chunks(who, file, false);
    info.format = raw_format(who, chunks.format, &info);
    if (info.format != 0) {
      source.file = chunks.samples;
    } else if (wav_only) {
      fail(who, Code::invalid_argument, "WAV file of compressed samples; use decode_audio");
    } else {
      info = {};
    }
    if (info.format != 0 && (info.samplerate <= 0 || info.channels <= 0)) {
      fail(who, Code::invalid_argument,
           "sample rate " + std::to_string(info.samplerate) + " with " +
               std::to_string(info.channels) + " channels");
    }
    if (info.format != 0 && source.file.empty()) return {0, info.channels, info.samplerate, {}};
  }
  const std::unique_ptr<SNDFILE, Closer> sound(sf_open_virtual(&io, SFM_READ, &info, &source));
  if (sound == nullptr) {
    fail(who, Code::invalid_argument, std::string("cannot be read: ") + sf_strerror(nullptr));
  }
  if (info.samplerate <= 0 || info.channels <= 0 || info.frames < 0) {
    fail(who, Code::invalid_argument,
         "sample rate " + std::to_string(info.samplerate) + " with " +
             std::to_string(info.channels) + " channels");
  }
  Sound out{info.frames, info.channels, info.samplerate, {}};
  if (out.frames > max_samples / out.channels) {
    fail(who, Code::resource_exhausted,
         "header claims " + std::to_string(out.frames) + " frames of " +
             std::to_string(out.channels) + " channels; max_samples is " +
             std::to_string(max_samples));
  }
  out.samples.resize(static_cast<size_t>(out.frames * out.channels));
  const sf_count_t got = sf_readf_float(sound.get(), out.samples.data(), out.frames);
  if (got != out.frames || sf_error(sound.get()) != SF_ERR_NO_ERROR) {
    fail(who, Code::data_loss,
         "damaged after frame " + std::to_string(got) + " of " + std::to_string(out.frames) + ": " +
             sf_strerror(sound.get()));
  }
  return out;
}

ChargedString encode_wav(const float* samples, int64_t frames, int64_t channels, int64_t rate) {
  const auto bytes = static_cast<uint32_t>(frames * channels * 2);
  ChargedString out;
  out.reserve(44 + size_t{bytes});
  const auto put = [&out](uint32_t value, int count) {
    for (int i = 0; i < count; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  };
  out += "RIFF";
  put(36 + bytes, 4);
  out += "WAVEfmt ";
  put(16, 4);
  put(1, 2);
  put(static_cast<uint32_t>(channels), 2);
  put(static_cast<uint32_t>(rate), 4);
  put(static_cast<uint32_t>(rate * channels * 2), 4);
  put(static_cast<uint32_t>(channels * 2), 2);
  put(16, 2);
  out += "data";
  put(bytes, 4);
  for (int64_t i = 0; i < frames * channels; ++i) {
    const float scaled = std::isnan(samples[i]) ? 0.0f : std::round(samples[i] * 32768.0f);
    put(static_cast<uint32_t>(static_cast<int32_t>(std::clamp(scaled, -32768.0f, 32767.0f))), 2);
  }
  return out;
}

}  // namespace penstock
