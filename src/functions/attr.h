// Arguments that are known when a pipeline is built: literals, dtypes, shapes, feature tables, and
// places that are filled with captured values when a nested pipeline is opened.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/spec.h"
#include "data/tensor.h"

namespace penstock {

// A tree: tensors, dtypes, none, auto and captures at the leaves. Numbers, booleans and strings are
// tensors of rank 0.
class Attr {
 public:
  enum class Kind : uint8_t { none, automatic, tensor, dtype, list, tuple, dict, capture };

  Attr() = default;
  static Attr automatic();
  static Attr of(Tensor tensor);
  static Attr of(DType dtype);
  static Attr integer(int64_t value) { return of(Tensor::scalar(value)); }
  static Attr boolean(bool value) { return of(Tensor::scalar(value)); }
  static Attr floating(double value) { return of(Tensor::scalar(value)); }
  static Attr text(std::string_view value) { return of(Tensor::of_bytes(value)); }
  static Attr list(std::vector<Attr> items);
  static Attr tuple(std::vector<Attr> items);
  static Attr dict(std::vector<std::string> keys, std::vector<Attr> items);
  // Value `index` of the environment that a nested pipeline is opened with.
  static Attr capture(int index, LeafSpec type);

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_auto() const { return kind_ == Kind::automatic; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  bool is_capture() const { return kind_ == Kind::capture; }
  const Tensor& tensor() const { return tensor_; }
  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<Attr>& items() const { return items_; }
  int capture_index() const { return capture_; }
  const LeafSpec& capture_type() const { return capture_type_; }
  // True when a capture occurs in it.
  bool has_capture() const;

  // The value as a C++ type; throws Error{INVALID_ARGUMENT} when it is of another kind.
  int64_t as_int() const;
  bool as_bool() const;
  double as_float() const;
  std::string as_string() const;
  DType as_dtype() const;
  std::vector<int64_t> as_ints() const;  // a list or a tensor of rank 1; none entries are -1

  bool operator==(const Attr& other) const;
  // The tree with each capture replaced by environment[index].
  Attr bound(std::span<const Tensor> environment) const;

 private:
  Kind kind_ = Kind::none;
  DType dtype_ = DType::int64;
  int capture_ = -1;
  Tensor tensor_;
  std::vector<std::string> keys_;
  std::vector<Attr> items_;
  LeafSpec capture_type_;
};

// Named arguments in the order of the signature that they belong to.
class Attrs {
 public:
  void set(std::string name, Attr value);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Attr* find(std::string_view name) const;
  // `name`'s value; none when it is not there.
  const Attr& operator[](std::string_view name) const;
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool operator==(const Attrs& other) const { return items_ == other.items_; }
  Attrs bound(std::span<const Tensor> environment) const;
  bool has_capture() const;

 private:
  std::vector<std::pair<std::string, Attr>> items_;
};

// What may stand for a parameter, in the documented order; the same for ops and dataset operators.
struct Param {
  enum class Kind : uint8_t {
    tensor,     // computed per row (op), or a constant or captured tensor (operator)
    tensors,    // a list, a tuple, or the remaining positional arguments
    structure,  // any tree of tensors (operator: constants and captures)
    integer,
    floating,
    boolean,
    text,
    dtype,
    shape,     // list of sizes, none or -1 for unknown; or none
    any,       // static tree, checked by the op
    dataset,   // an input (operator)
    datasets,  // inputs in a list, tuple, dict or as positional arguments (operator)
    function,
  };
  std::string name;
  Kind kind = Kind::tensor;
  bool required = true;
  Attr fallback;  // when not required
  bool by_name_only = false;
  bool performance = false;  // never changes data; may be auto; not part of the identity
  bool accepts_none = false;
};

Param required(std::string name, Param::Kind kind);
Param optional(std::string name, Param::Kind kind, Attr fallback);
// An option: given by name only.
Param option(std::string name, Param::Kind kind, Attr fallback);
// A performance option; auto when left out.
Param knob(std::string name);

}  // namespace penstock
