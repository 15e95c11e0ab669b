// The parse ops by file; add_parse_ops calls each once.
#pragma once

namespace penstock {

class OpRegistry;

void add_parse_example_op(OpRegistry* registry);
void add_parse_sequence_example_op(OpRegistry* registry);
void add_decode_raw_op(OpRegistry* registry);
void add_decode_csv_op(OpRegistry* registry);
void add_tensor_proto_ops(OpRegistry* registry);
void add_json_ops(OpRegistry* registry);
void add_base64_ops(OpRegistry* registry);
void add_decompress_op(OpRegistry* registry);
void add_crc32c_ops(OpRegistry* registry);
void add_read_file_op(OpRegistry* registry);

}  // namespace penstock
