// Any bytes as a tar archive: samples or errors.
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string path = file_of(data, size);
  read_all(
      R"pipe(tar("FILE", fields={__key__: bytes, txt: feature(bytes, default="none"), cls: int64}))pipe",
      path);
  return 0;
}
