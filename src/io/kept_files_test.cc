#include "io/kept_files.h"

#include <doctest/doctest.h>

#include "io/file.h"
#include "io/memory_file_system_test.h"
#include "io/throttle.h"

namespace penstock {
namespace {

constexpr int64_t kMost = 64 << 20;

std::string patterned(size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(i * 7 + i / 251);
  return out;
}

struct Files {
  Files() {
    add_file_system("memory-kept", std::make_unique<MemoryFileSystem>());
    write_file_atomically("memory-kept://long", patterned(KeptFiles::kPiece * 2 + 100));
    write_file_atomically("memory-kept://short", "short");
  }
  static std::string read(const std::string& name) {
    return read_regular("open", "memory-kept://" + name, kMost);
  }
};

TEST_CASE("a file that is read again comes from memory, with the same bytes") {
  const Files files;
  const std::string before = files.read("long");
  KeptFiles kept(kMost);
  CHECK(files.read("long") == before);
  CHECK(kept.read_bytes() == static_cast<int64_t>(before.size()));
  CHECK(kept.kept_bytes() == static_cast<int64_t>(before.size()));
  kept.count_anew();
  CHECK(files.read("long") == before);
  CHECK(kept.read_bytes() == 0);
  CHECK(kept.served_bytes() >= static_cast<int64_t>(before.size()));
  CHECK(kept.names().size() == 1);
}

TEST_CASE("a part of a file is read at any offset, kept or not") {
  const Files files;
  const std::string whole = files.read("long");
  KeptFiles kept(kMost);
  const File file("memory-kept://long");
  for (const int64_t offset : {int64_t{0}, KeptFiles::kPiece - 3, 2 * KeptFiles::kPiece + 90}) {
    for (int again = 0; again < 2; ++again) {
      std::string part(20, '\0');
      const int64_t got = file.pread(std::as_writable_bytes(std::span(part)), offset);
      const std::string expected = whole.substr(static_cast<size_t>(offset), 20);
      CHECK(got == static_cast<int64_t>(expected.size()));
      CHECK(part.substr(0, static_cast<size_t>(got)) == expected);
    }
  }
}

TEST_CASE("bytes beyond the room are read again, and nothing is wrong with them") {
  const Files files;
  const std::string before = files.read("long");
  KeptFiles kept(KeptFiles::kPiece);
  for (int again = 0; again < 2; ++again) CHECK(files.read("long") == before);
  CHECK(kept.is_full());
  CHECK(kept.kept_bytes() <= KeptFiles::kPiece);
  CHECK(kept.read_bytes() > static_cast<int64_t>(before.size()));
}

TEST_CASE("files opened while it is off are not kept") {
  const Files files;
  KeptFiles kept(kMost);
  kept.keep(false);
  CHECK(files.read("short") == "short");
  CHECK(kept.names().empty());
  kept.keep(true);
  CHECK(files.read("short") == "short");
  CHECK(kept.kept_bytes() == 5);
}

TEST_CASE("a file is the same one through the throttle of another run") {
  const Files files;
  KeptFiles kept(kMost);
  for (int run = 0; run < 2; ++run) {
    Throttle slow({.bytes_per_second = 1e12});
    const ScopedThrottle scope(&slow);
    CHECK(files.read("short") == "short");
  }
  CHECK(kept.read_bytes() == 5);
}

TEST_CASE("a missing file is as missing as before") {
  const Files files;
  const KeptFiles kept(kMost);
  CHECK_THROWS_AS(files.read("none"), Error);
}

}  // namespace
}  // namespace penstock
