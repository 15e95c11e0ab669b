// Checked access, and tensors.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/base64.h"
#include "base/error.h"
#include "data/checked_product.h"
#include "data/optional.h"
#include "data/ragged.h"
#include "plan/format.h"
#include "plan/json_parts.h"
#include "plan/utf8.h"

namespace penstock::json_form {

Where Where::operator[](std::string_view key) const {
  if (depth >= kDeepest) fail("nesting is deeper than " + std::to_string(kDeepest));
  return {path + "." + std::string(key), depth + 1};
}

Where Where::operator[](size_t index) const {
  if (depth >= kDeepest) fail("nesting is deeper than " + std::to_string(kDeepest));
  return {path + "[" + std::to_string(index) + "]", depth + 1};
}

void Where::fail(const std::string& what) const {
  // Paths in chains are as long as the chain.
  const std::string shown = path.size() <= 200 ? path : "..." + path.substr(path.size() - 200);
  throw Error(Code::invalid_argument, shown + ": " + what);
}

const In& object(const In& in, const Where& where) {
  if (!in.is_object()) where.fail(std::string("expected an object, found ") + in.type_name());
  return in;
}

const In& array(const In& in, const Where& where) {
  if (!in.is_array()) where.fail(std::string("expected an array, found ") + in.type_name());
  return in;
}

const In* optional_member(const In& in, const char* key) {
  const auto it = in.find(key);
  return it == in.end() ? nullptr : &*it;
}

const In& member(const In& in, const char* key, const Where& where) {
  const In* found = optional_member(object(in, where), key);
  if (!found) where.fail(std::string("`") + key + "` is missing");
  return *found;
}

int64_t integer(const In& in, const Where& where, int64_t least, int64_t most) {
  const bool huge =
      in.is_number_unsigned() && in.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!in.is_number_integer() || huge) where.fail("expected an integer");
  const auto value = in.get<int64_t>();
  if (value < least || value > most) {
    where.fail("must lie between " + std::to_string(least) + " and " + std::to_string(most) + ": " +
               std::to_string(value));
  }
  return value;
}

const std::string& text(const In& in, const Where& where) {
  if (!in.is_string()) where.fail("expected a string");
  return in.get_ref<const std::string&>();
}

Out bytes_to_json(std::string_view value) {
  if (is_utf8(value)) return std::string(value);
  return Out{{"b64", to_base64(value)}};
}

namespace {

std::string from_base64(const std::string& digits, const Where& where) {
  std::string out;
  uint32_t group = 0;
  int bits = 0;
  size_t end = digits.size();
  if (end % 4 != 0) where.fail("base64 comes in groups of four");
  while (end > 0 && digits.size() - end < 2 && digits[end - 1] == '=') --end;
  for (size_t i = 0; i < end; ++i) {
    const char c = digits[i];
    uint32_t value = 0;
    if (c >= 'A' && c <= 'Z')
      value = static_cast<uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      value = static_cast<uint32_t>(c - 'a') + 26;
    else if (c >= '0' && c <= '9')
      value = static_cast<uint32_t>(c - '0') + 52;
    else if (c == '+' || c == '/')
      value = c == '+' ? 62 : 63;
    else
      where.fail("is not base64");
    group = (group << 6) | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((group >> bits) & 0xff);
    }
  }
  return out;
}

}  // namespace

std::string bytes_from_json(const In& in, const Where& where) {
  if (in.is_string()) return in.get<std::string>();
  return from_base64(text(member(in, "b64", where), where["b64"]), where);
}

namespace {

Out float_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// The shortest decimal that is read as the same float, as a double.
double short_double(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  const double read = std::strtod(format_float(value).c_str(), nullptr);
  return static_cast<float>(read) == value ? read : static_cast<double>(value);
}

double float_from_json(const In& in, const Where& where) {
  if (in.is_number()) return in.get<double>();
  const std::string& word = text(in, where);
  if (word == "nan") return std::nan("");
  if (word == "inf") return HUGE_VAL;
  if (word == "-inf") return -HUGE_VAL;
  where.fail("expected a number, \"inf\", \"-inf\" or \"nan\"");
}

template <typename T>
Out entry_to_json(const T& v) {
  if constexpr (std::is_same_v<T, BytesView>)
    return bytes_to_json(v.view());
  else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
    return float_to_json(static_cast<double>(to_float(v)));
  else if constexpr (std::is_same_v<T, float>)
    return float_to_json(short_double(v));
  else if constexpr (std::is_same_v<T, double>)
    return float_to_json(v);
  else
    return v;
}

template <typename T>
T entry_from_json(const In& in, const Where& where) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!in.is_boolean()) where.fail("expected true or false");
    return in.get<bool>();
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if (!in.is_number_unsigned() && !(in.is_number_integer() && in.get<int64_t>() >= 0))
      where.fail("expected an integer from 0 on");
    return in.get<uint64_t>();
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(
        integer(in, where, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    const double value = float_from_json(in, where);
    if constexpr (std::is_same_v<T, double>)
      return value;
    else if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(value);
    else if constexpr (std::is_same_v<T, Float16>)
      return to_float16(static_cast<float>(value));
    else
      return to_bfloat16(static_cast<float>(value));
  }
}

}  // namespace

DType dtype_from_json(const In& in, const Where& where) {
  const auto dtype = parse_dtype(text(in, where));
  if (!dtype) where.fail("is no dtype: " + text(in, where));
  return *dtype;
}

Out tensor_to_json(const Tensor& t) {
  if (const RaggedTensor* ragged = as_ragged(t)) {
    Out parts = Out::array({tensor_to_json(ragged->values())});
    for (const Tensor& splits : ragged->splits()) parts.push_back(tensor_to_json(splits));
    return Out{{"ragged", std::move(parts)}};
  }
  if (const SparseTensor* sparse = as_sparse(t)) {
    return Out{
        {"sparse", Out::array({tensor_to_json(sparse->indices()), tensor_to_json(sparse->values()),
                               tensor_to_json(sparse->shape())})}};
  }
  if (const OptionalTensor* optional = as_optional(t)) {
    Out value;
    if (optional->has_value()) value = tensor_to_json(optional->value());
    return Out{{"optional", leaf_to_json(LeafSpec::tensor(optional->dtype(), optional->shape()))},
               {"value", std::move(value)}};
  }
  PENSTOCK_CHECK(!t.object());
  Out values = Out::array();
  visit_dtype(t.dtype(), [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < t.entries_count(); ++i) values.push_back(entry_to_json(t.entry<T>(i)));
  });
  Out shape = Out::array();
  for (const int64_t size : t.dims().sizes()) shape.push_back(size);
  return Out{{"dtype", std::string(dtype_name(t.dtype()))},
             {"shape", std::move(shape)},
             {"values", std::move(values)}};
}

namespace {

Tensor optional_from_json(const In& type, const In& value, const Where& where) {
  const LeafSpec leaf = leaf_from_json(type, where["optional"]);
  if (!leaf.is_tensor()) where["optional"].fail("expected a dense tensor");
  if (value.is_null()) return make_missing(leaf.dtype, leaf.shape);
  Tensor out = tensor_from_json(value, where["value"]);
  if (out.object() || out.dtype() != leaf.dtype || !leaf.shape.admits(out.dims()))
    where["value"].fail("is no " + leaf.text());
  return make_optional(std::move(out));
}

// The parts of a ragged, sparse or optional tensor; null where `in` is another one.
Tensor composite_from_json(const In& in, const Where& where) {
  if (const In* optional = optional_member(object(in, where), "optional"))
    return optional_from_json(*optional, member(in, "value", where), where);
  const In* ragged = optional_member(object(in, where), "ragged");
  const In* from = ragged ? ragged : optional_member(in, "sparse");
  if (!from) return {};
  const Where place = where[ragged ? "ragged" : "sparse"];
  std::vector<Tensor> parts;
  for (size_t i = 0; i < array(*from, place).size(); ++i)
    parts.push_back(tensor_from_json((*from)[i], place[i]));
  if (parts.size() < 2 || (!ragged && parts.size() != 3)) place.fail("has too few parts");
  for (const Tensor& t : parts) {
    if (t.object()) place.fail("its parts must be dense");
  }
  try {
    return ragged ? make_ragged({parts.begin() + 1, parts.end()}, parts[0])
                  : make_sparse(parts[0], parts[1], parts[2]);
  } catch (const Error& e) {
    place.fail(e.message());
  }
}

}  // namespace

Tensor tensor_from_json(const In& in, const Where& where) {
  if (Tensor composite = composite_from_json(in, where); composite.object()) return composite;
  const DType dtype = dtype_from_json(member(in, "dtype", where), where["dtype"]);
  const In& shape = array(member(in, "shape", where), where["shape"]);
  const In& values = array(member(in, "values", where), where["values"]);
  if (shape.size() > kMaxRank) where["shape"].fail("the rank is above 8");
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < shape.size(); ++i)
    sizes.push_back(integer(shape[i], where["shape"][i], 0, int64_t{1} << 40));
  if (!are_shape_sizes(sizes)) where["shape"].fail("the shape is too large");
  const Dims dims(sizes);
  if (dims.entries() != static_cast<int64_t>(values.size()))
    where.fail("the shape does not go with " + std::to_string(values.size()) + " values");
  if (dtype == DType::bytes) {
    std::vector<std::string> strings;
    for (size_t i = 0; i < values.size(); ++i)
      strings.push_back(bytes_from_json(values[i], where["values"][i]));
    const std::vector<std::string_view> views(strings.begin(), strings.end());
    return Tensor::of_strings(views).reshaped(dims);
  }
  Tensor out = Tensor::make(dtype, dims);
  visit_dtype(dtype, [&]<typename T>(TypeTag<T>) {
    if constexpr (!std::is_same_v<T, BytesView>) {
      for (size_t i = 0; i < values.size(); ++i) {
        out.mutable_entries<T>()[i] = entry_from_json<T>(values[i], where["values"][i]);
      }
    }
  });
  return out;
}

}  // namespace penstock::json_form
