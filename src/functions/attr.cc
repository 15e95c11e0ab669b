#include "functions/attr.h"

#include <algorithm>

#include "base/error.h"

namespace penstock {
namespace {

[[noreturn]] void wrong(std::string_view wanted) {
  throw Error(Code::invalid_argument, "expected " + std::string(wanted));
}

}  // namespace

Attr Attr::automatic() {
  Attr out;
  out.kind_ = Kind::automatic;
  return out;
}

Attr Attr::of(Tensor tensor) {
  Attr out;
  out.kind_ = Kind::tensor;
  out.tensor_ = std::move(tensor);
  return out;
}

Attr Attr::of(DType dtype) {
  Attr out;
  out.kind_ = Kind::dtype;
  out.dtype_ = dtype;
  return out;
}

Attr Attr::list(std::vector<Attr> items) {
  Attr out;
  out.kind_ = Kind::list;
  out.items_ = std::move(items);
  return out;
}

Attr Attr::tuple(std::vector<Attr> items) {
  Attr out = list(std::move(items));
  out.kind_ = Kind::tuple;
  return out;
}

Attr Attr::dict(std::vector<std::string> keys, std::vector<Attr> items) {
  Attr out = list(std::move(items));
  out.kind_ = Kind::dict;
  out.keys_ = std::move(keys);
  return out;
}

Attr Attr::capture(int index, LeafSpec type) {
  Attr out;
  out.kind_ = Kind::capture;
  out.capture_ = index;
  out.capture_type_ = std::move(type);
  return out;
}

bool Attr::has_capture() const {
  return is_capture() || std::ranges::any_of(items_, [](const Attr& a) { return a.has_capture(); });
}

int64_t Attr::as_int() const {
  if (kind_ != Kind::tensor || tensor_.dims().rank() != 0 || !is_integer(tensor_.dtype()))
    wrong("an integer");
  return integer_at(tensor_);
}

bool Attr::as_bool() const {
  if (kind_ != Kind::tensor || tensor_.dims().rank() != 0 || tensor_.dtype() != DType::boolean)
    wrong("true or false");
  return tensor_.entry<bool>();
}

double Attr::as_float() const {
  if (kind_ != Kind::tensor || tensor_.dims().rank() != 0 || !is_number(tensor_.dtype()))
    wrong("a number");
  return number_at(tensor_);
}

std::string Attr::as_string() const {
  if (kind_ != Kind::tensor || tensor_.dims().rank() != 0 || tensor_.dtype() != DType::bytes)
    wrong("a string");
  return std::string(bytes_at(tensor_));
}

DType Attr::as_dtype() const {
  if (kind_ != Kind::dtype) wrong("a dtype");
  return dtype_;
}

std::vector<int64_t> Attr::as_ints() const {
  std::vector<int64_t> out;
  if (kind_ == Kind::tensor && tensor_.dims().rank() == 1 &&
      (is_integer(tensor_.dtype()) || tensor_.entries_count() == 0)) {
    for (int64_t i = 0; i < tensor_.entries_count(); ++i) out.push_back(integer_at(tensor_, i));
    return out;
  }
  if (kind_ != Kind::list && kind_ != Kind::tuple) wrong("a list of integers");
  for (const Attr& item : items_) out.push_back(item.is_none() ? -1 : item.as_int());
  return out;
}

bool Attr::operator==(const Attr& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::none:
    case Kind::automatic: return true;
    case Kind::tensor: return tensor_.same(other.tensor_);
    case Kind::dtype: return dtype_ == other.dtype_;
    case Kind::capture: return capture_ == other.capture_;
    default: return keys_ == other.keys_ && items_ == other.items_;
  }
}

Attr Attr::bound(std::span<const Tensor> environment) const {
  if (is_capture()) return of(environment[static_cast<size_t>(capture_)]);
  Attr out = *this;
  for (Attr& item : out.items_) item = item.bound(environment);
  return out;
}

void Attrs::set(std::string name, Attr value) {
  for (auto& [key, old] : items_) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  items_.emplace_back(std::move(name), std::move(value));
}

const Attr* Attrs::find(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Attr& Attrs::operator[](std::string_view name) const {
  static const Attr none;
  const Attr* found = find(name);
  return found ? *found : none;
}

Attrs Attrs::bound(std::span<const Tensor> environment) const {
  Attrs out = *this;
  for (auto& [key, value] : out.items_) value = value.bound(environment);
  return out;
}

bool Attrs::has_capture() const {
  return std::ranges::any_of(items_, [](const auto& item) { return item.second.has_capture(); });
}

Param required(std::string name, Param::Kind kind) {
  return {std::move(name), kind, true, {}, false, false, false};
}

Param optional(std::string name, Param::Kind kind, Attr fallback) {
  const bool none = fallback.is_none();
  return {std::move(name), kind, false, std::move(fallback), false, false, none};
}

Param option(std::string name, Param::Kind kind, Attr fallback) {
  Param out = optional(std::move(name), kind, std::move(fallback));
  out.by_name_only = true;
  return out;
}

Param knob(std::string name) {
  Param out = option(std::move(name), Param::Kind::integer, Attr::automatic());
  out.performance = true;
  return out;
}

}  // namespace penstock
