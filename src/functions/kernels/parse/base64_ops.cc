// encode_base64, decode_base64: the alphabet that is safe in URLs.

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/base64_text.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

class Encode final : public StringRewrite {
 public:
  explicit Encode(const Attrs& attrs) : pad_(attrs["pad"].as_bool()) {}
  void append(std::string_view text, ChargedString* out) const override {
    encode_web_base64(text, pad_, out);
  }

 private:
  bool pad_;
};

class Decode final : public StringRewrite {
 public:
  void append(std::string_view text, ChargedString* out) const override {
    const int64_t bad = decode_web_base64(text, out);
    if (bad < 0) return;
    const auto at = static_cast<size_t>(bad);
    if (at == text.size())
      fail_row("decode_base64", "a text of " + std::to_string(at) + " characters");
    fail_row("decode_base64", "character " + std::to_string(at) +
                                  " is not of the alphabet: " + quoted(text.substr(at, 1)));
  }
};

}  // namespace

void add_base64_ops(OpRegistry* registry) {
  OpDef encode = string_rewrite_op("encode_base64",
                                   "s in base64, URL-safe; with = at its end where pad is set",
                                   {option("pad", Param::Kind::boolean, Attr::boolean(false))},
                                   [](const Attrs& attrs) -> std::shared_ptr<const StringRewrite> {
                                     return std::make_shared<Encode>(attrs);
                                   });
  OpDef decode = string_rewrite_op("decode_base64", "the bytes that s holds in base64, URL-safe",
                                   {}, [](const Attrs&) -> std::shared_ptr<const StringRewrite> {
                                     return std::make_shared<Decode>();
                                   });
  decode.can_fail = true;
  for (OpDef* op : {&encode, &decode}) {
    op->cost_ns = 150;
    op->group = "parse";
    registry->add(std::move(*op));
  }
}

}  // namespace penstock
