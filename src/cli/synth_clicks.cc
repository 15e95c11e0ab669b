// A click log: label, 13 counts and 26 words per line.

#include <zlib.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/random.h"
#include "cli/synth_data.h"
#include "cli/synth_shards.h"
#include "io/file.h"

namespace penstock {
namespace {

void append_click(uint64_t seed, int64_t index, std::string* out) {
  RandomStream random(seed, 0, static_cast<uint64_t>(index));
  *out += random.next_below(30) == 0 ? '1' : '0';
  for (int i = 0; i < 13; ++i) {
    *out += '\t';
    if (random.next_below(5) == 0) continue;  // unknown value
    *out += std::to_string(static_cast<int64_t>(std::pow(20'000.0, random.next_double())) - 2);
  }
  for (int i = 0; i < 26; ++i) {
    *out += '\t';
    if (random.next_below(10) == 0) continue;
    const double choices = i % 3 == 0 ? 1e6 : 1e3;
    const auto word = static_cast<uint64_t>(std::pow(choices, random.next_double()));
    char text[16];
    std::snprintf(text, sizeof text, "%08x",
                  static_cast<unsigned>(mix(word, static_cast<uint64_t>(i)) >> 32));
    *out += text;
  }
  *out += '\n';
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(Code::internal, "synth: zlib does not start");
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw Error(Code::internal, "synth: zlib does not end");
  return out;
}

}  // namespace

SynthSummary synth_clicks(const std::string& folder, int64_t elements, uint64_t seed,
                          int64_t shards) {
  prepare_folder(folder, elements, shards);
  SynthSummary out =
      write_shards(elements, shards, [&](int64_t shard, int64_t first, int64_t last) {
        const std::string name = folder + "/day_" + std::to_string(shard);
        AtomicFile plain(name + ".tsv"), packed(name + ".gz");
        std::string rows;
        const auto flush = [&] {
          plain.append(rows);
          packed.append(gzipped(rows));  // a gzip file of several members
          rows.clear();
        };
        for (int64_t i = first; i < last; ++i) {
          append_click(seed, i, &rows);
          if (rows.size() > 16 << 20) flush();
        }
        flush();
        plain.commit();
        packed.commit();
        return plain.bytes() + packed.bytes();
      });
  out.files *= 2;
  return out;
}

}  // namespace penstock
