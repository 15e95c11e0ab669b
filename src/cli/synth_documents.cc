// Documents for language models.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cli/synth_data.h"
#include "cli/synth_pieces.h"
#include "cli/synth_shards.h"
#include "cli/synth_words.h"
#include "io/file.h"

namespace penstock {
namespace {

constexpr int64_t kTokensPerDocument = 400;

// Returns half a paragraph to several pages.
std::string document(uint64_t seed, int64_t index) {
  RandomStream random(seed, 1, static_cast<uint64_t>(index));
  const auto words = static_cast<uint64_t>(std::pow(1000.0, random.next_double()));
  std::string out;
  for (uint64_t done = 0; done < words;) {
    const uint64_t sentence = 5 + random.next_below(20);
    out += (out.empty() ? "" : " ") + common_words(random, sentence) + ".";
    done += sentence;
  }
  return out;
}

// Appends a ustar header and the data, padded to 512 bytes.
void append_member(const std::string& name, const std::string& data, std::string* out) {
  std::array<char, 512> header{};
  const auto put = [&header](size_t at, const std::string& text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  char size[13];
  std::snprintf(size, sizeof size, "%011o", static_cast<unsigned>(data.size()));
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, size);
  put(136, "00000000000");
  put(148, "        ");
  put(156, "0");
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char checksum[8];
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  std::memcpy(&header[148], checksum, 7);
  header[155] = ' ';
  out->append(header.data(), header.size());
  *out += data;
  out->append((512 - data.size() % 512) % 512, '\0');
}

int64_t write_tar(const std::string& path, int64_t first, int64_t last, uint64_t seed) {
  return write_rows(path, first, last, [seed, last](int64_t i, std::string* out) {
    char name[32];
    std::snprintf(name, sizeof name, "%08d.txt", static_cast<int>(i));
    append_member(name, document(seed, i), out);
    if (i + 1 == last) out->append(1024, '\0');
  });
}

}  // namespace

SynthSummary synth_documents(const std::string& folder, int64_t elements, uint64_t seed,
                             int64_t shards) {
  static constexpr std::array kSources = {"web", "code", "wiki", "books"};
  prepare_folder(folder, elements, shards);
  for (const char* source : kSources) prepare_folder(folder + "/" + source, elements, shards);
  SynthSummary out =
      write_shards(elements, shards, [&](int64_t shard, int64_t first, int64_t last) {
        int64_t bytes =
            write_tar(shard_path(folder, "documents", shard, shards, ".tar"), first, last, seed);
        for (size_t s = 0; s < kSources.size(); ++s) {
          const std::string path =
              shard_path(folder + "/" + kSources[s], "part", shard, shards, ".jsonl");
          bytes += write_rows(path, first, last, [seed, s](int64_t i, std::string* rows) {
            *rows += "{\"text\": \"" + document(seed + s + 1, i) + "\"}\n";
          });
        }
        return bytes;
      });
  out.bytes += write_rows(folder + "/tokens.bin", 0, elements, [seed](int64_t i, std::string* to) {
    RandomStream random(seed, 2, static_cast<uint64_t>(i));
    for (int64_t k = 0; k < kTokensPerDocument; ++k) {
      const uint64_t token = k == 0 ? 2 : common_number(random) + 3;
      *to += static_cast<char>(token & 255);
      *to += static_cast<char>(token >> 8);
    }
  });
  const std::string pieces = synth_pieces();
  write_file_atomically(folder + "/pieces.model", pieces);
  out.bytes += static_cast<int64_t>(pieces.size());
  out.files = 5 * shards + 2;
  return out;
}

}  // namespace penstock
