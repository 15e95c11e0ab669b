#include "io/record_reader.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/crc32c.h"
#include "base/source_dir_test.h"
#include "io/file.h"
#include "io/input_stream.h"
#include "io/record_writer.h"

namespace penstock {
namespace {

using nlohmann::json;

const std::string kGolden = source_dir() + "/tests/golden/tfdata/";

struct Folder {
  Folder() { path = std::string(::mkdtemp(name)) + "/"; }
  ~Folder() { std::filesystem::remove_all(path); }
  char name[32] = "/tmp/penstock-io-XXXXXX";
  std::string path;
};

// Avoids the wait for the disk in write_file_atomically.
void write_quickly(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

struct Everything {
  std::vector<std::string> records;
  std::vector<std::string> errors;  // "DATA_LOSS: message", and the number of records before it
  std::vector<size_t> error_positions;
};

Everything read_all(RecordReader& reader, int64_t max_records = 1000) {
  Everything out;
  std::vector<RecordChunk> kept;  // views must stay valid while the reader continues
  for (int round = 0;; ++round) {
    REQUIRE(round < 1'000'000);
    RecordChunk& chunk = kept.emplace_back();
    reader.read(&chunk, max_records);
    REQUIRE(static_cast<int64_t>(chunk.records.size()) <= max_records);
    if (chunk.end) {
      REQUIRE((chunk.records.empty() && !chunk.error));
      break;
    }
    REQUIRE((!chunk.records.empty() || chunk.error));
    if (chunk.error) {
      size_t before = 0;
      for (const RecordChunk& c : kept) before += c.records.size();
      out.errors.push_back(std::string(code_name(chunk.error->code())) + ": " +
                           chunk.error->message());
      out.error_positions.push_back(before);
    }
  }
  for (const RecordChunk& chunk : kept) {
    for (const Record& r : chunk.records) out.records.emplace_back(r.data, r.size);
  }
  return out;
}

using Open = std::unique_ptr<RecordReader> (*)(std::string, const ReaderOptions&);

// An element of a record: text, or {"b64": ..} for other bytes.
std::string text_of(const json& element) {
  if (element.is_string()) return element;
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : element["b64"].get<std::string>()) {
    static const std::string digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = digits.find(c);
    if (digit == std::string::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8));
  }
  return out;
}

// Cases whose pipeline is one reader of one file. Ours continues after a bad data checksum, ends
// after a missing file, and detects every cut: separate tests check these.
void check_golden(const std::string& name, Open open, int64_t chunk_bytes) {
  std::ifstream in(kGolden + name + ".jsonl");
  REQUIRE(in);
  int checked = 0;
  for (std::string line; std::getline(in, line);) {
    const json record = json::parse(line);
    const std::string pipe = record["pipe"];
    const size_t quote = pipe.find('"');
    if (pipe.find(" | ") != std::string::npos || pipe.rfind(name + "(\"", 0) != 0) continue;
    if (!record.contains("elements") || !record["elements"].is_array()) continue;
    const std::string path = pipe.substr(quote + 1, pipe.find('"', quote + 1) - quote - 1);
    ReaderOptions options;
    options.chunk_bytes = chunk_bytes;
    if (const size_t at = pipe.find("compression=\""); at != std::string::npos) {
      options.compression = pipe.substr(at + 13, pipe.find('"', at + 13) - at - 13);
    }
    CAPTURE(pipe);
    ++checked;
    const auto wanted = [&] {
      std::vector<std::string> out;
      for (const json& e : record["elements"]) out.push_back(text_of(e));
      return out;
    }();
    if (options.compression == "LZ4") continue;  // supported here, refused by tf.data
    if (!record["error"].is_null() && record["error"]["code"] == "INVALID_ARGUMENT") {
      CHECK_THROWS_AS(open(kGolden + path, options), Error);
      continue;
    }
    if (options.compression == "SNAPPY") continue;  // refused here, DATA_LOSS in tf.data
    Everything got = read_all(*open(kGolden + path, options));
    // The records were made through numpy, which drops zero bytes at the end.
    for (std::string& r : got.records) r.resize(r.find_last_not_of('\0') + 1);
    if (record["error"].is_null()) {
      const std::string id = record["id"];
      const bool cut = id.find("truncated") != std::string::npos ||
                       id.find("trailing_byte") != std::string::npos;
      CHECK(got.errors.size() == (cut ? 1 : 0));
      if (id == "text_line/gzip_truncated") {
        // tf.data ends with half a line; ours returns the whole lines, then the error.
        REQUIRE(!got.records.empty());
        REQUIRE(got.records.size() <= wanted.size());
        CHECK(std::equal(got.records.begin(), got.records.end(), wanted.begin()));
        continue;
      }
      CHECK(got.records == wanted);
      continue;
    }
    REQUIRE(got.errors.size() == 1);
    CHECK(got.errors[0].rfind(record["error"]["code"].get<std::string>(), 0) == 0);
    CHECK(got.error_positions[0] == record["error"]["position"]);
    got.records.resize(got.error_positions[0]);
    CHECK(got.records == wanted);
  }
  CHECK(checked >= 15);
}

TEST_CASE("records of tf.data: tfrecord") {
  for (int64_t chunk : {64, 100, 1 << 20}) check_golden("tfrecord", open_tfrecord, chunk);
}

TEST_CASE("records of tf.data: text_line") {
  for (int64_t chunk : {64, 100, 1 << 20}) {
    check_golden(
        "text_line",
        [](std::string path, const ReaderOptions& options) {
          return open_text_lines(std::move(path), options);
        },
        chunk);
  }
}

TEST_CASE("a bad data checksum costs one record") {
  const std::string path = kGolden + "files/tfrecord/flipped_data.tfrecord";
  const Everything got = read_all(*open_tfrecord(path, {}));
  CHECK(got.records == std::vector<std::string>{"record-0", "record-2", "record-3"});
  REQUIRE(got.errors.size() == 1);
  CHECK(got.error_positions[0] == 1);
  const std::string start =
      "DATA_LOSS: tfrecord: " + path + ": offset 24: data checksum does not match: 0x";
  CHECK(got.errors[0].substr(0, start.size()) == start);
  ReaderOptions unchecked;
  unchecked.verify_checksums = false;
  CHECK(read_all(*open_tfrecord(path, unchecked)).records.size() == 4);
}

TEST_CASE("a bad length costs the rest of the file, which is counted") {
  const std::string folder = kGolden + "files/tfrecord/";
  Everything got = read_all(*open_tfrecord(folder + "flipped_length.tfrecord", {}));
  CHECK(got.records.size() == 1);
  REQUIRE(got.errors.size() == 1);
  CHECK(got.errors[0].find("72 bytes of the file are left unread") != std::string::npos);
  got = read_all(*open_tfrecord(folder + "huge_length.tfrecord", {}));
  REQUIRE(got.errors.size() == 1);
  CHECK(got.errors[0].find("over the limit") != std::string::npos);
  for (const char* name : {"truncated_in_length", "truncated_in_length_crc", "truncated_in_data"}) {
    got = read_all(*open_tfrecord(folder + name + ".tfrecord", {}));
    CHECK(got.records.size() == 2);
    REQUIRE(got.errors.size() == 1);
    CHECK(got.errors[0].find("offset 48: the file is cut") != std::string::npos);
  }
}

TEST_CASE("options out of range are refused at open") {
  CHECK_THROWS_AS(open_tfrecord("x", {.compression = "gzip"}), Error);
  CHECK_THROWS_AS(open_text_lines("x", {.compression = "BROTLI"}), Error);
  CHECK_THROWS_AS(open_text_lines("x", {.compression = {}, .chunk_bytes = 1}), Error);
}

TEST_CASE("a missing file is an error, then the end") {
  const Everything got = read_all(*open_tfrecord("/nowhere/a.tfrecord", {}));
  REQUIRE(got.errors.size() == 1);
  CHECK(got.errors[0] ==
        "NOT_FOUND: tfrecord: open: /nowhere/a.tfrecord: No such file or directory");
}

std::vector<std::string> random_records(std::mt19937& random, int count, int most) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) {
    std::string& record = out.emplace_back(random() % static_cast<unsigned>(most), ' ');
    for (char& c : record) c = static_cast<char>('a' + random() % 26);
  }
  return out;
}

TEST_CASE("what is written is read, at any chunk size") {
  const int64_t used_before = process_pool().used_bytes();
  const Folder folder;
  std::mt19937 random(7);
  for (const char* compression : {"", "GZIP", "ZLIB"}) {
    for (const int most : {1, 50, 5000, 300'000}) {
      const auto records = random_records(random, most > 10'000 ? 20 : 300, most);
      const std::string path = folder.path + "x";
      RecordWriter writer(path, compression);
      for (const std::string& r : records) writer.write(r);
      writer.close();
      CHECK(writer.file_bytes() == static_cast<int64_t>(std::filesystem::file_size(path)));
      for (const int64_t chunk : {64, 1000, 70'000, 1 << 20}) {
        for (const int64_t at_once : {1, 7, 1000}) {
          const auto reader =
              open_tfrecord(path, {.compression = compression, .chunk_bytes = chunk});
          CHECK(read_all(*reader, at_once).records == records);
        }
      }
      std::string text;
      for (const std::string& r : records) text += r + "\r\n";
      write_quickly(path, text);
      for (const int64_t chunk : {64, 1000, 1 << 20}) {
        const auto reader = open_text_lines(path, {.compression = {}, .chunk_bytes = chunk});
        CHECK(read_all(*reader).records == records);
      }
    }
  }
  CHECK(process_pool().used_bytes() == used_before);
}

TEST_CASE("offsets tell where a record begins") {
  const Folder folder;
  write_quickly(folder.path + "t", "ab\n\ncde\r\nf");
  const auto reader = open_text_lines(folder.path + "t", {});
  RecordChunk chunk;
  reader->read(&chunk, 100);
  REQUIRE(chunk.records.size() == 3);
  CHECK(chunk.records[1].offset == 3);
  CHECK(chunk.records[2].offset == 4);
  reader->read(&chunk, 100);
  REQUIRE(chunk.records.size() == 1);
  CHECK(chunk.records[0].offset == 9);
}

TEST_CASE("a small file takes little memory") {
  const Folder folder;
  write_quickly(folder.path + "t", "one line\n");
  BufferPool pool;
  ScopedPool scope(&pool);
  {
    const auto reader = open_text_lines(folder.path + "t", {});
    RecordChunk chunk;
    reader->read(&chunk, 100);
    CHECK(chunk.records.size() == 1);
  }
  CHECK(pool.peak_bytes() < 1000);
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("a record over the memory budget is one error, and the next record follows") {
  const Folder folder;
  const std::string path = folder.path + "t";
  const auto check = [&](const std::unique_ptr<RecordReader>& reader, const char* offset) {
    const Everything got = read_all(*reader);
    CHECK(got.records == std::vector<std::string>{"small", "last"});
    REQUIRE(got.errors.size() == 1);
    CHECK(got.errors[0].rfind("RESOURCE_EXHAUSTED", 0) == 0);
    CHECK(got.errors[0].find(path + ": offset " + offset) != std::string::npos);
  };
  BufferPool pool(1 << 20);
  ScopedPool scope(&pool);
  const std::string large(3 << 20, 'x');
  for (const int64_t chunk : {100, 70'000, 1 << 20}) {
    const ReaderOptions options{.compression = {}, .chunk_bytes = chunk};
    RecordWriter writer(path);
    writer.write("small");
    writer.write(large);
    writer.write("last");
    writer.close();
    check(open_tfrecord(path, options), "21");
    write_quickly(path, "small\n" + large + "\nlast\n");
    check(open_text_lines(path, options), "6");
    check(open_rows(path, options, {}), "6");
    // Line ends inside quotes belong to the row; two quotes do not end the field.
    std::string quoted = large + ",\"";
    for (int i = 0; i < 200'000; ++i) quoted += "\"\"\r\n,";
    write_quickly(path, "small\r\n" + quoted + "\",a\"b\r\nlast\r\n");
    check(open_rows(path, options, {}), "7");
  }
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("a line that takes most of the memory budget is read") {
  const Folder folder;
  const std::string large(400 << 10, 'x');
  write_quickly(folder.path + "t", large + "\nlast\n");
  BufferPool pool(1 << 20);
  ScopedPool scope(&pool);
  const Everything got = read_all(*open_text_lines(folder.path + "t", {}));
  CHECK(got.records == std::vector<std::string>{large, "last"});
  CHECK(got.errors.empty());
}

std::string gzip(const std::string& bytes, int window_bits) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Returns the bytes, then "!" if an error ended them.
std::string read_stream(const std::string& path, Compression compression, size_t piece) {
  const auto stream = open_input_stream(path, compression);
  std::string out, buffer(piece, '\0');
  try {
    for (;;) {
      const int64_t got = stream->read(std::as_writable_bytes(std::span(buffer)));
      if (got == 0) return out;
      out.append(buffer, 0, static_cast<size_t>(got));
    }
  } catch (const Error& e) {
    CHECK(e.code() == Code::data_loss);
    return out + "!";
  }
}

TEST_CASE("gzip: many members, cut anywhere, flipped anywhere") {
  const Folder folder;
  const std::string path = folder.path + "x.gz";
  std::mt19937 random(11);
  std::string plain, packed;
  for (const std::string& part : random_records(random, 400, 3000)) {
    plain += part;
    packed += gzip(part, 31);
  }
  write_quickly(path, packed);
  for (const size_t piece : {1u, 1000u, 10'000'000u}) {
    CHECK(read_stream(path, Compression::gzip, piece) == plain);
  }
  write_quickly(path, packed + "garbage");
  CHECK(read_stream(path, Compression::gzip, 5000) == plain + "!");

  const std::string text = plain.substr(0, 3000);
  for (const auto& [compression, bits] :
       {std::pair{Compression::gzip, 31}, {Compression::zlib, 15}}) {
    packed = gzip(text, bits);
    for (size_t size = 1; size < packed.size(); size += 1 + random() % 20) {
      write_quickly(path, packed.substr(0, size));
      const std::string got = read_stream(path, compression, 700);
      REQUIRE(got.back() == '!');
      REQUIRE(text.compare(0, got.size() - 1, got, 0, got.size() - 1) == 0);
    }
    for (int i = 0; i < 300; ++i) {
      std::string bad = packed;
      const size_t at = random() % bad.size();
      bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
      write_quickly(path, bad);
      const std::string got = read_stream(path, compression, 700);
      // A bit of the gzip header may have no effect; any other damage is detected.
      if (got != text) REQUIRE(got.back() == '!');
      if (at >= 10) REQUIRE(got.back() == '!');
    }
  }
}

TEST_CASE("crc32c") {
  auto crc = [](std::string_view s) { return crc32c(std::as_bytes(std::span(s))); };
  CHECK(crc("") == 0);
  CHECK(crc("123456789") == 0xe3069283u);
  CHECK(crc(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(crc(std::string(32, '\xff')) == 0x62a8ab43u);
  for (const uint32_t value : {0u, 1u, 0xdeadbeefu, 0xffffffffu}) {
    CHECK(unmask_crc(mask_crc(value)) == value);
  }
}

}  // namespace
}  // namespace penstock
