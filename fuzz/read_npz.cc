// Any bytes as a .npz archive: rows or errors.
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string path = file_of(data, size);
  read_all("npz(\"FILE\", max_decompressed_bytes=1000000)", path);
  read_all(R"pipe(npz("FILE", fields={x: feature(float32, shape=[2]), label: int64}))pipe", path);
  return 0;
}
