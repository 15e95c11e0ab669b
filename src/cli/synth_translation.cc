// Pairs of sentences, as text, as ids and packed.

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "cli/synth_data.h"
#include "cli/synth_pieces.h"
#include "cli/synth_shards.h"
#include "cli/synth_words.h"
#include "functions/kernels/parse/example_writer.h"
#include "io/file.h"

namespace penstock {
namespace {

constexpr int64_t kRecordWords = 48, kPackedWords = 256;

struct Pair {
  std::string en, de;
  std::vector<int64_t> en_ids, de_ids;  // 1 ends a sentence
};

Pair pair_of(uint64_t seed, int64_t index) {
  RandomStream random(seed, 0, static_cast<uint64_t>(index));
  Pair out;
  // One in 100 pairs is too long for most models.
  const uint64_t count = index % 100 == 7 ? 70 : 3 + random.next_below(20) + random.next_below(15);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t number = common_number(random);
    const char* blank = i == 0 ? "" : " ";
    out.en += blank + word_of(number);
    out.en_ids.push_back(static_cast<int64_t>(number) + 3);
    if (random.next_below(12) == 0) continue;  // one word translates two
    out.de += (out.de.empty() ? "" : " ") + word_of(number) + "en";
    out.de_ids.push_back(static_cast<int64_t>(number) + 3);
  }
  if (out.de.empty()) {
    out.de = out.en;
    out.de_ids = out.en_ids;
  }
  out.en_ids.push_back(1);
  out.de_ids.push_back(1);
  return out;
}

std::string vocabulary(const char* ending) {
  std::string out = "<unk>\n<s>\n</s>\n";
  for (const std::string& word : distinct_words(kSynthWords)) out += word + ending + "\n";
  return out;
}

void append_ids(const std::vector<int64_t>& ids, int64_t first, std::string* out) {
  std::array<int32_t, kRecordWords> row{};
  int64_t n = 0;
  if (first) row[static_cast<size_t>(n++)] = static_cast<int32_t>(first);
  for (size_t i = 0; i < ids.size() && n < kRecordWords; ++i)
    row[static_cast<size_t>(n++)] = static_cast<int32_t>(ids[i]);
  out->append(reinterpret_cast<const char*>(row.data()), sizeof row);
}

// Appends source, target after the start token, target, the lengths and the number of the pair.
void append_record(const Pair& pair, int64_t index, std::string* out) {
  append_ids(pair.en_ids, 0, out);
  append_ids(pair.de_ids, 2, out);
  append_ids(pair.de_ids, 0, out);
  const auto length = [](const std::vector<int64_t>& ids) {
    return static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(ids.size()), kRecordWords));
  };
  const std::array<int32_t, 3> rest = {length(pair.en_ids), length(pair.de_ids),
                                       static_cast<int32_t>(index)};
  out->append(reinterpret_cast<const char*>(rest.data()), sizeof rest);
}

// Six columns: tokens, positions and segments of both sides.
struct Packed {
  std::array<std::vector<int64_t>, 6> columns;
  int64_t pairs = 0;

  bool fits(const Pair& pair) const {
    return std::max(columns[0].size() + pair.en_ids.size(),
                    columns[3].size() + pair.de_ids.size()) <= kPackedWords;
  }
  void add(const Pair& pair) {
    ++pairs;
    for (size_t side = 0; side < 2; ++side) {
      const std::vector<int64_t>& ids = side == 0 ? pair.en_ids : pair.de_ids;
      for (size_t i = 0; i < ids.size(); ++i) {
        columns[side * 3].push_back(ids[i]);
        columns[side * 3 + 1].push_back(static_cast<int64_t>(i));
        columns[side * 3 + 2].push_back(pairs);
      }
    }
  }
  std::string serialize() const {
    static constexpr std::array kNames = {"inputs",  "inputs_position",  "inputs_segmentation",
                                          "targets", "targets_position", "targets_segmentation"};
    ExampleWriter example;
    for (size_t i = 0; i < columns.size(); ++i) example.set_int64s(kNames[i], columns[i]);
    return example.serialize();
  }
};

// Returns a record of the pairs from 12 * index on.
std::string packed_example(uint64_t seed, int64_t index, int64_t elements) {
  Packed packed;
  for (int64_t i = 12 * index; i < std::min(elements, 12 * index + 12); ++i) {
    const Pair pair = pair_of(seed, i);
    if (packed.fits(pair)) packed.add(pair);
  }
  return packed.serialize();
}

}  // namespace

SynthSummary synth_translation(const std::string& folder, int64_t elements, uint64_t seed,
                               int64_t shards) {
  prepare_folder(folder, elements, shards);
  SynthSummary out =
      write_shards(elements, shards, [&](int64_t shard, int64_t first, int64_t last) {
        int64_t bytes =
            write_rows(shard_path(folder, "pairs", shard, shards, ".jsonl"), first, last,
                       [seed](int64_t i, std::string* rows) {
                         const Pair pair = pair_of(seed, i);
                         *rows += "{\"en\": \"" + pair.en + "\", \"de\": \"" + pair.de + "\"}\n";
                       });
        bytes += write_rows(
            shard_path(folder, "ids", shard, shards), first, last,
            [seed](int64_t i, std::string* rows) { append_record(pair_of(seed, i), i, rows); });
        const int64_t records = (elements + 11) / 12;
        bytes += write_records(
            shard_path(folder, "packed", shard, shards), records * shard / shards,
            records * (shard + 1) / shards,
            [seed, elements](int64_t i) { return packed_example(seed, i, elements); });
        return bytes;
      });
  out.files = 3 * shards + 5;
  out.bytes += write_rows(folder + "/train.en", 0, elements, [seed](int64_t i, std::string* rows) {
    *rows += pair_of(seed, i).en + "\n";
  });
  out.bytes += write_rows(folder + "/train.de", 0, elements, [seed](int64_t i, std::string* rows) {
    *rows += pair_of(seed, i).de + "\n";
  });
  const std::map<std::string, std::string> whole = {{"/vocab.en", vocabulary("")},
                                                    {"/vocab.de", vocabulary("en")},
                                                    {"/pieces.model", synth_pieces()}};
  for (const auto& [name, content] : whole) {
    write_file_atomically(folder + name, content);
    out.bytes += static_cast<int64_t>(content.size());
  }
  return out;
}

}  // namespace penstock
