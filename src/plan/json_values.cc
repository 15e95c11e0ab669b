#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "plan/format.h"
#include "plan/json_parts.h"
#include "plan/utf8.h"
#include "base/base64.h"

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
  const bool huge = in.is_number_unsigned() && in.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!in.is_number_integer() || huge) where.fail("expected an integer");
  const auto value = in.get<int64_t>();
  if (value < least || value > most) {
    where.fail("must lie between " + std::to_string(least) + " and " + std::to_string(most) + ": " + std::to_string(value));
  }
  return value;
}

const std::string& text(const In& in, const Where& where) {
  if (!in.is_string()) where.fail("expected a string");
  return in.get_ref<const std::string&>();
}

namespace {

Out bytes_to_json(std::string_view value) {
  if (is_utf8(value)) return std::string(value);
  return Out{{"b64", to_base64(value)}};
}

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
    if (c >= 'A' && c <= 'Z') value = static_cast<uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z') value = static_cast<uint32_t>(c - 'a') + 26;
    else if (c >= '0' && c <= '9') value = static_cast<uint32_t>(c - '0') + 52;
    else if (c == '+' || c == '/') value = c == '+' ? 62 : 63;
    else where.fail("is not base64");
    group = (group << 6) | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((group >> bits) & 0xff);
    }
  }
  return out;
}

std::string bytes_from_json(const In& in, const Where& where) {
  if (in.is_string()) return in.get<std::string>();
  return from_base64(text(member(in, "b64", where), where["b64"]), where);
}

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
  if constexpr (std::is_same_v<T, BytesView>) return bytes_to_json(v.view());
  else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) return float_to_json(static_cast<double>(to_float(v)));
  else if constexpr (std::is_same_v<T, float>) return float_to_json(short_double(v));
  else if constexpr (std::is_same_v<T, double>) return float_to_json(v);
  else return v;
}

template <typename T>
T entry_from_json(const In& in, const Where& where) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!in.is_boolean()) where.fail("expected true or false");
    return in.get<bool>();
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if (!in.is_number_unsigned() && !(in.is_number_integer() && in.get<int64_t>() >= 0)) where.fail("expected an integer from 0 on");
    return in.get<uint64_t>();
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(integer(in, where, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    const double value = float_from_json(in, where);
    if constexpr (std::is_same_v<T, double>) return value;
    else if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
    else if constexpr (std::is_same_v<T, Float16>) return to_float16(static_cast<float>(value));
    else return to_bfloat16(static_cast<float>(value));
  }
}

DType dtype_from_json(const In& in, const Where& where) {
  const auto dtype = parse_dtype(text(in, where));
  if (!dtype) where.fail("is no dtype: " + text(in, where));
  return *dtype;
}

}  // namespace

Out tensor_to_json(const Tensor& t) {
  PENSTOCK_CHECK(!t.object());
  Out values = Out::array();
  visit_dtype(t.dtype(), [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < t.entries_count(); ++i) values.push_back(entry_to_json(t.entry<T>(i)));
  });
  Out shape = Out::array();
  for (const int64_t size : t.dims().sizes()) shape.push_back(size);
  return Out{{"dtype", std::string(dtype_name(t.dtype()))}, {"shape", std::move(shape)}, {"values", std::move(values)}};
}

Tensor tensor_from_json(const In& in, const Where& where) {
  const DType dtype = dtype_from_json(member(in, "dtype", where), where["dtype"]);
  const In& shape = array(member(in, "shape", where), where["shape"]);
  const In& values = array(member(in, "values", where), where["values"]);
  if (shape.size() > kMaxRank) where["shape"].fail("the rank is above 8");
  Dims dims;
  uint64_t entries = 1;
  bool empty = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    dims.push_back(integer(shape[i], where["shape"][i], 0, int64_t{1} << 40));
    empty |= dims[static_cast<int>(i)] == 0;
    // More entries than there are values is wrong already: no overflow behind it.
    entries = std::min(entries * static_cast<uint64_t>(dims[static_cast<int>(i)]), uint64_t{values.size()} + 1);
  }
  if (empty) entries = 0;
  if (entries != values.size()) where.fail("the shape does not go with " + std::to_string(values.size()) + " values");
  if (dtype == DType::bytes) {
    std::vector<std::string> strings;
    for (size_t i = 0; i < values.size(); ++i) strings.push_back(bytes_from_json(values[i], where["values"][i]));
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

Out leaf_to_json(const LeafSpec& leaf) {
  if (leaf.kind == LeafSpec::Kind::dataset) return Out{{"dataset", spec_to_json(*leaf.element)}};
  Out shape;
  if (leaf.shape.has_rank()) {
    shape = Out::array();
    for (const int64_t size : leaf.shape.sizes()) shape.push_back(size < 0 ? Out() : Out(size));
  }
  Out out{{"dtype", std::string(dtype_name(leaf.dtype))}, {"shape", std::move(shape)}};
  if (leaf.kind == LeafSpec::Kind::ragged) out["ragged_rank"] = leaf.ragged_rank;
  if (leaf.kind == LeafSpec::Kind::sparse) out["sparse"] = true;
  return out;
}

LeafSpec leaf_from_json(const In& in, const Where& where) {
  if (const In* element = optional_member(object(in, where), "dataset")) {
    return LeafSpec::dataset(spec_from_json(*element, where["dataset"]));
  }
  const DType dtype = dtype_from_json(member(in, "dtype", where), where["dtype"]);
  const In& shape = member(in, "shape", where);
  LeafSpec out = LeafSpec::tensor(dtype, Shape::unknown_rank());
  if (!shape.is_null()) {
    std::vector<int64_t> sizes;
    if (array(shape, where["shape"]).size() > kMaxRank + 1) where["shape"].fail("the rank is above 8");
    for (size_t i = 0; i < shape.size(); ++i) {
      sizes.push_back(shape[i].is_null() ? Shape::kUnknown : integer(shape[i], where["shape"][i], 0, INT64_MAX));
    }
    out.shape = Shape(std::move(sizes));
  }
  if (const In* rank = optional_member(in, "ragged_rank")) {
    out.kind = LeafSpec::Kind::ragged;
    out.ragged_rank = static_cast<int>(integer(*rank, where["ragged_rank"], 0, kMaxRank));
  }
  if (optional_member(in, "sparse")) out.kind = LeafSpec::Kind::sparse;
  return out;
}

Out spec_to_json(const Spec& spec) {
  if (spec.kind == Spec::Kind::none) return nullptr;
  if (spec.is_leaf()) return leaf_to_json(spec.leaf);
  Out items = Out::array();
  for (size_t i = 0; i < spec.items.size(); ++i) {
    Out item = spec_to_json(spec.items[i]);
    items.push_back(spec.kind == Spec::Kind::tuple ? std::move(item) : Out::array({bytes_to_json(spec.keys[i]), std::move(item)}));
  }
  return Out{{spec.kind == Spec::Kind::tuple ? "tuple" : "dict", std::move(items)}};
}

namespace {

// [[key, value], ...] with distinct keys.
template <typename Read>
void read_pairs(const In& in, const Where& where, std::vector<std::string>* keys, const Read& read) {
  array(in, where);
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].is_array() || in[i].size() != 2) where[i].fail("expected [key, value]");
    std::string key = bytes_from_json(in[i][0], where[i]);
    if (std::ranges::find(*keys, key) != keys->end()) where[i].fail("this key is there already: " + key);
    keys->push_back(std::move(key));
    read(in[i][1], where[i]);
  }
}

}  // namespace

Spec spec_from_json(const In& in, const Where& where) {
  if (in.is_null()) return Spec();
  std::vector<Spec> items;
  if (const In* tuple = optional_member(object(in, where), "tuple")) {
    array(*tuple, where["tuple"]);
    for (size_t i = 0; i < tuple->size(); ++i) items.push_back(spec_from_json((*tuple)[i], where["tuple"][i]));
    return Spec::tuple(std::move(items));
  }
  if (const In* dict = optional_member(in, "dict")) {
    std::vector<std::string> keys;
    read_pairs(*dict, where["dict"], &keys, [&](const In& value, const Where& place) { items.push_back(spec_from_json(value, place)); });
    return Spec::dict(std::move(keys), std::move(items));
  }
  return Spec::of(leaf_from_json(in, where));
}

// int64, float64, bool and string scalars stand for themselves.
Out attr_to_json(const Attr& attr) {
  switch (attr.kind()) {
    case Attr::Kind::none: return nullptr;
    case Attr::Kind::automatic: return Out{{"auto", true}};
    case Attr::Kind::dtype: return Out{{"type", std::string(dtype_name(attr.as_dtype()))}};
    case Attr::Kind::capture: return Out{{"capture", attr.capture_index()}};
    case Attr::Kind::tensor: {
      const Tensor& t = attr.tensor();
      const bool scalar = t.dims().rank() == 0 && !t.object();
      if (scalar && t.dtype() == DType::int64) return t.entry<int64_t>();
      if (scalar && t.dtype() == DType::boolean) return t.entry<bool>();
      if (scalar && t.dtype() == DType::float64 && std::isfinite(t.entry<double>())) return t.entry<double>();
      if (scalar && t.dtype() == DType::bytes && is_utf8(bytes_at(t))) return std::string(bytes_at(t));
      return tensor_to_json(t);
    }
    default: break;
  }
  Out items = Out::array();
  for (size_t i = 0; i < attr.items().size(); ++i) {
    Out item = attr_to_json(attr.items()[i]);
    items.push_back(attr.kind() == Attr::Kind::dict ? Out::array({bytes_to_json(attr.keys()[i]), std::move(item)}) : std::move(item));
  }
  if (attr.kind() == Attr::Kind::list) return items;
  return Out{{attr.kind() == Attr::Kind::tuple ? "tuple" : "dict", std::move(items)}};
}

Attr attr_from_json(const In& in, const EnvironmentTypes& environment, const Where& where) {
  if (in.is_null()) return {};
  if (in.is_boolean()) return Attr::boolean(in.get<bool>());
  if (in.is_string()) return Attr::text(in.get_ref<const std::string&>());
  if (in.is_number_float()) return Attr::floating(in.get<double>());
  if (in.is_number()) return Attr::integer(integer(in, where, INT64_MIN, INT64_MAX));
  std::vector<Attr> items;
  auto read_items = [&](const In& from, const Where& place) {
    array(from, place);
    for (size_t i = 0; i < from.size(); ++i) items.push_back(attr_from_json(from[i], environment, place[i]));
  };
  if (in.is_array()) {
    read_items(in, where);
    return Attr::list(std::move(items));
  }
  if (const In* tuple = optional_member(object(in, where), "tuple")) {
    read_items(*tuple, where["tuple"]);
    return Attr::tuple(std::move(items));
  }
  if (const In* dict = optional_member(in, "dict")) {
    std::vector<std::string> keys;
    read_pairs(*dict, where["dict"], &keys,
               [&](const In& value, const Where& place) { items.push_back(attr_from_json(value, environment, place)); });
    return Attr::dict(std::move(keys), std::move(items));
  }
  if (const In* capture = optional_member(in, "capture")) {
    const int64_t i = integer(*capture, where["capture"], 0, INT32_MAX);
    if (i >= static_cast<int64_t>(environment.size())) where.fail("there is no captured value " + std::to_string(i));
    return Attr::capture(static_cast<int>(i), environment[static_cast<size_t>(i)]);
  }
  if (const In* type = optional_member(in, "type")) return Attr::of(dtype_from_json(*type, where["type"]));
  if (optional_member(in, "auto")) return Attr::automatic();
  return Attr::of(tensor_from_json(in, where));
}

namespace {

bool is_scalar(const Attr& attr, bool (*good)(DType)) {
  return attr.is_tensor() && attr.tensor().dims().rank() == 0 && good(attr.tensor().dtype());
}

bool is_tensor_tree(const Attr& attr) {
  if (attr.is_tensor() || attr.is_capture() || attr.is_none()) return true;
  const bool inner = attr.kind() == Attr::Kind::tuple || attr.kind() == Attr::Kind::dict || attr.kind() == Attr::Kind::list;
  return inner && std::ranges::all_of(attr.items(), is_tensor_tree);
}

bool is_size(const Attr& attr) { return attr.is_none() || is_scalar(attr, is_integer); }

}  // namespace

void check_attr(const Attr& attr, const Param& param, const Where& where) {
  if (attr == param.fallback && !param.required) return;
  if (attr.is_auto()) {
    if (!param.performance) where.fail("`" + param.name + "` changes the data and is never auto");
    return;
  }
  if (attr.is_none() && !param.required) return;
  auto expect = [&](bool good, const char* what) {
    if (!good) where.fail("`" + param.name + "` must be " + what);
  };
  switch (param.kind) {
    case Param::Kind::tensor: expect(attr.is_tensor() || attr.is_capture(), "a tensor"); break;
    case Param::Kind::structure: expect(is_tensor_tree(attr), "a tree of tensors"); break;
    case Param::Kind::integer: expect(is_scalar(attr, is_integer), "an integer"); break;
    case Param::Kind::floating: expect(is_scalar(attr, is_number), "a number"); break;
    case Param::Kind::boolean: expect(is_scalar(attr, [](DType d) { return d == DType::boolean; }), "true or false"); break;
    case Param::Kind::text: expect(is_scalar(attr, [](DType d) { return d == DType::bytes; }), "a string"); break;
    case Param::Kind::dtype: expect(attr.kind() == Attr::Kind::dtype, "a dtype"); break;
    case Param::Kind::shape:
      expect(attr.is_none() || (attr.kind() == Attr::Kind::list && std::ranges::all_of(attr.items(), is_size)), "a list of sizes");
      break;
    default: break;
  }
}

}  // namespace penstock::json_form
