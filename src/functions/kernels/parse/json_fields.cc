#include "functions/kernels/parse/json_fields.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_mistake.h"
#include "data/charged.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/json_text.h"
#include "functions/kernels/parse/key_list.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& key, const std::string& what) {
  throw TypeError{-1, "fields", "key \"" + key + "\" " + what};
}

[[noreturn]] void fail(const JsonField& field, const std::string& what) {
  fail_row("parse_json", "field \"" + field.key + "\" " + what);
}

const Attr& entry(const Attr& dict, std::string_view name) {
  static const Attr none;
  for (size_t i = 0; i < dict.keys().size(); ++i) {
    if (dict.keys()[i] == name) return dict.items()[i];
  }
  return none;
}

JsonField read_field(const std::string& key, const Attr& attr) {
  JsonField field;
  field.key = key;
  const bool detailed = attr.kind() == Attr::Kind::dict;
  const Attr& dtype = detailed ? entry(attr, "dtype") : attr;
  if (dtype.kind() != Attr::Kind::dtype) refuse(key, "must be a dtype or feature(dtype, ...)");
  field.dtype = dtype.as_dtype();
  if (!detailed) return field;
  const std::string kind = entry(attr, "kind").as_string();
  if (kind != "fixed" && kind != "sequence")
    refuse(key, "has kind " + kind + ", expected fixed or sequence");
  field.sequence = kind == "sequence";
  if (const Attr& shape = entry(attr, "shape"); !shape.is_none()) {
    const std::vector<int64_t> sizes = attr_ints(shape);
    for (const int64_t size : sizes) {
      if (size < 0) refuse(key, "has a shape with an unknown size; say kind=\"sequence\"");
    }
    field.dims = Dims(sizes);
  }
  const Attr& fallback = entry(attr, "default");
  if (fallback.is_none()) return field;
  const bool fits = fallback.is_tensor() && !field.sequence &&
                    fallback.tensor().dims() == field.dims &&
                    (fallback.tensor().dtype() == DType::bytes) == (field.dtype == DType::bytes);
  if (!fits)
    refuse(key,
           "has a default that is no " + std::string(dtype_name(field.dtype)) + field.dims.text());
  field.has_fallback = true;
  field.fallback = converted(fallback.tensor(), field.dtype);
  return field;
}

template <typename T>
void add_integer(const JsonField& field, const Json& json, std::byte* out) {
  if (!json.is_number_integer()) fail(field, "is no integer: " + brief_json(json));
  const bool above =
      json.is_number_unsigned()
          ? json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<T>::max())
          : json.get<int64_t>() < static_cast<int64_t>(std::numeric_limits<T>::min());
  if (above)
    fail(field, "does not fit " + std::string(dtype_name(field.dtype)) + ": " + brief_json(json));
  const T value = json.get<T>();
  std::memcpy(out, &value, sizeof value);
}

void add_entry(const JsonField& field, const Json& json, ChargedVector<std::byte>* values,
               ChargedVector<ChargedString>* strings) {
  if (field.dtype == DType::bytes) {
    if (!json.is_string()) fail(field, "is no string: " + brief_json(json));
    strings->emplace_back(json.get_ref<const std::string&>());
    return;
  }
  const size_t before = values->size();
  values->resize(before + static_cast<size_t>(dtype_size(field.dtype)));
  std::byte* out = values->data() + before;
  if (field.dtype == DType::boolean) {
    if (!json.is_boolean()) fail(field, "is no bool: " + brief_json(json));
    *out = std::byte{json.get<bool>()};
  } else if (is_float(field.dtype)) {
    if (!json.is_number()) fail(field, "is no number: " + brief_json(json));
    const double value = json.get<double>();
    convert_entries(DType::float64, reinterpret_cast<const std::byte*>(&value), field.dtype, out,
                    1);
  } else {
    visit_number(field.dtype, [&]<typename T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T>) add_integer<T>(field, json, out);
    });
  }
}

// Walks arrays down to the entries; `sizes` is what each axis must have, -1 for any.
void walk(const JsonField& field, const Json& json, std::span<int64_t> sizes,
          ChargedVector<std::byte>* values, ChargedVector<ChargedString>* strings) {
  if (sizes.empty()) return add_entry(field, json, values, strings);
  if (!json.is_array()) fail(field, "is no array: " + brief_json(json));
  const auto n = static_cast<int64_t>(json.size());
  if (sizes[0] >= 0 && sizes[0] != n) {
    fail(field, "has " + std::to_string(n) + " items, expected " + std::to_string(sizes[0]));
  }
  sizes[0] = n;
  for (const Json& item : json) walk(field, item, sizes.subspan(1), values, strings);
}

std::vector<std::string_view> keys_of(const Json& object) {
  std::vector<std::string_view> out;  // bounded: counted with the tree
  for (const auto& item : object.items()) out.push_back(item.key());
  return out;
}

Tensor read_value(const JsonField& field, const Json* json, const Json& object) {
  if (!json || json->is_null()) {
    if (field.has_fallback) return field.fallback;
    if (field.sequence) return Tensor::make(field.dtype, field.dims.with_front(0));
    fail(field, json ? "is null and has no default"
                     : "is missing and has no default" + keys_there("the object", keys_of(object)));
  }
  std::vector<int64_t> sizes(field.dims.sizes().begin(), field.dims.sizes().end());
  if (field.sequence) sizes.insert(sizes.begin(), -1);
  ChargedVector<std::byte> values;
  ChargedVector<ChargedString> strings;
  walk(field, *json, sizes, &values, &strings);
  const Dims dims(sizes);
  if (field.dtype == DType::bytes) {
    const ChargedVector<std::string_view> views(strings.begin(), strings.end());
    return Tensor::of_strings(views).reshaped(dims);
  }
  Tensor out = Tensor::make(field.dtype, dims);
  if (!values.empty()) std::memcpy(out.mutable_data(), values.data(), values.size());
  return out;
}

const Json* find(const Json& object, const std::string& key) {
  if (key.starts_with('/')) {
    const Json::json_pointer pointer(key);
    return object.contains(pointer) ? &object[pointer] : nullptr;
  }
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

}  // namespace

std::vector<JsonField> read_json_fields(const Attr& fields) {
  if (fields.kind() != Attr::Kind::dict)
    throw TypeError{-1, "fields", "must be a dict from keys to dtypes or feature(...)"};
  std::vector<JsonField> out;
  for (size_t i = 0; i < fields.keys().size(); ++i) {
    const std::string& key = fields.keys()[i];
    out.push_back(read_field(key, fields.items()[i]));
    try {
      if (key.starts_with('/')) Json::json_pointer{key};
    } catch (const Json::exception&) {
      refuse(key, "is no JSON pointer");
    }
  }
  return out;
}

std::vector<Tensor> parse_json_fields(std::string_view text, const std::vector<JsonField>& fields) {
  const Charge tree = json_tree(text.size());
  const Json object = Json::parse(text, nullptr, false);
  if (object.is_discarded()) fail_row("parse_json", "the text is no JSON" + json_mistake(text));
  if (!object.is_object()) fail_row("parse_json", "the text is no JSON object");
  std::vector<Tensor> out;
  for (const JsonField& field : fields)
    out.push_back(read_value(field, find(object, field.key), object));
  return out;
}

}  // namespace penstock
