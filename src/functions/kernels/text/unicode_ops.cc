// Characters of text: unicode_decode, unicode_split, unicode_transcode, unicode_script.

#include <unicode/uscript.h>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/encoding.h"
#include "functions/kernels/text/string_lists.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

class Decode final : public StringLists {
 public:
  explicit Decode(const Attrs& attrs)
      : decoder_(attrs["input_encoding"].as_string()), policy_(attrs) {}
  void append(std::string_view text, ListParts* out) const override {
    decoder_.for_each(text, [&](const CodePoint& point) {
      const int32_t code = policy_.taken(point.code, point.error);
      if (code < 0) return;
      out->codes.push_back(code);
      out->offsets.push_back(point.begin);
    });
  }

 private:
  TextDecoder decoder_;
  ErrorPolicy policy_;
};

class Characters final : public StringLists {
 public:
  explicit Characters(const Attrs& attrs) : decoder_("UTF-8"), policy_(attrs) {
    ChargedString bytes;
    append_code_point(policy_.replacement, UnicodeForm::utf8, &bytes);
    replacement_ = Tensor::of_bytes(bytes);
  }
  void append(std::string_view text, ListParts* out) const override {
    decoder_.for_each(text, [&](const CodePoint& point) {
      const int32_t code = policy_.taken(point.code, point.error);
      if (code < 0) return;
      out->strings.push_back(point.error
                                 ? replacement_.entry<BytesView>()
                                 : BytesView{text.data() + point.begin, point.end - point.begin});
    });
  }
  const BufferRef* kept() const override { return &replacement_.buffer(); }

 private:
  TextDecoder decoder_;
  ErrorPolicy policy_;
  Tensor replacement_;
};

class Transcode final : public StringRewrite {
 public:
  explicit Transcode(const Attrs& attrs)
      : decoder_(attrs["input_encoding"].as_string()),
        policy_(attrs),
        form_(unicode_form(attrs, "output_encoding")) {}
  void append(std::string_view text, ChargedString* out) const override {
    decoder_.for_each(text, [&](const CodePoint& point) {
      const int32_t code = policy_.taken(point.code, point.error);
      if (code >= 0) append_code_point(code, form_, out);
    });
  }

 private:
  TextDecoder decoder_;
  ErrorPolicy policy_;
  UnicodeForm form_;
};

// Adds the checks of the policy and of encodings to what the op infers.
void add_checked(OpRegistry* registry, OpDef op) {
  op.infer = [infer = op.infer](const InferContext& context) {
    ErrorPolicy::check(context);
    if (context.attrs.has("input_encoding")) check_encoding(context, "input_encoding");
    if (context.attrs.has("output_encoding")) unicode_form(context.attrs, "output_encoding");
    return infer(context);
  };
  op.can_fail = true;
  registry->add(std::move(op));
}

std::vector<Param> with_policy(std::vector<Param> params, bool with_control) {
  for (Param& p : ErrorPolicy::params(with_control)) params.push_back(std::move(p));
  return params;
}

Spec infer_script(const InferContext& context) {
  return Spec::tensor(DType::int32, infer_integers(context, 0, -1).shape);
}

void script_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  int32_t* out = call.outputs[0].allocate_as<int32_t>(in.dims());
  for (int64_t i = 0; i < in.entries_count(); ++i) {
    const int64_t code = integer_at(in, i);
    UErrorCode status = U_ZERO_ERROR;
    const bool valid = code >= 0 && code <= 0x10FFFF;
    out[i] = valid ? uscript_getScript(static_cast<UChar32>(code), &status) : -1;
  }
}

}  // namespace

void add_unicode_ops(OpRegistry* registry) {
  const Param input = optional("input_encoding", Param::Kind::text, Attr::text("UTF-8"));
  const auto make_decode = [](const Attrs& attrs) -> std::shared_ptr<const StringLists> {
    return std::make_shared<Decode>(attrs);
  };
  add_checked(registry, string_lists_op("unicode_decode", "the code points of s, int32",
                                        with_policy({input}, true), {DType::int32}, make_decode));
  add_checked(registry, string_lists_op("unicode_decode_with_offsets",
                                        "the code points of s, and at which byte each begins",
                                        with_policy({input}, true), {DType::int32, DType::int64},
                                        make_decode));
  add_checked(registry,
              string_lists_op("unicode_split", "the characters of s (UTF-8), each a string",
                              with_policy({}, false), {DType::bytes},
                              [](const Attrs& attrs) -> std::shared_ptr<const StringLists> {
                                return std::make_shared<Characters>(attrs);
                              }));
  OpDef transcode = string_rewrite_op(
      "unicode_transcode", "s in another encoding: UTF-8, UTF-16-BE or UTF-32-BE",
      with_policy({required("input_encoding", Param::Kind::text),
                   optional("output_encoding", Param::Kind::text, Attr::text("UTF-8"))},
                  true),
      [](const Attrs& attrs) -> std::shared_ptr<const StringRewrite> {
        return std::make_shared<Transcode>(attrs);
      });
  transcode.cost_ns = 300;
  add_checked(registry, std::move(transcode));
  OpDef script;
  script.name = "unicode_script";
  script.params = {required("codes", Param::Kind::tensor)};
  script.doc = "the script of each code point, ICU's number; -1 for what is none";
  script.infer = infer_script;
  script.row = script_row;
  script.elementwise = true;
  script.cost_ns = 30;
  script.group = "text";
  registry->add(std::move(script));
}

}  // namespace penstock
