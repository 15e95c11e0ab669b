// Any bytes as a snapshot: rows or errors; and any bytes as the content of a chunk, without a
// checksum before the decoder.
#include "fuzz/read_all.h"
#include "io/snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  read_all("load(\"FILE\")", file_of(data, size));
  const BufferRef buffer = allocate_buffer(static_cast<int64_t>(size));
  std::memcpy(buffer.data(), data, size);
  const Spec spec = Spec::tuple({Spec::tensor(DType::int64, {}), Spec::tensor(DType::bytes, {-1})});
  try {
    const Block block = decode_chunk(buffer, static_cast<int64_t>(size), spec);
    for (const Column& c : block.columns) PENSTOCK_CHECK(c.payload_bytes() >= 0);
  } catch (const Error& e) {
    PENSTOCK_CHECK(e.code() == Code::data_loss || e.code() == Code::resource_exhausted);
  }
  return 0;
}
