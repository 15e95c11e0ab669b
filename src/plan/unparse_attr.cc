// Constants and arguments: exact, and typed so that reading them gives the same dtype.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "data/optional.h"
#include "data/ragged.h"
#include "plan/format.h"
#include "plan/lexer.h"
#include "plan/static_forms.h"
#include "plan/unparse_parts.h"

namespace penstock::unparsing {
namespace {

constexpr int64_t kMostRepeated = 64;  // longer constants of one value are spelled fill(...)

std::shared_ptr<Expr> make(Expr::Kind kind) {
  auto out = std::make_shared<Expr>();
  out->kind = kind;
  return out;
}

ExprPtr unsigned_expr(uint64_t value) {
  auto out = make(Expr::Kind::integer);
  out->integer_value = value;
  out->spelling = std::to_string(value);
  return out;
}

ExprPtr floating_expr(double value, std::string spelling) {
  const bool negative = std::signbit(value) && !std::isnan(value);
  if (negative && spelling.starts_with('-')) spelling.erase(0, 1);
  auto out = make(Expr::Kind::floating);
  out->float_value = std::isnan(value) ? std::nan("") : std::fabs(value);
  out->spelling = std::move(spelling);
  if (negative) return unary_expr("-", out);
  return out;
}

ExprPtr double_expr(double value) { return floating_expr(value, format_float(value)); }

// The shortest decimal that `same` accepts when it is read: literals are read as float64 and
// narrowed, so the spelling must survive both roundings.
template <typename Same>
ExprPtr narrow_expr(float value, const Same& same) {
  if (!std::isfinite(value)) return double_expr(static_cast<double>(value));
  for (int digits = 1; digits <= 9; ++digits) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, static_cast<double>(value));
    const double read = std::strtod(buffer, nullptr);
    if (!same(static_cast<float>(read))) continue;
    const std::string shortest = format_float(read);
    return floating_expr(read, shortest);
  }
  return double_expr(static_cast<double>(value));
}

ExprPtr float_expr(float value) {
  const double read = std::strtod(format_float(value).c_str(), nullptr);
  if (static_cast<float>(read) == value) return floating_expr(read, format_float(value));
  return narrow_expr(value, [value](float f) { return f == value; });
}

template <typename T>
ExprPtr half_expr(T value, T (*narrow)(float)) {
  return narrow_expr(to_float(value), [&](float f) { return narrow(f).bits == value.bits; });
}

ExprPtr boolean_expr(bool value) {
  auto out = make(Expr::Kind::boolean);
  out->bool_value = value;
  return out;
}

ExprPtr entry_expr(const Tensor& t, int64_t i) {
  return visit_dtype(t.dtype(), [&]<typename T>(TypeTag<T>) -> ExprPtr {
    const T& v = t.entry<T>(i);
    if constexpr (std::is_same_v<T, bool>)
      return boolean_expr(v);
    else if constexpr (std::is_same_v<T, BytesView>)
      return text_expr(v.view());
    else if constexpr (std::is_same_v<T, double>)
      return double_expr(v);
    else if constexpr (std::is_same_v<T, float>)
      return float_expr(v);
    else if constexpr (std::is_same_v<T, Float16>)
      return half_expr(v, to_float16);
    else if constexpr (std::is_same_v<T, BFloat16>)
      return half_expr(v, to_bfloat16);
    else if constexpr (std::is_same_v<T, uint64_t>)
      return unsigned_expr(v);
    else
      return integer_expr(static_cast<int64_t>(v));
  });
}

ExprPtr cast_expr(DType dtype, ExprPtr value) {
  CallBuilder call{std::string(dtype_name(dtype))};
  call.add_loose(std::move(value));
  return call.finish();
}

ExprPtr dims_expr(const Dims& dims) {
  std::vector<ExprPtr> sizes;
  for (const int64_t size : dims.sizes()) sizes.push_back(integer_expr(size));
  return list_expr(std::move(sizes));
}

bool is_bare(DType dtype, Place place) {
  if (dtype == DType::bytes || dtype == DType::boolean || place == Place::opposite) return true;
  return place == Place::alone && (dtype == DType::int64 || dtype == DType::float32);
}

// A list takes its dtype from its entries, and entries above int64 are literals of another one than
// the rest.
bool needs_typed_entries(const Tensor& t) {
  if (t.dtype() != DType::uint64 || t.dims().rank() == 0) return false;
  const uint64_t* v = t.entries<uint64_t>();
  return std::any_of(v, v + t.entries_count(),
                     [](uint64_t x) { return x > static_cast<uint64_t>(INT64_MAX); });
}

ExprPtr nested_list(const Tensor& t, int axis, int64_t* next, bool typed_entries) {
  if (axis == t.dims().rank()) {
    ExprPtr entry = entry_expr(t, (*next)++);
    return typed_entries ? cast_expr(t.dtype(), std::move(entry)) : entry;
  }
  std::vector<ExprPtr> items;
  for (int64_t i = 0; i < t.dims()[axis]; ++i)
    items.push_back(nested_list(t, axis + 1, next, typed_entries));
  return list_expr(std::move(items));
}

ExprPtr empty_expr(const Tensor& t) {
  if (t.dims().rank() == 1) return cast_expr(t.dtype(), list_expr({}));
  if (t.dtype() == DType::bytes) {
    CallBuilder call{"reshape"};
    call.add_loose(cast_expr(t.dtype(), list_expr({})));
    call.add_loose(dims_expr(t.dims()));
    return call.finish();
  }
  CallBuilder call{"zeros"};
  call.add_loose(dims_expr(t.dims()));
  if (t.dtype() != DType::float32) {
    call.add(optional("dtype", Param::Kind::dtype, {}),
             name_expr(std::string(dtype_name(t.dtype()))), true);
  }
  return call.finish();
}

bool is_repeated(const Tensor& t) {
  if (t.dims().rank() == 0 || t.entries_count() <= kMostRepeated) return false;
  const Tensor first = t.reshaped({t.entries_count()}).item(0);
  if (t.dtype() == DType::bytes) {
    return std::ranges::all_of(
        std::span(t.entries<BytesView>(), static_cast<size_t>(t.entries_count())),
        [&](const BytesView& v) { return v.view() == bytes_at(first); });
  }
  const auto size = static_cast<size_t>(dtype_size(t.dtype()));
  for (int64_t i = 1; i < t.entries_count(); ++i) {
    if (std::memcmp(t.data(), t.data() + static_cast<size_t>(i) * size, size) != 0) return false;
  }
  return true;
}

// feature(dtype, shape, default=..., kind=..., ...) of parse_example's table.
bool is_feature(const Attr& attr) {
  constexpr std::string_view kFirst[] = {"dtype", "shape", "default", "kind"};
  return attr.keys().size() >= 4 && std::ranges::equal(std::span(attr.keys()).first(4), kFirst);
}

ExprPtr feature_expr(const Attr& attr, std::span<const ExprPtr> environment) {
  CallBuilder call{"feature"};
  for (size_t i = 0; i < attr.items().size(); ++i) {
    const Attr& item = attr.items()[i];
    const bool fixed = i == 3 && item == Attr::text("fixed");
    if ((i > 0 && item.is_none()) || fixed) continue;
    call.add(required(attr.keys()[i], Param::Kind::any),
             attr_expr(item, Param::Kind::any, environment), i > 1);
  }
  return call.finish();
}

// vocabulary(...) and its like.
ExprPtr static_form_expr(const StaticForm& form, const Attr& attr,
                         std::span<const ExprPtr> environment) {
  CallBuilder call{std::string(form.name)};
  for (size_t i = 1; i < attr.items().size(); ++i) {
    const auto param = std::ranges::find(form.params, attr.keys()[i], &Param::name);
    if (param == form.params.end()) continue;
    call.add(*param, attr_expr(attr.items()[i], Param::Kind::any, environment),
             !param->required || param->by_name_only);
  }
  return call.finish();
}

}  // namespace

ExprPtr name_expr(std::string name) {
  auto out = make(Expr::Kind::name);
  out->text = std::move(name);
  return out;
}

ExprPtr integer_expr(int64_t value) {
  if (value >= 0) return unsigned_expr(static_cast<uint64_t>(value));
  return unary_expr("-", unsigned_expr(uint64_t{0} - static_cast<uint64_t>(value)));
}

ExprPtr text_expr(std::string_view value) {
  auto out =
      make(format_string_literal(value).starts_with('b') ? Expr::Kind::bytes : Expr::Kind::text);
  out->text = std::string(value);
  return out;
}

ExprPtr none_expr() { return make(Expr::Kind::none); }

namespace {

ExprPtr entries_expr(Expr::Kind kind, std::vector<ExprPtr> items) {
  auto out = make(kind);
  for (ExprPtr& item : items) {
    Entry entry;
    entry.value = std::move(item);
    out->entries.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

ExprPtr list_expr(std::vector<ExprPtr> items) {
  return entries_expr(Expr::Kind::list, std::move(items));
}
ExprPtr tuple_expr(std::vector<ExprPtr> items) {
  return entries_expr(Expr::Kind::tuple, std::move(items));
}

ExprPtr dict_expr(const std::vector<std::string>& keys, std::vector<ExprPtr> items) {
  auto out = make(Expr::Kind::dict);
  for (size_t i = 0; i < items.size(); ++i) {
    Entry entry;
    entry.kind = Entry::Kind::keyed;
    entry.key = keys[i];
    entry.value = std::move(items[i]);
    out->entries.push_back(std::move(entry));
  }
  return out;
}

ExprPtr unary_expr(std::string op, ExprPtr operand) {
  auto out = make(Expr::Kind::unary);
  out->text = std::move(op);
  out->items = {std::move(operand)};
  return out;
}

ExprPtr binary_expr(std::string op, ExprPtr left, ExprPtr right) {
  auto out = make(Expr::Kind::binary);
  out->text = std::move(op);
  out->items = {std::move(left), std::move(right)};
  return out;
}

ExprPtr field_expr(ExprPtr base, const std::string& key) {
  if (!is_name(key)) return index_expr(std::move(base), text_expr(key));
  auto out = make(Expr::Kind::field);
  out->text = key;
  out->items = {std::move(base)};
  return out;
}

ExprPtr index_expr(ExprPtr base, ExprPtr index) {
  auto out = make(Expr::Kind::subscript);
  out->items = {std::move(base)};
  Subscript piece;
  piece.index = std::move(index);
  out->subscripts.push_back(std::move(piece));
  return out;
}

ExprPtr let_expr(PatternPtr pattern, ExprPtr value, ExprPtr body) {
  auto out = make(Expr::Kind::let);
  out->patterns = {std::move(pattern)};
  out->items = {std::move(value), std::move(body)};
  return out;
}

ExprPtr pipe_expr(ExprPtr left, ExprPtr call) {
  auto out = make(Expr::Kind::pipe);
  out->items = {std::move(left), std::move(call)};
  return out;
}

PatternPtr name_pattern(std::string name) {
  auto out = std::make_shared<Pattern>();
  out->name = std::move(name);
  return out;
}

void CallBuilder::add(const Param& param, ExprPtr value, bool by_name) {
  // What may be left out reads better with its name, tensors aside: range(2, 7), repeat(2).
  const bool named = !param.required && param.kind != Param::Kind::tensor;
  if (by_name || param.by_name_only || named) positional_ = false;
  Entry entry;
  if (!positional_) {
    entry.kind = Entry::Kind::keyed;
    entry.key = param.name;
  }
  entry.value = std::move(value);
  entries_.push_back(std::move(entry));
}

void CallBuilder::add_loose(ExprPtr value) {
  Entry entry;
  entry.value = std::move(value);
  entries_.push_back(std::move(entry));
}

ExprPtr CallBuilder::finish() {
  auto out = make(Expr::Kind::call);
  out->operand = name_expr(std::move(callee_));
  out->entries = std::move(entries_);
  return out;
}

namespace {

// Items [begin, end) of ragged axis `axis`; behind the last one, of the values.
ExprPtr ragged_list(const RaggedTensor& t, int axis, int64_t begin, int64_t end) {
  std::vector<ExprPtr> items;
  for (int64_t i = begin; i < end; ++i) {
    if (axis == t.ragged_rank()) {
      int64_t next = 0;
      items.push_back(nested_list(t.values().item(i), 0, &next, false));
    } else {
      const auto* splits = t.splits()[static_cast<size_t>(axis)].entries<int64_t>();
      items.push_back(ragged_list(t, axis + 1, splits[i], splits[i + 1]));
    }
  }
  return list_expr(std::move(items));
}

ExprPtr ragged_expr(const RaggedTensor& t) {
  CallBuilder call{"ragged"};
  call.add_loose(ragged_list(t, 0, 0, t.rows()));
  if (t.values().dims().rank() > 1 || t.values().entries_count() == 0)
    call.add(option("ragged_rank", Param::Kind::integer, {}), integer_expr(t.ragged_rank()));
  if (t.values().entries_count() == 0 || !is_bare(t.values().dtype(), Place::alone)) {
    call.add(option("dtype", Param::Kind::dtype, {}),
             name_expr(std::string(dtype_name(t.values().dtype()))));
  }
  return call.finish();
}

ExprPtr sparse_expr(const SparseTensor& t) {
  CallBuilder call{"sparse"};
  const std::pair<const char*, const Tensor*> parts[] = {
      {"indices", &t.indices()}, {"values", &t.values()}, {"shape", &t.shape()}};
  for (const auto& [name, part] : parts)
    call.add(required(name, Param::Kind::tensor), constant_expr(*part, Place::alone), true);
  return call.finish();
}

ExprPtr optional_expr(const OptionalTensor& t) {
  if (t.has_value()) {
    CallBuilder call{"optional_of"};
    call.add_loose(constant_expr(t.value(), Place::alone));
    return call.finish();
  }
  CallBuilder call{"optional_none"};
  call.add_loose(name_expr(std::string(dtype_name(t.dtype()))));
  if (t.shape().is_scalar()) return call.finish();
  std::vector<ExprPtr> sizes;
  for (const int64_t size : t.shape().sizes())
    sizes.push_back(size < 0 ? none_expr() : integer_expr(size));
  call.add(option("shape", Param::Kind::shape, {}), list_expr(std::move(sizes)));
  return call.finish();
}

}  // namespace

ExprPtr constant_expr(const Tensor& value, Place place) {
  if (const OptionalTensor* optional = as_optional(value)) return optional_expr(*optional);
  if (const RaggedTensor* ragged = as_ragged(value)) return ragged_expr(*ragged);
  if (const SparseTensor* sparse = as_sparse(value)) return sparse_expr(*sparse);
  if (value.entries_count() == 0) return empty_expr(value);
  if (is_repeated(value)) {
    CallBuilder call{"fill"};
    call.add_loose(dims_expr(value.dims()));
    call.add_loose(constant_expr(value.reshaped({value.entries_count()}).item(0), Place::alone));
    return call.finish();
  }
  int64_t next = 0;
  if (needs_typed_entries(value)) return nested_list(value, 0, &next, true);
  ExprPtr literal = nested_list(value, 0, &next, false);
  return is_bare(value.dtype(), place) ? literal : cast_expr(value.dtype(), std::move(literal));
}

ExprPtr attr_expr(const Attr& attr, Param::Kind kind, std::span<const ExprPtr> environment) {
  switch (attr.kind()) {
    case Attr::Kind::none: return none_expr();
    case Attr::Kind::automatic: return make(Expr::Kind::automatic);
    case Attr::Kind::dtype: return name_expr(std::string(dtype_name(attr.as_dtype())));
    case Attr::Kind::capture: {
      const auto i = static_cast<size_t>(attr.capture_index());
      PENSTOCK_CHECK(i < environment.size() && environment[i]);
      return environment[i];
    }
    case Attr::Kind::tensor:
      if (kind == Param::Kind::floating) return double_expr(attr.as_float());
      return constant_expr(attr.tensor(), Place::alone);
    default: break;
  }
  if (attr.kind() == Attr::Kind::dict && is_feature(attr)) return feature_expr(attr, environment);
  if (const StaticForm* form = static_form_of(attr))
    return static_form_expr(*form, attr, environment);
  const Param::Kind inner = kind == Param::Kind::shape ? kind : Param::Kind::any;
  std::vector<ExprPtr> items;
  for (const Attr& item : attr.items()) items.push_back(attr_expr(item, inner, environment));
  if (attr.kind() == Attr::Kind::list) return list_expr(std::move(items));
  if (attr.kind() == Attr::Kind::tuple) return tuple_expr(std::move(items));
  return dict_expr(attr.keys(), std::move(items));
}

}  // namespace penstock::unparsing
