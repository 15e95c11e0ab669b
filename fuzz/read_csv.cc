// Any bytes as csv: rows or errors.
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string path = file_of(data, size);
  read_all(R"pipe(csv("FILE", columns=[int32, 0.5, ""], na_value="NA", header=true))pipe", path);
  read_all(
      R"pipe(csv("FILE", columns=["", float64, int64(3), uint8], field_delim=";", use_quote_delim=false))pipe",
      path);
  return 0;
}
