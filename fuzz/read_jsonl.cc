// Any bytes as jsonl: rows or errors.
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string path = file_of(data, size);
  read_all(
      R"pipe(jsonl("FILE", {text: bytes, n: int32, v: feature(float32, shape=[none]), w: feature(bytes, shape=[none, 2])}))pipe",
      path);
  return 0;
}
