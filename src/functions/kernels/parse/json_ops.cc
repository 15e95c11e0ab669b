// parse_json: fields of a JSON object. decode_json_example: protobuf's JSON form of an Example.

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/example_json.h"
#include "functions/kernels/parse/json_fields.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

Spec infer_json(const InferContext& context) {
  context.tensor_of(0, DType::bytes);
  context.check_rank(0, 0);
  std::vector<std::string> keys;  // bounded: written in the pipeline
  std::vector<Spec> items;
  for (const JsonField& field : read_json_fields(context.attrs["fields"])) {
    Shape shape(field.dims);
    keys.push_back(field.key);
    items.push_back(
        Spec::tensor(field.dtype, field.sequence ? shape.with_front(Shape::kUnknown) : shape));
  }
  return Spec::dict(std::move(keys), std::move(items));
}

void json_row(const RowCall& call) {
  const auto& fields = *static_cast<const std::vector<JsonField>*>(call.state);
  if (call.inputs[0].dims().rank() != 0) fail_row("parse_json", "expected one string");
  std::vector<Tensor> out = parse_json_fields(bytes_at(call.inputs[0]), fields);
  for (size_t i = 0; i < out.size(); ++i) call.outputs[i].set(std::move(out[i]));
}

class FromJson final : public StringRewrite {
 public:
  void append(std::string_view text, ChargedString* out) const override {
    *out += example_from_json(text);
  }
};

}  // namespace

void add_json_ops(OpRegistry* registry) {
  OpDef fields;
  fields.name = "parse_json";
  fields.params = {required("s", Param::Kind::tensor), required("fields", Param::Kind::any)};
  fields.doc = "fields of a JSON object: {key or /json/pointer: dtype or feature(dtype, shape, "
               "default, kind "
               "fixed or sequence)}";
  fields.infer = infer_json;
  fields.row = json_row;
  fields.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const std::vector<JsonField>>(read_json_fields(attrs["fields"]));
  };
  fields.can_fail = true;
  fields.cost_ns = 2000;
  fields.group = "parse";
  registry->add(std::move(fields));
  OpDef example = string_rewrite_op("decode_json_example",
                                    "a tf.train.Example in JSON as its bytes, for parse_example",
                                    {}, [](const Attrs&) -> std::shared_ptr<const StringRewrite> {
                                      return std::make_shared<FromJson>();
                                    });
  example.can_fail = true;
  example.cost_ns = 3000;
  example.group = "parse";
  registry->add(std::move(example));
}

}  // namespace penstock
