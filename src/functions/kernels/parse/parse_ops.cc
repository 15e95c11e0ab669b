#include "functions/kernels/families.h"
#include "functions/kernels/parse/parse_family.h"

namespace penstock {

void add_parse_ops(OpRegistry* registry) {
  add_parse_example_op(registry);
  add_parse_sequence_example_op(registry);
  add_decode_raw_op(registry);
  add_decode_csv_op(registry);
  add_tensor_proto_ops(registry);
  add_json_ops(registry);
  add_base64_ops(registry);
  add_decompress_op(registry);
  add_read_file_op(registry);
  add_crc32c_ops(registry);
}

}  // namespace penstock
