// Any bytes as a compressed file, the first of them saying which: lines or errors, and no more
// bytes than the limit.
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  if (size == 0) return 0;
  static const char* const kWords[] = {"GZIP", "ZLIB", "ZSTD", "LZ4", "SNAPPY"};
  read_all("text_line(\"FILE\", compression=\"" + std::string(kWords[data[0] % 5]) +
               "\", max_decompressed_bytes=1000000)",
           file_of(data + 1, size - 1));
  return 0;
}
