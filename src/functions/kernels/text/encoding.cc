#include "functions/kernels/text/encoding.h"

#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/utf8.h>

#include "data/charged.h"
#include "functions/kernels/text/strings.h"

namespace penstock {
namespace {

struct CloseConverter {
  void operator()(UConverter* converter) const { ucnv_close(converter); }
};
using ConverterPtr = std::unique_ptr<UConverter, CloseConverter>;

ConverterPtr open(const std::string& encoding) {
  UErrorCode status = U_ZERO_ERROR;
  ConverterPtr out(ucnv_open(encoding.c_str(), &status));
  return U_SUCCESS(status) ? std::move(out) : nullptr;
}

// ICU's callback for bytes that stand for nothing: notes it and puts U+FFFD in.
void on_bad_bytes(const void* context, UConverterToUnicodeArgs* args, const char*, int32_t,
                  UConverterCallbackReason reason, UErrorCode* status) {
  if (reason > UCNV_IRREGULAR) return;
  *const_cast<bool*>(static_cast<const bool*>(context)) = true;
  *status = U_ZERO_ERROR;
  const char16_t replacement = 0xFFFD;
  ucnv_cbToUWriteUChars(args, &replacement, 1, 0, status);
}

}  // namespace

ErrorPolicy::ErrorPolicy(const Attrs& attrs) {
  const std::string name = attrs["errors"].as_string();
  action = name == "strict" ? Action::strict : name == "ignore" ? Action::ignore : Action::replace;
  replacement = static_cast<int32_t>(attrs["replacement_char"].as_int());
  if (const Attr* control = attrs.find("replace_control_characters"))
    control_characters = control->as_bool();
}

std::vector<Param> ErrorPolicy::params(bool with_control) {
  std::vector<Param> out{option("errors", Param::Kind::text, Attr::text("replace")),
                         option("replacement_char", Param::Kind::integer, Attr::integer(0xFFFD))};
  if (with_control) {
    out.push_back(option("replace_control_characters", Param::Kind::boolean, Attr::boolean(false)));
  }
  return out;
}

void ErrorPolicy::check(const InferContext& context) {
  const std::string name = context.attrs["errors"].as_string();
  if (name != "strict" && name != "replace" && name != "ignore") {
    throw TypeError{-1, "errors", "must be \"strict\", \"replace\" or \"ignore\": " + quoted(name)};
  }
  if (const int64_t code = context.attrs["replacement_char"].as_int(); !is_code_point(code)) {
    throw TypeError{-1, "replacement_char", "is no code point: " + std::to_string(code)};
  }
}

int32_t ErrorPolicy::failed() const {
  if (action == Action::ignore) return -1;
  if (action == Action::replace) return replacement;
  throw Error(Code::invalid_argument, "text: bytes that stand for no character");
}

void check_for_icu(std::string_view text) {
  if (text.size() > INT32_MAX) {
    throw Error(Code::resource_exhausted,
                "text: a string of " + std::to_string(text.size()) + " bytes is too long");
  }
}

void check_encoding(const InferContext& context, std::string_view attr) {
  const std::string name = context.attrs[attr].as_string();
  if (!open(name))
    throw TypeError{-1, std::string(attr), "is an unknown encoding: " + quoted(name)};
}

TextDecoder::TextDecoder(std::string encoding)
    : encoding_(std::move(encoding)), utf8_(encoding_ == "UTF-8" || encoding_ == "utf-8") {}

CodePoint TextDecoder::next_utf8(std::string_view text, int64_t* at) {
  const int64_t begin = *at;
  const auto size = static_cast<int64_t>(text.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  UChar32 code = bytes[begin];
  if (code < 0x80) {
    ++*at;
  } else {
    U8_NEXT(bytes, *at, size, code);  // NOLINT(bugprone-inc-dec-in-conditions): ICU's macro
  }
  return {code < 0 ? 0xFFFD : code, code < 0, begin, *at};
}

void TextDecoder::decode(std::string_view text, ChargedVector<CodePoint>* out) const {
  const ConverterPtr converter = open(encoding_);
  if (!converter) throw Error(Code::invalid_argument, "unknown encoding: " + quoted(encoding_));
  bool bad = false;
  UErrorCode status = U_ZERO_ERROR;
  ucnv_setToUCallBack(converter.get(), on_bad_bytes, &bad, nullptr, nullptr, &status);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char* const before = at;
    bad = false;
    status = U_ZERO_ERROR;
    const UChar32 code = ucnv_getNextUChar(converter.get(), &at, end, &status);
    if (status == U_INDEX_OUTOFBOUNDS_ERROR) break;  // nothing but a byte order mark was left
    out->push_back({U_FAILURE(status) ? 0xFFFD : code, bad || U_FAILURE(status),
                    before - text.data(), at - text.data()});
  }
}

UnicodeForm unicode_form(const Attrs& attrs, std::string_view attr) {
  const std::string name = attrs[attr].as_string();
  if (name == "UTF-8") return UnicodeForm::utf8;
  if (name == "UTF-16-BE") return UnicodeForm::utf16be;
  if (name == "UTF-32-BE") return UnicodeForm::utf32be;
  throw TypeError{-1, std::string(attr),
                  "must be \"UTF-8\", \"UTF-16-BE\" or \"UTF-32-BE\": " + quoted(name)};
}

bool is_code_point(int64_t code) {
  return code >= 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

void append_code_point(int32_t code, UnicodeForm form, ChargedString* out) {
  auto put = [out](int32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (form == UnicodeForm::utf8) {
    char bytes[4];
    int32_t n = 0;
    U8_APPEND_UNSAFE(bytes, n, code);
    out->append(bytes, static_cast<size_t>(n));
  } else if (form == UnicodeForm::utf32be) {
    for (const int shift : {24, 16, 8, 0}) put(code >> shift);
  } else {
    auto put_unit = [&](int32_t unit) {
      put(unit >> 8);
      put(unit);
    };
    if (code < 0x10000) return put_unit(code);
    put_unit(U16_LEAD(code));
    put_unit(U16_TRAIL(code));
  }
}

}  // namespace penstock
