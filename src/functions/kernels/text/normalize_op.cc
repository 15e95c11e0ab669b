// normalize_utf8: Unicode's normal forms, by ICU.

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "data/charged.h"
#include "functions/kernels/text/encoding.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

const icu::Normalizer2* form_named(const std::string& name) {
  UErrorCode status = U_ZERO_ERROR;
  if (name == "NFC") return icu::Normalizer2::getNFCInstance(status);
  if (name == "NFD") return icu::Normalizer2::getNFDInstance(status);
  if (name == "NFKC") return icu::Normalizer2::getNFKCInstance(status);
  if (name == "NFKD") return icu::Normalizer2::getNFKDInstance(status);
  throw TypeError{-1, "form", "must be NFC, NFD, NFKC or NFKD: " + quoted(name)};
}

// Bytes that are no UTF-8 stay or become U+FFFD, as ICU has it.
class Normalize final : public StringRewrite {
 public:
  explicit Normalize(const Attrs& attrs) : form_(form_named(attrs["form"].as_string())) {}
  void append(std::string_view text, ChargedString* out) const override {
    icu::StringByteSink<ChargedString> sink(out);
    UErrorCode status = U_ZERO_ERROR;
    check_for_icu(text);
    form_->normalizeUTF8(0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr,
                         status);
    if (U_FAILURE(status))
      throw Error(Code::invalid_argument, std::string("normalize_utf8: ") + u_errorName(status));
  }

 private:
  const icu::Normalizer2* form_;
};

}  // namespace

void add_normalize_utf8_op(OpRegistry* registry) {
  OpDef op = string_rewrite_op("normalize_utf8", "s in a normal form of Unicode",
                               {optional("form", Param::Kind::text, Attr::text("NFC"))},
                               [](const Attrs& attrs) -> std::shared_ptr<const StringRewrite> {
                                 return std::make_shared<Normalize>(attrs);
                               });
  op.infer = [](const InferContext& context) {
    form_named(context.attrs["form"].as_string());
    return infer_string_rewrite(context);
  };
  op.cost_ns = 200;
  registry->add(std::move(op));
}

}  // namespace penstock
