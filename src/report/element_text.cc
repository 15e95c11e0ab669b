#include "report/element_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/optional.h"
#include "data/ragged.h"
#include "plan/format.h"
#include "report/element_json.h"
#include "report/table.h"

namespace penstock {
namespace {

// A tensor with at most this many entries fits a line.
constexpr int64_t kMostEntries = 64;
constexpr size_t kMostText = 160;   // of a small tensor as JSON
constexpr size_t kMostString = 80;  // bytes shown of one string
constexpr size_t kLineWidth = 80;

std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string string_text(std::string_view value, bool full) {
  if (full || value.size() <= kMostString) {
    const Json json = string_to_json(value);
    return json.is_string() ? json_text(json) : format_string_literal(value);
  }
  // Do not cut inside a UTF-8 character.
  size_t end = kMostString;
  while (end > kMostString - 4 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
  return string_text(value.substr(0, end), true) + "... (" + std::to_string(value.size()) +
         " bytes)";
}

std::string type_text(const Tensor& t) {
  std::string out(t.dtype() == DType::bytes ? "bytes" : dtype_name(t.dtype()));
  return t.dims().rank() == 0 ? out : out + t.dims().text();
}

std::string strings_summary(const Tensor& t) {
  size_t least = std::numeric_limits<size_t>::max(), most = 0;
  for (int64_t i = 0; i < t.entries_count(); ++i) {
    least = std::min(least, bytes_at(t, i).size());
    most = std::max(most, bytes_at(t, i).size());
  }
  const std::string sizes =
      std::to_string(least) + (least == most ? "" : " to " + std::to_string(most));
  return type_text(t) + " of " + sizes + " bytes, the first " + string_text(bytes_at(t, 0), false);
}

// Shows minimum and maximum exactly, the mean to three digits; counts entries that are not numbers.
std::string numbers_summary(const Tensor& t) {
  Json least, most;
  double sum = 0, low = HUGE_VAL, high = -HUGE_VAL;
  int64_t finite = 0, least_at = 0, most_at = 0;
  for (int64_t i = 0; i < t.entries_count(); ++i) {
    const double v = visit_dtype(t.dtype(), [&]<typename T>(TypeTag<T>) -> double {
      if constexpr (std::is_same_v<T, BytesView>) {
        return 0;
      } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        return static_cast<double>(to_float(t.entry<T>(i)));
      } else {
        return static_cast<double>(t.entry<T>(i));
      }
    });
    if (!std::isfinite(v)) continue;
    ++finite;
    sum += v;
    if (v < low) low = v, least_at = i;
    if (v > high) high = v, most_at = i;
  }
  std::string out = type_text(t);
  const auto entry = [&](int64_t i) {
    return json_text(tensor_to_json(t.reshaped({t.entries_count()}).item(i)));
  };
  if (finite > 0) {
    out += " from " + entry(least_at) + " to " + entry(most_at) + ", mean " +
           human_number(sum / static_cast<double>(finite));
  }
  if (const int64_t others = t.entries_count() - finite; others > 0)
    out += ", " + std::to_string(others) + " not finite";
  return out;
}

std::string tensor_text(const Tensor& t, bool full) {
  const int64_t entries = t.entries_count();
  const bool strings = t.dtype() == DType::bytes;
  if (strings && t.dims().rank() == 0) return string_text(bytes_at(t), full);
  if (full || entries <= kMostEntries) {
    std::string out = json_text(tensor_to_json(t));
    if (full || out.size() <= kMostText || entries == 0) return out;
  }
  return strings ? strings_summary(t) : numbers_summary(t);
}

std::string object_text(const Spec& spec, const Tensor& t, const ElementTextOptions& options) {
  if (const OptionalTensor* optional = as_optional(t))
    return optional->has_value() ? tensor_text(optional->value(), options.full) : "missing";
  const RaggedTensor* ragged = as_ragged(t);
  const SparseTensor* sparse = as_sparse(t);
  if (!ragged && !sparse) return options.show_object ? options.show_object(*t.object()) : "dataset";
  const Tensor& values = ragged ? ragged->values() : sparse->values();
  if (options.full || values.entries_count() <= kMostEntries) {
    size_t first = 0;
    std::string out = json_text(element_to_json(spec, {t}, &first));
    if (options.full || out.size() <= kMostText) return out;
  }
  const std::string kind =
      ragged ? "ragged, " + std::to_string(ragged->rows()) + " rows of "
             : "sparse " + json_text(tensor_to_json(sparse->shape())) + ", values ";
  return kind + tensor_text(values, false);
}

}  // namespace

std::string element_text(const Spec& spec, const std::vector<Tensor>& leaves, size_t* next,
                         const ElementTextOptions& options) {
  ElementTextOptions inside = options;
  inside.lines = false;
  if (spec.kind == Spec::Kind::none) return "null";
  if (spec.kind == Spec::Kind::leaf) {
    const Tensor& t = leaves[(*next)++];
    return t.object() ? object_text(spec, t, options) : tensor_text(t, options.full);
  }
  const bool tuple = spec.kind == Spec::Kind::tuple;
  std::vector<std::string> items;
  size_t width = 2;
  for (size_t i = 0; i < spec.items.size(); ++i) {
    const std::string key = tuple ? "" : json_text(Json(spec.keys[i])) + ": ";
    items.push_back(key + element_text(spec.items[i], leaves, next, inside));
    width += text_width(items.back()) + 2;
  }
  const bool lines = options.lines && width > kLineWidth;
  std::string out = tuple ? "(" : "{";
  for (size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : lines ? ",\n " : ", ") + items[i];
  if (tuple && items.size() == 1) out += ",";
  return out + (tuple ? ")" : "}");
}

}  // namespace penstock
