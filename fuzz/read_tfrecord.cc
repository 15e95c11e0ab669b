// Any bytes as TFRecord: records or errors.
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  read_all("tfrecord(\"FILE\")", file_of(data, size));
  return 0;
}
