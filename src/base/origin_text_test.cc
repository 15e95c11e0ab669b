#include "base/origin_text.h"

#include <doctest/doctest.h>
#include <cerrno>

#include "base/error.h"
#include "penstock/error_origin.h"

namespace penstock {
namespace {

ErrorOrigin origin(const std::string& message) {
  return error_origin(Error(Code::data_loss, message));
}

TEST_CASE("the origin of an error is read back as it was written") {
  for (const std::string path : {"data/a.tfrecord", "a b (1), record 2", "a: b: offset 7.csv",
                                 "\"quoted\"", "/x: No such file or directory"}) {
    CAPTURE(path);
    CHECK(origin("tfrecord: " + at_offset(path, 24) + ": the file is cut") ==
          ErrorOrigin{path, 24, {}});
    CHECK(origin("gzip: " + at_offset(path, 3) + " of 9: damaged") == ErrorOrigin{path, 3, {}});
    CHECK(origin("no number: \"z\" (" + at_record(path, 3) + ")") == ErrorOrigin{path, {}, 3});
    CHECK(error_origin(system_error("read_file", path, ENOENT)) == ErrorOrigin{path, {}, {}});
    CHECK(error_origin(system_error("map: open", path, EACCES).at("map")) ==
          ErrorOrigin{path, {}, {}});
  }
}

TEST_CASE("an error without a file has no origin") {
  CHECK(origin("size must be positive: 0") == ErrorOrigin{});
  CHECK(origin("expected: offset x") == ErrorOrigin{});
  CHECK(origin("") == ErrorOrigin{});
  CHECK(origin("(, record )") == ErrorOrigin{});
}

TEST_CASE("an offset is nearer to the cause than the record of the row") {
  CHECK(origin("open: b.png: offset 5: cut (a.tfrecord, record 3)") == ErrorOrigin{"b.png", 5, 3});
}

}  // namespace
}  // namespace penstock
