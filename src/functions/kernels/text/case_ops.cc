// lower, upper: ASCII letters, or all of Unicode's by ICU's full mappings.

#include <unicode/bytestream.h>
#include <unicode/casemap.h>

#include "data/charged.h"
#include "functions/kernels/text/encoding.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

class AsciiCase final : public StringRewrite {
 public:
  explicit AsciiCase(bool upper) : first_(upper ? 'a' : 'A') {}
  void append(std::string_view text, ChargedString* out) const override {
    const size_t begin = out->size();
    out->append(text);
    for (size_t i = begin; i < out->size(); ++i) {
      char& c = (*out)[i];
      const bool hit = static_cast<unsigned char>(c - first_) < 26;
      c = static_cast<char>(c ^ (hit ? 0x20 : 0));
    }
  }

 private:
  char first_;
};

// Bytes that are no UTF-8 become U+FFFD first; no language's own rules.
class UnicodeCase final : public StringRewrite {
 public:
  explicit UnicodeCase(bool upper) : upper_(upper), decoder_("UTF-8") {}
  void append(std::string_view text, ChargedString* out) const override {
    ChargedString valid;
    valid.reserve(text.size());
    decoder_.for_each(
        text, [&](const CodePoint& p) { append_code_point(p.code, UnicodeForm::utf8, &valid); });
    icu::StringByteSink<ChargedString> sink(out);
    UErrorCode status = U_ZERO_ERROR;
    check_for_icu(valid);
    const icu::StringPiece piece(valid.data(), static_cast<int32_t>(valid.size()));
    if (upper_) {
      icu::CaseMap::utf8ToUpper("", 0, piece, sink, nullptr, status);
    } else {
      icu::CaseMap::utf8ToLower("", 0, piece, sink, nullptr, status);
    }
    if (U_FAILURE(status)) throw Error(Code::invalid_argument, u_errorName(status));
  }

 private:
  bool upper_;
  TextDecoder decoder_;
};

template <bool upper>
std::shared_ptr<const StringRewrite> make_case(const Attrs& attrs) {
  if (attrs["encoding"].as_string().empty()) return std::make_shared<AsciiCase>(upper);
  return std::make_shared<UnicodeCase>(upper);
}

Spec infer_case(const InferContext& context) {
  const std::string encoding = context.attrs["encoding"].as_string();
  if (!encoding.empty() && encoding != "utf-8") {
    throw TypeError{-1, "encoding",
                    "must be \"\" (ASCII letters) or \"utf-8\": " + quoted(encoding)};
  }
  return infer_string_rewrite(context);
}

}  // namespace

void add_case_ops(OpRegistry* registry) {
  const Param encoding = optional("encoding", Param::Kind::text, Attr::text(""));
  OpDef lower = string_rewrite_op(
      "lower", "s in small letters: A to Z only, or all of Unicode's with encoding=\"utf-8\"",
      {encoding}, make_case<false>);
  OpDef upper = string_rewrite_op(
      "upper", "s in capital letters: a to z only, or all of Unicode's with encoding=\"utf-8\"",
      {encoding}, make_case<true>);
  for (OpDef* op : {&lower, &upper}) {
    op->infer = infer_case;
    op->cost_ns = 60;
    registry->add(std::move(*op));
  }
}

}  // namespace penstock
