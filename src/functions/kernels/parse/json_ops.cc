// decode_json_example: protobuf's JSON form of an Example as its bytes.

#include "functions/kernels/parse/example_json.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

class FromJson final : public StringRewrite {
 public:
  void append(std::string_view text, std::string* out) const override {
    *out += example_from_json(text);
  }
};

}  // namespace

void add_json_ops(OpRegistry* registry) {
  OpDef op = string_rewrite_op("decode_json_example",
                               "a tf.train.Example in JSON as its bytes, for parse_example", {},
                               [](const Attrs&) -> std::shared_ptr<const StringRewrite> {
                                 return std::make_shared<FromJson>();
                               });
  op.can_fail = true;
  op.cost_ns = 3000;
  op.group = "parse";
  registry->add(std::move(op));
}

}  // namespace penstock
