// load_array: an array from a file, a constant that plans name by its file. It is opened when the
// pipeline is; what is made of it alone is made once, then.

#include "functions/kernels/families.h"
#include "functions/kernels/math/array_file.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

ArrayFileOptions options_of(const Attrs& attrs) {
  ArrayFileOptions out;
  if (!attrs["dtype"].is_none()) out.dtype = attrs["dtype"].as_dtype();
  if (!attrs["shape"].is_none()) out.shape = attrs["shape"].as_ints();
  return out;
}

void check_options(const ArrayFileOptions& options) {
  if (options.dtype == DType::bytes)
    throw TypeError{-1, "dtype", "is bytes, expected numbers: text_line reads lines"};
  int64_t open = 0;
  for (const int64_t size : options.shape) {
    open += size == -1;
    if (size < -1) throw TypeError{-1, "shape", "holds " + std::to_string(size)};
  }
  if (open > 1) throw TypeError{-1, "shape", "has more than one size left open"};
  if (options.shape.size() > static_cast<size_t>(kMaxRank))
    throw TypeError{-1, "shape", "has more than " + std::to_string(kMaxRank) + " sizes"};
}

Spec infer_load_array(const InferContext& context) {
  const ArrayFileOptions options = options_of(context.attrs);
  check_options(options);
  const std::string path = context.attrs["file"].as_string();
  DType dtype = options.dtype.value_or(DType::float32);
  Dims dims;
  try {
    if (array_file_type(path, options, &dtype, &dims)) return Spec::tensor(dtype, Shape(dims));
  } catch (const Error& e) {
    const std::string prefix = "load_array: ";
    context.fail(e.message().starts_with(prefix) ? e.message().substr(prefix.size()) : e.message());
  }
  if (!options.dtype) {
    context.fail(path + ": there is no such file; with dtype and shape given it is looked for when "
                        "the pipeline is opened");
  }
  return Spec::tensor(dtype, Shape(options.shape));
}

void load_array_row(const RowCall& call) {
  call.outputs[0].set(*static_cast<const Tensor*>(call.state));
}

}  // namespace

void add_load_array_op(OpRegistry* registry) {
  Param dtype = optional("dtype", Param::Kind::dtype, {});
  dtype.accepts_none = true;
  OpDef op = op_def("load_array",
                    "the array of a .npy file, or with dtype given of a file of bare numbers; "
                    "memory-mapped",
                    {required("file", Param::Kind::text), std::move(dtype),
                     optional("shape", Param::Kind::shape, Attr::list({Attr::integer(-1)}))},
                    infer_load_array, load_array_row, {"shape", 5});
  op.reads_files = op.known_at_open = true;
  op.data_identity = [](const Attrs& attrs) {
    return array_file_identity(attrs["file"].as_string());
  };
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const Tensor>(
        open_array_file(attrs["file"].as_string(), options_of(attrs)));
  };
  registry->add(std::move(op));
}

}  // namespace penstock
