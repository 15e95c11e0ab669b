// read_file: the bytes of a file, read when its row is computed; where the function of a map has
// its name ready first, on the I/O pool ahead of that (runtime/file_read_cursor.h). The file is no
// part of the pipeline's identity: what stands under one name is taken not to change.

#include "functions/kernels/op_def.h"
#include "functions/kernels/parse/parse_family.h"
#include "io/file_bytes.h"

namespace penstock {
namespace {

Spec infer_read_file(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  context.check_rank(0, 0);
  return Spec::tensor(DType::bytes, type.shape);
}

void read_file_row(const RowCall& call) {
  const FileBytes file = read_file_bytes(std::string(bytes_at(call.inputs[0])));
  OutputSlot& slot = call.outputs[0];
  *slot.allocate_as<BytesView>({}) =
      BytesView{reinterpret_cast<const char*>(file.buffer.data()), file.size};
  slot.keep(file.buffer);
}

}  // namespace

void add_read_file_op(OpRegistry* registry) {
  OpDef op = op_def("read_file", "the bytes of the file of this name", {tensor_param("path")},
                    infer_read_file, read_file_row, {"parse", 20'000, true});
  op.large_rows = op.reads_files = op.is_file_content = true;
  registry->add(std::move(op));
}

}  // namespace penstock
