// Any bytes as a .npy file: rows or errors.
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string path = file_of(data, size);
  read_all(R"pipe(npy("FILE"))pipe", path);
  read_all(R"pipe(npy("FILE", dtype=int64, shape=[none]))pipe", path);
  return 0;
}
