// Functions of elements: text in the pipe language, or C++ lambdas over symbolic values.
//
//   ds.map("x -> x + 1");
//   ds.map([](Value x) { return x * 2 + 1; });
//   ds.map([](Value image, Value label) { return dict({{"image", call("float32", {image})},
//   {"label", label}}); });
//
// A C++ lambda is called once, when the stage is built, with values that stand for an element; what
// it does with them is recorded and then run like text. Values that are used several times are
// computed once, before any `cond` that they stand in.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/error.h"

namespace penstock {

struct Expr;  // internal

// An expression: a constant, or something computed from the element. Immutable, cheap to copy.
class Value {
 public:
  template <std::integral T>
  Value(T value) : Value(std::is_signed_v<T>, value < 0, static_cast<uint64_t>(value)) {}  // NOLINT
  Value(bool value);
  Value(double value);
  Value(float value);
  Value(const char* text);
  Value(const std::string& text);
  explicit Value(std::shared_ptr<const Expr> expr) : expr_(std::move(expr)) {}

  Value operator[](const char* field) const;  // x["label"]
  Value operator[](const std::string& field) const;
  Value operator[](const Value& index) const;  // along axis 0
  Value operator[](int index) const;

  friend Value operator+(const Value& a, const Value& b) { return binary("+", a, b); }
  friend Value operator-(const Value& a, const Value& b) { return binary("-", a, b); }
  friend Value operator*(const Value& a, const Value& b) { return binary("*", a, b); }
  friend Value operator/(const Value& a, const Value& b) { return binary("/", a, b); }  // of reals
  friend Value operator%(const Value& a, const Value& b) { return binary("%", a, b); }
  friend Value operator==(const Value& a, const Value& b) { return binary("==", a, b); }
  friend Value operator!=(const Value& a, const Value& b) { return binary("!=", a, b); }
  friend Value operator<(const Value& a, const Value& b) { return binary("<", a, b); }
  friend Value operator<=(const Value& a, const Value& b) { return binary("<=", a, b); }
  friend Value operator>(const Value& a, const Value& b) { return binary(">", a, b); }
  friend Value operator>=(const Value& a, const Value& b) { return binary(">=", a, b); }
  friend Value operator&&(const Value& a, const Value& b) { return binary("and", a, b); }
  friend Value operator||(const Value& a, const Value& b) { return binary("or", a, b); }
  friend Value floor_divide(const Value& a, const Value& b) { return binary("//", a, b); }
  friend Value power(const Value& a, const Value& b) { return binary("**", a, b); }
  Value operator-() const;
  Value operator!() const;

  const std::shared_ptr<const Expr>& expr() const { return expr_; }  // internal

 private:
  Value(bool is_signed, bool negative, uint64_t bits);
  static Value binary(const char* op, const Value& a, const Value& b);
  std::shared_ptr<const Expr> expr_;
};

// Arguments by name: {{"seed", 7}}.
using Named = std::vector<std::pair<std::string, Value>>;

// Any op, function or stage of the pipe language: call("decode_jpeg", {x}, {{"channels", 3}}).
Value call(const std::string& op, std::vector<Value> args, Named named = {});
Value cond(const Value& condition, const Value& then_value, const Value& else_value);
Value dict(Named items);
Value tuple(std::vector<Value> items);
Value list(std::vector<Value> items);  // a tensor, or a list where an op asks for one
Value name(const std::string& text);   // a dtype: name("float32")
Value none();
Value automatic();  // the value of a knob that is left to Penstock

// One piece of x[...]: an index, a part of an axis, `...`, or a new axis of size 1.
struct AxisIndex {
  enum class Kind : uint8_t { index, slice, ellipsis, new_axis };
  Kind kind = Kind::index;
  std::optional<Value> index;             // index
  std::optional<Value> begin, end, step;  // slice: empty where left out
};
Value subscript(const Value& x, const std::vector<AxisIndex>& pieces);

// What map and the like are given.
class UserFunction {
 public:
  UserFunction(const char* text);  // "x -> x + 1"
  UserFunction(const std::string& text);
  template <typename F>
    requires(std::is_invocable_v<F, Value> || std::is_invocable_v<F, Value, Value> ||
             std::is_invocable_v<F, Value, Value, Value> ||
             std::is_invocable_v<F, Value, Value, Value, Value>)
  UserFunction(const F& f)
      : UserFunction(arity<F>(), [&f](const std::vector<Value>& x) { return invoke(f, x); }) {}

  // A function of `arity` arguments, 0 to 4, whose body is called once, now.
  static UserFunction record(int arity,
                             const std::function<Value(const std::vector<Value>&)>& body);

  // As an argument of call: call("map", {ds, function.value()}).
  // Throws Error for a text that is not an expression.
  Value value() const;

 private:
  UserFunction(int arity, const std::function<Value(const std::vector<Value>&)>& body);
  template <typename F>
  static constexpr int arity() {
    if constexpr (std::is_invocable_v<F, Value>)
      return 1;
    else if constexpr (std::is_invocable_v<F, Value, Value>)
      return 2;
    else if constexpr (std::is_invocable_v<F, Value, Value, Value>)
      return 3;
    else
      return 4;
  }
  template <typename F>
  static Value invoke(const F& f, const std::vector<Value>& x) {
    if constexpr (arity<F>() == 1)
      return Value(f(x[0]));
    else if constexpr (arity<F>() == 2)
      return Value(f(x[0], x[1]));
    else if constexpr (arity<F>() == 3)
      return Value(f(x[0], x[1], x[2]));
    else
      return Value(f(x[0], x[1], x[2], x[3]));
  }
  std::string text_;
  std::shared_ptr<const Expr> lambda_;  // null: text_ is to be parsed
};

}  // namespace penstock
