// The ops of the function language: value tables, and rows against blocks.

#include <cmath>
#include <cstdio>
#include <random>

#include <doctest/doctest.h>

#include "functions/evaluate.h"
#include "functions/kernels/math/constant_divisor.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/promotion.h"

namespace penstock {
namespace {

using Named = std::initializer_list<std::pair<std::string, Attr>>;

template <typename T>
Tensor vec(std::initializer_list<T> values) {
  return Tensor::vector<T>(std::span(values.begin(), values.size()));
}
Tensor i32(std::initializer_list<int32_t> values) { return vec<int32_t>(values); }
Tensor i64(std::initializer_list<int64_t> values) { return vec<int64_t>(values); }
Tensor f32(std::initializer_list<float> values) { return vec<float>(values); }
Tensor bools(std::initializer_list<bool> values) {
  Tensor out = Tensor::make(DType::boolean, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), out.mutable_entries<bool>());
  return out;
}
Tensor texts(std::initializer_list<std::string_view> values) {
  return Tensor::of_strings(std::span(values.begin(), values.size()));
}
Tensor text(std::string_view value) { return Tensor::of_bytes(value); }
Tensor num(int64_t value) { return Tensor::scalar(value); }
Tensor matrix() { return i32({1, 2, 3, 4, 5, 6}).reshaped({2, 3}); }

// "int32[2] 1 2".
std::string show(const Tensor& t) {
  std::string out = std::string(dtype_name(t.dtype())) + t.dims().text();
  for (int64_t i = 0; i < t.entries_count(); ++i) {
    out += ' ';
    if (t.dtype() == DType::bytes) {
      out += "'" + std::string(bytes_at(t, i)) + "'";
    } else if (is_integer(t.dtype())) {
      out += t.dtype() == DType::uint64 ? std::to_string(t.entry<uint64_t>(i))
                                        : std::to_string(integer_at(t, i));
    } else {
      char digits[40];
      std::snprintf(digits, sizeof digits, "%.7g", number_at(t, i));
      out += digits;
    }
  }
  return out;
}

std::string show(const std::vector<Tensor>& tensors) {
  std::string out;
  for (const Tensor& t : tensors) out += (out.empty() ? "" : "; ") + show(t);
  return out;
}

enum class Known : uint8_t { shapes, ranks, nothing, constants };

// The op over inputs of which the shapes, only the ranks, or nothing is known; or of which all but
// the first are constants.
struct Built {
  FunctionPtr function;
  Spec spec;
  size_t inputs = 0;

  Built(const std::string& name, const std::vector<Tensor>& values, Named named, Known known) {
    const OpDef* op = OpRegistry::instance().find(name);
    REQUIRE(op != nullptr);
    std::vector<Spec> specs;
    inputs = known == Known::constants ? std::min<size_t>(1, values.size()) : values.size();
    for (size_t i = 0; i < inputs; ++i) {
      const bool exact = known == Known::shapes || known == Known::constants;
      const Shape shape = exact                   ? Shape(values[i].dims())
                          : known == Known::ranks ? Shape::of_rank(values[i].dims().rank())
                                                  : Shape::unknown_rank();
      specs.push_back(Spec::tensor(values[i].dtype(), shape));
    }
    FunctionBuilder builder(Spec::tuple(specs), static_cast<int>(inputs));
    std::vector<ValueId> ids, outputs;
    for (size_t i = 0; i < values.size(); ++i) {
      ids.push_back(i < inputs ? builder.input_value(static_cast<int>(i))
                               : builder.add_constant(values[i]));
    }
    Attrs attrs;
    for (const auto& [key, value] : named) attrs.set(key, value);
    for (const Param& p : op->params) {
      if (p.kind != Param::Kind::tensor && p.kind != Param::Kind::tensors && !attrs.has(p.name))
        attrs.set(p.name, p.fallback);
    }
    spec = builder.add_op(*op, ids, attrs, &outputs);
    function = builder.finish(spec, outputs);
  }
};

// `rows` copies of a tensor as a dense column.
Column copies(const Tensor& t, int64_t rows) {
  Column out = Column::dense(t.dtype(), t.dims(), rows);
  for (int64_t i = 0; i < rows && t.data_bytes() > 0; ++i) {
    std::memcpy(out.mutable_data() + i * t.data_bytes(), t.data(),
                static_cast<size_t>(t.data_bytes()));
  }
  if (t.dtype() == DType::bytes) out.mutable_buffer().keep(t.buffer());
  return out;
}

std::string by_row(const Built& built, const std::vector<Tensor>& values) {
  try {
    const std::vector<Tensor> out =
        CompiledFunction(built.function, {})
            .run_row({values.begin(), values.begin() + static_cast<int64_t>(built.inputs)}, {});
    const std::vector<LeafSpec> leaves = built.spec.leaves();
    for (size_t i = 0; i < out.size(); ++i) {
      CHECK(leaves[i].dtype == out[i].dtype());
      CHECK_MESSAGE(leaves[i].shape.admits(out[i].dims()), leaves[i].text(), " ",
                    out[i].dims().text());
    }
    return show(out);
  } catch (const Error& e) {
    return "error " + e.message();
  }
}

// All rows of a block must be alike.
std::string by_block(const Built& built, const std::vector<Tensor>& values) {
  constexpr int64_t kRows = 3;
  Block in, out;
  in.rows = kRows;
  for (size_t i = 0; i < built.inputs; ++i) in.columns.push_back(copies(values[i], kRows));
  CompiledFunction(built.function, {}).run(in, &out);
  std::string all;
  for (int64_t row = 0; row < kRows; ++row) {
    std::string one;
    if (const ErrorPtr* error = out.error_at(row)) {
      one = "error " + (*error)->message();
    } else {
      std::vector<Tensor> tensors;
      for (const Column& c : out.columns) tensors.push_back(c.row(row));
      one = show(tensors);
    }
    if (row > 0) CHECK(one == all);
    all = one;
  }
  return all;
}

std::string run(const std::string& name, const std::vector<Tensor>& values, Named named = {}) {
  std::string first;
  for (const Known known : {Known::shapes, Known::ranks, Known::nothing, Known::constants}) {
    std::string row, block;
    try {
      const Built built(name, values, named, known);
      row = by_row(built, values);
      block = by_block(built, values);
    } catch (const TypeError& e) {
      if (first.empty()) first = "refused " + e.message;
      continue;
    }
    CHECK(row == block);
    if (first.starts_with(
            "refused")) {  // what is refused with known shapes fails at the row otherwise
      CHECK(row.starts_with("error"));
      continue;
    }
    if (!first.empty()) CHECK(row == first);
    first = row;
  }
  return first;
}

std::string spec_of(const std::string& name, std::vector<LeafSpec> inputs, Named named = {},
                    std::vector<Tensor> constants = {}) {
  const OpDef* op = OpRegistry::instance().find(name);
  REQUIRE(op != nullptr);
  std::vector<InferInput> given;
  for (LeafSpec& leaf : inputs) given.push_back({std::move(leaf), nullptr, {}});
  for (const Tensor& t : constants)
    given.push_back({LeafSpec::tensor(t.dtype(), Shape(t.dims())), &t, {}});
  Attrs attrs;
  for (const auto& [key, value] : named) attrs.set(key, value);
  for (const Param& p : op->params) {
    if (p.kind != Param::Kind::tensor && !attrs.has(p.name)) attrs.set(p.name, p.fallback);
  }
  try {
    return op->infer({given, attrs, {}}).text();
  } catch (const TypeError& e) {
    return "refused " + (e.attr.empty() ? "" : e.attr + " ") + e.message;
  }
}

LeafSpec leaf(DType dtype, Shape shape = {}) { return LeafSpec::tensor(dtype, std::move(shape)); }

TEST_CASE("dtypes that meet") {
  CHECK(promote(DType::int8, DType::int32) == DType::int32);
  CHECK(promote(DType::int8, DType::uint8) == DType::int16);
  CHECK(promote(DType::int32, DType::uint8) == DType::int32);
  CHECK(promote(DType::uint32, DType::int8) == DType::int64);
  CHECK_FALSE(promote(DType::int64, DType::uint64));
  CHECK(promote(DType::float16, DType::bfloat16) == DType::float32);
  CHECK(promote(DType::bfloat16, DType::float64) == DType::float64);
  CHECK_FALSE(promote(DType::float32, DType::int8));
  CHECK_FALSE(promote(DType::boolean, DType::int8));
  CHECK(spec_of("add", {leaf(DType::float32), leaf(DType::int64)}) ==
        "refused is float32, the other side int64: cast one: float32(x)");
  CHECK(spec_of("add", {leaf(DType::uint64), leaf(DType::int8)}) ==
        "refused is uint64, the other side int8: cast one: int64(x)");
  CHECK(spec_of("add", {leaf(DType::boolean), leaf(DType::boolean)}) ==
        "refused is bool, expected numbers; cast it: int64(x)");
}

TEST_CASE("shapes that broadcast") {
  const Shape unknown = Shape::unknown_rank();
  CHECK(spec_of("add", {leaf(DType::int8, {-1, 1}), leaf(DType::int8, {3})}) == "int8[?, 3]");
  CHECK(spec_of("add", {leaf(DType::int8, {-1}), leaf(DType::int8, {1})}) == "int8[?]");
  CHECK(spec_of("add", {leaf(DType::int8, {-1}), leaf(DType::int8, {4})}) == "int8[4]");
  CHECK(spec_of("add", {leaf(DType::int8, unknown), leaf(DType::int8, {4})}) == "int8[...]");
  CHECK(spec_of("add", {leaf(DType::int8, {2}), leaf(DType::int8, {3})}) ==
        "refused has shape [2], the other side [3]: these do not broadcast");
  CHECK(run("add", {matrix(), i32({10, 20, 30})}) == "int32[2, 3] 11 22 33 14 25 36");
  CHECK(run("multiply", {matrix(), i32({1, -1}).reshaped({2, 1})}) == "int32[2, 3] 1 2 3 -4 -5 -6");
  CHECK(run("subtract", {i32({}), i32({1})}) == "int32[0]");
}

TEST_CASE("arithmetic") {
  CHECK(run("add", {texts({"a", ""}), text("xy")}) == "bytes[2] 'axy' 'xy'");
  CHECK(run("add", {vec<int8_t>({127}), vec<int8_t>({1})}) == "int8[1] -128");
  CHECK(run("add", {i64({INT64_MAX}), i32({1})}) == "int64[1] " + std::to_string(INT64_MIN));
  CHECK(run("multiply", {vec<uint16_t>({65535}), vec<uint16_t>({65535})}) == "uint16[1] 1");
  CHECK(run("divide", {i32({7, -7, 0}), i32({2, 2, 0})}) == "float64[3] 3.5 -3.5 -nan");
  CHECK(run("divide", {vec<int8_t>({1}), vec<int8_t>({4})}) == "float32[1] 0.25");
  const Tensor a = i32({7, -7, 7, -7, 6, -6}), b = i32({3, 3, -3, -3, 3, -3});
  CHECK(run("floor_divide", {a, b}) == "int32[6] 2 -3 -3 2 2 2");
  CHECK(run("modulo", {a, b}) == "int32[6] 1 2 -2 -1 0 0");
  CHECK(run("floor_divide", {f32({7, -7, 1}), f32({2, 2, 0})}) == "float32[3] 3 -4 inf");
  CHECK(run("modulo", {f32({7, -7, 5.5F}), f32({-3, 3, 2})}) == "float32[3] -2 2 1.5");
  CHECK(run("floor_divide", {i32({INT32_MIN}), i32({-1})}) == "int32[1] -2147483648");
  CHECK(run("modulo", {i64({INT64_MIN}), i64({-1})}) == "int64[1] 0");
  CHECK(run("floor_divide", {i32({1, 2}), i32({1, 0})}) == "error floor_divide: division by zero");
  CHECK(run("modulo", {i32({1, 2}), num(0)}) == "error modulo: division by zero");
  CHECK(run("modulo", {i32({}), num(0)}) == "int64[0]");
  CHECK(run("power", {i32({2, 3, -2, 0}), i32({10, 40, 3, 0})}) == "int32[4] 1024 689956897 -8 1");
  CHECK(run("power", {i32({2}), i32({-1})}) == "error power: an integer to a negative power");
  CHECK(run("power", {f32({2, 4}), f32({-1, 0.5F})}) == "float32[2] 0.5 2");
  CHECK(run("maximum", {f32({1, NAN, NAN, 3}), f32({NAN, NAN, 1, 2})}) ==
        "float32[4] nan nan nan 3");
  CHECK(run("minimum", {i32({1, 5}), i32({3, 3})}) == "int32[2] 1 3");
  CHECK(run("abs", {i32({INT32_MIN, -3, 3})}) == "int32[3] -2147483648 3 3");
  CHECK(run("negative", {vec<uint8_t>({1})}) == "uint8[1] 255");
  CHECK(run("sign", {f32({-2, 0, 7, NAN})}) == "float32[4] -1 0 1 nan");
  CHECK(run("add", {vec<Float16>({to_float16(1.5F)}), vec<Float16>({to_float16(2.25F)})}) ==
        "float16[1] 3.75");
}

TEST_CASE("division by zero in a block fails its row only") {
  const Built built("floor_divide", {num(0), num(0)}, {}, Known::shapes);
  Block in, out;
  in.rows = 4;
  in.columns = {Column::dense(DType::int64, {}, 4), Column::dense(DType::int64, {}, 4)};
  for (int64_t i = 0; i < 4; ++i) {
    in.columns[0].mutable_entries<int64_t>()[i] = 12;
    in.columns[1].mutable_entries<int64_t>()[i] = i - 2;
  }
  CompiledFunction(built.function, {}).run(in, &out);
  REQUIRE(out.errors.size() == 1);
  CHECK(out.errors[0].row == 2);
  CHECK(show(out.columns[0].row(3)) == "int64[] 12");
  CHECK(show(out.columns[0].row(2)) == "int64[] 0");
}

template <typename T>
void check_divisor(std::mt19937_64& random, T divisor) {
  std::vector<T> in;
  for (const int64_t edge : {0, 1, 2, -1, -2}) {
    in.push_back(static_cast<T>(edge));
    in.push_back(static_cast<T>(static_cast<uint64_t>(std::numeric_limits<T>::max()) +
                                static_cast<uint64_t>(edge)));
    in.push_back(static_cast<T>(static_cast<uint64_t>(divisor) * 3 + static_cast<uint64_t>(edge)));
  }
  for (int i = 0; i < 50; ++i) in.push_back(static_cast<T>(random() >> (random() % 64)));
  std::vector<T> q(in.size()), r(in.size());
  const ConstantDivisor<T> constant(divisor);
  constant.quotients(in.data(), q.data(), static_cast<int64_t>(in.size()));
  constant.remainders(in.data(), r.data(), static_cast<int64_t>(in.size()));
  for (size_t i = 0; i < in.size(); ++i) {
    const T rest = static_cast<T>(in[i] % divisor);
    const bool below = rest < T{0};
    REQUIRE(q[i] == static_cast<T>(in[i] / divisor - (below ? 1 : 0)));
    REQUIRE(r[i] == static_cast<T>(below ? rest + divisor : rest));
  }
}

TEST_CASE("constant divisors agree with division") {
  const uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 400; ++i) {
    const uint64_t bits = i < 70 ? static_cast<uint64_t>(i) : random() >> (random() % 64);
    auto check = [&]<typename T>(T) {
      const T divisor = static_cast<T>(bits & static_cast<uint64_t>(std::numeric_limits<T>::max()));
      check_divisor<T>(random, divisor == 0 ? T{1} : divisor);
      check_divisor<T>(random, std::numeric_limits<T>::max());
    };
    check(int8_t{}), check(uint8_t{}), check(int16_t{}), check(uint16_t{});
    check(int32_t{}), check(uint32_t{}), check(int64_t{}), check(uint64_t{});
  }
}

TEST_CASE("comparison and logic") {
  CHECK(run("less", {f32({1, NAN}), f32({2, 1})}) == "bool[2] 1 0");
  CHECK(run("not_equal", {f32({NAN}), f32({NAN})}) == "bool[1] 1");
  CHECK(run("equal", {texts({"a", "b"}), text("b")}) == "bool[2] 0 1");
  CHECK(run("less_equal", {text("ab"), text("abc")}) == "bool[] 1");
  CHECK(run("greater", {text("\xff"), text("a")}) == "bool[] 1");
  CHECK(run("greater_equal", {vec<uint8_t>({200}), vec<int8_t>({-1})}) == "bool[1] 1");
  CHECK(run("logical_and", {bools({true, true, false}), bools({true, false, false})}) ==
        "bool[3] 1 0 0");
  CHECK(run("logical_or", {bools({true, false}), bools({false})}) == "bool[2] 1 0");
  CHECK(run("logical_not", {bools({true, false})}) == "bool[2] 0 1");
  CHECK(spec_of("logical_and", {leaf(DType::int64), leaf(DType::boolean)}) ==
        "refused is int64, expected bool; compare it: x != 0");
}

TEST_CASE("casts") {
  auto cast = [](const Tensor& t, DType dtype) {
    return run("cast", {t}, {{"dtype", Attr::of(dtype)}});
  };
  CHECK(cast(f32({1.9F, -1.9F, NAN, 3e9F, -3e9F, INFINITY}), DType::int32) ==
        "int32[6] 1 -1 0 2147483647 -2147483648 2147483647");
  CHECK(cast(f32({-1, 255.5F, 256}), DType::uint8) == "uint8[3] 0 255 255");
  CHECK(cast(vec<double>({9.3e18, -9.3e18, 0x1p63 - 1024}), DType::int64) ==
        "int64[3] 9223372036854775807 -9223372036854775808 9223372036854774784");
  CHECK(cast(f32({2e19F, -1}), DType::uint64) == "uint64[2] 18446744073709551615 0");
  CHECK(cast(i32({300, -1}), DType::uint8) == "uint8[2] 44 255");
  CHECK(cast(f32({0, 0.5F, NAN}), DType::boolean) == "bool[3] 0 1 1");
  CHECK(cast(bools({true, false}), DType::bfloat16) == "bfloat16[2] 1 0");
  CHECK(cast(vec<Float16>({to_float16(2.5F)}), DType::int8) == "int8[1] 2");
  CHECK(cast(text("1"), DType::int64) ==
        "refused is bytes: bytes are read, not cast: to_number(x, int64)");
}

TEST_CASE("floats") {
  CHECK(run("round", {f32({0.5F, 1.5F, -2.5F, 2.4F})}) == "float32[4] 0 2 -2 2");
  CHECK(run("rsqrt", {f32({4, 0})}) == "float32[2] 0.5 inf");
  CHECK(run("square", {vec<BFloat16>({to_bfloat16(3)})}) == "bfloat16[1] 9");
  CHECK(run("log", {vec<double>({1, 0})}) == "float64[2] 0 -inf");
  CHECK(spec_of("exp", {leaf(DType::int64)}) ==
        "refused is int64, expected floats; cast it: float32(x)");
}

TEST_CASE("shapes") {
  CHECK(run("shape", {matrix()}) == "int64[2] 2 3");
  CHECK(run("size", {matrix()}) == "int64[] 6");
  CHECK(run("rank", {matrix()}) == "int64[] 2");
  CHECK(run("reshape", {matrix(), i64({3, -1})}) == "int32[3, 2] 1 2 3 4 5 6");
  CHECK(run("reshape", {matrix(), i64({4, -1})}) ==
        "error reshape: shape [2, 3] does not fit [4, ?]");
  CHECK(run("reshape", {Tensor::make(DType::int8, {0, 3}), i64({0, -1})}) == "int8[0, 3]");
  CHECK(run("reshape", {num(5), Tensor::make(DType::float32, {0})}) == "int64[] 5");
  CHECK(spec_of("reshape", {leaf(DType::int8, {4, -1}), leaf(DType::int64, {2})}) == "int8[?, ?]");
  CHECK(run("expand_dims", {matrix()}, {{"axis", Attr::integer(-1)}}) ==
        "int32[2, 3, 1] 1 2 3 4 5 6");
  CHECK(run("squeeze", {f32({1, 2}).reshaped({1, 2, 1})}) == "float32[2] 1 2");
  CHECK(run("squeeze", {f32({1, 2}).reshaped({1, 2, 1})}, {{"axis", Attr::integer(-1)}}) ==
        "float32[1, 2] 1 2");
  CHECK(run("transpose", {matrix()}) == "int32[3, 2] 1 4 2 5 3 6");
  CHECK(run("transpose", {matrix().reshaped({1, 2, 3})}, {{"perm", Attr::of(i64({2, 0, 1}))}}) ==
        "int32[3, 1, 2] 1 4 2 5 3 6");
  CHECK(run("reverse", {matrix()}, {{"axis", Attr::integer(1)}}) == "int32[2, 3] 3 2 1 6 5 4");
  CHECK(run("broadcast_to", {i32({1, 2}), i64({2, 2})}) == "int32[2, 2] 1 2 1 2");
  CHECK(run("broadcast_to", {i32({1, 2}), i64({2, 3})}) ==
        "error broadcast_to: shape [2] does not broadcast to [2, 3]");
  CHECK(run("identity", {texts({"a"})}) == "bytes[1] 'a'");
}

TEST_CASE("joining") {
  CHECK(run("concat", {i32({1}), i64({2, 3})}) == "int64[3] 1 2 3");
  CHECK(run("concat", {matrix(), matrix()}, {{"axis", Attr::integer(1)}}) ==
        "int32[2, 6] 1 2 3 1 2 3 4 5 6 4 5 6");
  CHECK(run("concat", {texts({"a"}), texts({"b", "c"})}) == "bytes[3] 'a' 'b' 'c'");
  const Tensor wide = Tensor::make(DType::int32, {2, 4});
  const Built built("concat", {matrix(), wide}, {}, Known::nothing);
  CHECK(by_row(built, {matrix(), wide}) ==
        "error concat: shapes [2, 3] and [2, 4] differ outside axis 0");
  CHECK(spec_of("concat", {leaf(DType::int8, {-1, 2}), leaf(DType::int8, {3, -1})}) ==
        "int8[?, 2]");
  CHECK(run("stack", {num(1), num(2)}) == "int64[2] 1 2");
  CHECK(run("stack", {i32({1, 2}), i32({3, 4})}, {{"axis", Attr::integer(1)}}) ==
        "int32[2, 2] 1 3 2 4");
  CHECK(run("stack", {text("a"), text("b")}) == "bytes[2] 'a' 'b'");
  CHECK(run("split_tensor", {matrix()},
            {{"sizes", Attr::of(i64({1, -1}))}, {"axis", Attr::integer(1)}}) ==
        "int32[2, 1] 1 4; int32[2, 2] 2 3 5 6");
  CHECK(run("split_tensor", {i32({1, 2, 3, 4})}, {{"sizes", Attr::integer(2)}}) ==
        "int32[2] 1 2; int32[2] 3 4");
  CHECK(run("tile", {matrix(), i64({1, 2})}) == "int32[2, 6] 1 2 3 1 2 3 4 5 6 4 5 6");
  CHECK(run("pad", {matrix(), i64({0, 1, 1, 0}).reshaped({2, 2}), num(9)}) ==
        "int32[3, 4] 9 1 2 3 9 4 5 6 9 9 9 9");
  CHECK(run("pad", {texts({"a"}), i64({1, 0}).reshaped({1, 2}), text("")}) == "bytes[2] '' 'a'");
}

TEST_CASE("making and picking") {
  CHECK(run("fill", {i64({2, 1}), text("x")}) == "bytes[2, 1] 'x' 'x'");
  CHECK(spec_of("fill", {leaf(DType::int64, {-1}), leaf(DType::int8)}) == "int8[...]");
  CHECK(run("zeros", {i64({2})}, {{"dtype", Attr::of(DType::boolean)}}) == "bool[2] 0 0");
  CHECK(run("ones", {i64({2})}, {{"dtype", Attr::of(DType::float16)}}) == "float16[2] 1 1");
  CHECK(run("zeros", {i64({-1})}) == "error zeros: a size must not be negative: -1");
  CHECK(run("arange", {num(3), num(1)}) == "int64[3] 0 1 2");
  CHECK(run("arange", {i32({5}).reshaped({}), i32({-1}).reshaped({}), num(-2)}) ==
        "int32[3] 5 3 1");
  CHECK(run("arange", {num(0), num(1), Tensor::scalar(0.25F)}) == "float32[4] 0 0.25 0.5 0.75");
  CHECK(run("arange", {num(1), num(0)}) == "error arange: the step must not be zero: 0");
  CHECK(run("one_hot", {i32({2, 0, 5}), num(3)}, {{"dtype", Attr::of(DType::int8)}}) ==
        "int8[3, 3] 0 0 1 1 0 0 0 0 0");
  CHECK(run("gather", {matrix(), i32({2, 0})}, {{"axis", Attr::integer(1)}}) ==
        "int32[2, 2] 3 1 6 4");
  CHECK(run("gather", {texts({"a", "b"}), num(1)}) == "bytes[] 'b'");
  CHECK(run("gather", {i32({1, 2}), i64({-1})}) ==
        "error gather: index -1 is out of range for size 2");
  CHECK(run("boolean_mask", {matrix(), bools({false, true})}) == "int32[1, 3] 4 5 6");
  CHECK(run("where", {bools({true, false}), i32({1, 2}), num(7)}) == "int64[2] 1 7");
  CHECK(run("where", {bools({true, false}), texts({"a", "b"}), text("z")}) == "bytes[2] 'a' 'z'");
  CHECK(run("clip", {f32({-5, 0.5F, 5, NAN}), Tensor::scalar(-1.0F), Tensor::scalar(1.0F)}) ==
        "float32[4] -1 0.5 1 nan");
}

Attr dynamic() { return Attr::text("dynamic"); }
Attr index_piece(Attr i) { return Attr::tuple({Attr::text("index"), std::move(i)}); }
Attr slice_piece(Attr b, Attr e, Attr s) {
  return Attr::tuple({Attr::text("slice"), std::move(b), std::move(e), std::move(s)});
}
std::string pick(const std::vector<Tensor>& values, std::vector<Attr> pieces) {
  return run("subscript", values, {{"pieces", Attr::list(std::move(pieces))}});
}

TEST_CASE("subscripts") {
  const Attr ellipsis = Attr::tuple({Attr::text("ellipsis")}),
             newaxis = Attr::tuple({Attr::text("newaxis")});
  CHECK(pick({matrix()}, {index_piece(Attr::integer(-1))}) == "int32[3] 4 5 6");
  CHECK(pick({matrix()}, {ellipsis, slice_piece({}, {}, Attr::integer(-1))}) ==
        "int32[2, 3] 3 2 1 6 5 4");
  CHECK(pick({matrix()}, {newaxis, slice_piece(Attr::integer(1), Attr::integer(99), {}),
                          index_piece(Attr::integer(0))}) == "int32[1, 1] 4");
  CHECK(pick({matrix(), num(1)}, {ellipsis, index_piece(dynamic())}) == "int32[2] 2 5");
  CHECK(pick({i32({1, 2, 3}), num(7)}, {index_piece(dynamic())}) ==
        "error subscript: index 7 is out of range for size 3");
  CHECK(pick({i32({1, 2, 3}), num(-2), num(1)}, {slice_piece(dynamic(), {}, dynamic())}) ==
        "int32[2] 2 3");
  CHECK(pick({i32({1, 2, 3})}, {slice_piece(Attr::integer(2), Attr::integer(0), {})}) ==
        "int32[0]");
  CHECK(pick({i32({1, 2, 3})}, {slice_piece(Attr::integer(-1), Attr::integer(-99),
                                            Attr::integer(-2))}) == "int32[2] 3 1");
  CHECK(pick({texts({"a", "b", "c"})}, {slice_piece({}, {}, Attr::integer(2))}) ==
        "bytes[2] 'a' 'c'");
  const Attr one = Attr::list({slice_piece(Attr::integer(1), {}, {})});
  CHECK(spec_of("subscript", {leaf(DType::int8, {-1, 4})}, {{"pieces", one}}) == "int8[?, 4]");
  CHECK(spec_of("subscript", {leaf(DType::int8, {4})}, {{"pieces", one}}) == "int8[3]");
}

TEST_CASE("reductions") {
  const auto axis = [](int64_t a) {
    return std::pair<std::string, Attr>("axis", Attr::integer(a));
  };
  CHECK(run("reduce_sum", {matrix()}) == "int32[] 21");
  CHECK(run("reduce_sum", {matrix()}, {axis(0)}) == "int32[3] 5 7 9");
  CHECK(run("reduce_sum", {matrix()}, {axis(-1), {"keepdims", Attr::boolean(true)}}) ==
        "int32[2, 1] 6 15");
  CHECK(run("reduce_sum", {matrix().reshaped({1, 2, 3})}, {{"axis", Attr::of(i64({0, 2}))}}) ==
        "int32[2] 6 15");
  CHECK(run("reduce_sum", {vec<uint8_t>({200, 100})}) == "uint8[] 44");
  CHECK(run("reduce_mean", {i32({-7, 2})}) == "int32[] -2");
  CHECK(run("reduce_mean", {f32({1, 2})}) == "float32[] 1.5");
  CHECK(run("reduce_max", {f32({1, NAN, 2})}) == "float32[] nan");
  CHECK(run("reduce_min", {f32({})}) == "float32[] inf");
  CHECK(run("reduce_max", {i32({})}) == "int32[] -2147483648");
  CHECK(run("reduce_any", {bools({false, true})}) == "bool[] 1");
  CHECK(run("reduce_all", {bools({})}) == "bool[] 1");
  CHECK(run("argmax", {f32({1, 5, 7, 5}).reshaped({2, 2})}) == "int64[2] 1 0");
  CHECK(run("argmax", {f32({NAN, 1, 2})}) == "int64[] 2");
  CHECK(run("argmin", {i32({3, 1, 1})}) == "int64[] 1");
  CHECK(run("argmax", {f32({})}) == "error argmax: axis 0 of shape [0] is empty");
  CHECK(run("cumsum", {matrix()}, {axis(1)}) == "int32[2, 3] 1 3 6 4 9 15");
  CHECK(run("cumsum", {vec<uint8_t>({100, 100, 100})},
            {{"exclusive", Attr::boolean(true)}, {"reverse", Attr::boolean(true)}}) ==
        "uint8[3] 200 100 0");
}

TEST_CASE("text") {
  CHECK(run("string_length", {texts({"", "gr\xc3\xb6"})}) == "int64[2] 0 4");
  CHECK(run("lower", {text("AbZ\xc3\x84")}) == "bytes[] 'abz\xc3\x84'");
  CHECK(run("upper", {texts({"az@", ""})}) == "bytes[2] 'AZ@' ''");
  CHECK(run("strip", {text("\t a b\v\n")}) == "bytes[] 'a b'");
  CHECK(run("substr", {text("Hello"), num(-3), num(2)}) == "bytes[] 'll'");
  CHECK(run("substr", {texts({"Hello", "World"}), i64({1, 5}), num(-1)}) == "bytes[2] 'ello' ''");
  CHECK(run("substr", {text("abc"), num(4), num(1)}) ==
        "error substr: position 4 is outside \"abc\"");
  CHECK(run("join", {texts({"a", "b", "c"})}, {{"sep", Attr::text("-")}}) == "bytes[] 'a-b-c'");
  CHECK(run("join", {texts({"a", "b"}), text("x")}) == "bytes[2] 'ax' 'bx'");
  const auto sep = [](const char* s) { return std::pair<std::string, Attr>("sep", Attr::text(s)); };
  CHECK(run("split_text", {text(" a  b\n")}) == "bytes[2] 'a' 'b'");
  CHECK(run("split_text", {text("")}) == "bytes[0]");
  CHECK(run("split_text", {text("")}, {sep(",")}) == "bytes[1] ''");
  CHECK(run("split_text", {text("a,b,,c")}, {sep(",")}) == "bytes[4] 'a' 'b' '' 'c'");
  CHECK(run("split_text", {text("a--b---c")}, {sep("--")}) == "bytes[3] 'a' 'b' '-c'");
  CHECK(run("split_text", {text("a b c d")}, {{"maxsplit", Attr::integer(2)}}) ==
        "bytes[3] 'a' 'b' 'c d'");
  CHECK(run("as_string", {f32({0.1F, -0.0F, NAN, 1e10F})}) ==
        "bytes[4] '0.100000' '-0.000000' 'nan' '10000000000.000000'");
  CHECK(run("as_string", {i64({INT64_MIN})}) == "bytes[1] '-9223372036854775808'");
  CHECK(run("as_string", {bools({true})}) == "bytes[1] 'true'");
  CHECK(run("as_string", {i32({5})}, {{"width", Attr::integer(3)}, {"fill", Attr::text("0")}}) ==
        "bytes[1] '005'");
  CHECK(run("to_number", {texts({" 1", "-2.5\n", "+.5", "0x1p3", "-Infinity", "1e40", "1e-60"})}) ==
        "float32[7] 1 -2.5 0.5 8 -inf inf 0");
  for (const char* bad : {"", "1.5f", "1e", "--1", "+-1", "0x", "0xinf", "1_000"}) {
    CHECK(run("to_number", {text(bad)}) ==
          "error to_number: not a number: \"" + std::string(bad) + "\"");
  }
  const std::pair<std::string, Attr> to_int32{"dtype", Attr::of(DType::int32)};
  CHECK(run("to_number", {texts({"+7", " 007 ", "-0"})}, {to_int32}) == "int32[3] 7 7 0");
  CHECK(run("to_number", {text("2147483648")}, {to_int32}) ==
        "error to_number: not an integer of dtype int32: \"2147483648\"");
  CHECK(run("assert", {bools({true, false}), num(3)}, {{"message", Attr::text("bad")}}) ==
        "error assert: bad");
  CHECK(run("assert", {bools({true}), num(3)}) == "int64[] 3");
}

TEST_CASE("random draws go by row and seed") {
  auto draw = [](const char* name, int64_t seed, RowId row, std::vector<Tensor> in, Named more) {
    std::vector<std::pair<std::string, Attr>> named(more);
    const OpDef* op = OpRegistry::instance().find(name);
    Attrs attrs;
    for (const Param& p : op->params) {
      if (p.kind != Param::Kind::tensor) attrs.set(p.name, p.fallback);
    }
    attrs.set("seed", Attr::integer(seed));
    for (auto& [key, value] : named) attrs.set(key, value);
    Tensor out;
    std::vector<OutputSlot> slots{{attrs["dtype"].as_dtype(), &out}};
    op->row({attrs, nullptr, in, slots, row});
    return out;
  };
  const std::vector<Tensor> unit{i64({1000}), num(0), num(1)};
  const Tensor first = draw("random_uniform", 1, {5, 0, 0}, unit, {});
  CHECK(first.same(draw("random_uniform", 1, {5, 0, 0}, unit, {})));
  CHECK_FALSE(first.same(draw("random_uniform", 2, {5, 0, 0}, unit, {})));
  CHECK_FALSE(first.same(draw("random_uniform", 1, {5, 1, 0}, unit, {})));
  CHECK_FALSE(first.same(draw("random_uniform", 1, {6, 0, 0}, unit, {})));
  for (int64_t i = 0; i < 1000; ++i)
    CHECK((first.entry<float>(i) >= 0 && first.entry<float>(i) < 1));
  const Tensor dice = draw("random_uniform", 3, {}, {i64({600}), num(-3), num(3)},
                           {{"dtype", Attr::of(DType::int8)}});
  int seen[6] = {};
  for (int64_t i = 0; i < 600; ++i) ++seen[dice.entry<int8_t>(i) + 3];
  for (const int n : seen) CHECK((n > 50 && n < 160));
  CHECK_THROWS_WITH(draw("random_uniform", 1, {}, {i64({1}), num(3), num(3)},
                         {{"dtype", Attr::of(DType::int64)}}),
                    "random_uniform: high must be above low: low 3, high 3");
  const Tensor normal = draw("random_normal", 4, {}, {i64({4001}), num(10), num(2)}, {});
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 4001; ++i) {
    sum += number_at(normal, i);
    squares += std::pow(number_at(normal, i) - 10, 2);
  }
  CHECK(std::abs(sum / 4001 - 10) < 0.15);
  CHECK(std::abs(squares / 4001 - 4) < 0.4);
}

TEST_CASE("names are suggested") {
  const std::vector<std::string> names{"subtract", "stack", "sum"};
  CHECK(did_you_mean("substract", names) == " (did you mean subtract?)");
  CHECK(did_you_mean("staxk", names) == " (did you mean stack?)");
  CHECK(did_you_mean("convolution", names) == "");
}

// Columns of random kinds and shapes: the block kernels against run_row.
TEST_CASE("blocks agree with rows") {
  const uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const char* const binary[] = {"add",          "subtract", "multiply", "divide",
                                "floor_divide", "modulo",   "power",    "minimum",
                                "maximum",      "equal",    "less",     "greater_equal"};
  const char* const unary[] = {"negative",   "abs",   "sign",    "reduce_sum", "reduce_mean",
                               "reduce_max", "shape", "reverse", "as_string"};
  const DType dtypes[] = {DType::uint8,   DType::int8,   DType::int16,  DType::uint32,
                          DType::int32,   DType::int64,  DType::uint64, DType::float16,
                          DType::float32, DType::float64};
  const Dims shapes[] = {{}, {}, {1}, {3}, {5}, {4, 3}, {4, 1}, {2, 4, 3}, {0}};
  const auto make = [&](DType dtype, const Dims& dims) {
    Tensor raw = Tensor::make(DType::int64, dims);
    for (int64_t i = 0; i < dims.entries(); ++i)
      raw.mutable_entries<int64_t>()[i] = below(19) - (is_float(dtype) || is_signed(dtype) ? 7 : 0);
    return converted(raw, dtype);
  };
  for (int round = 0; round < 600; ++round) {
    const bool two = below(3) > 0;
    const std::string name =
        two ? binary[below(std::size(binary))] : unary[below(std::size(unary))];
    const DType dtype = dtypes[below(std::size(dtypes))];
    const int64_t rows = below(4) == 0 ? 1 + below(200) : 1 + below(6);
    std::vector<std::vector<Tensor>> values(static_cast<size_t>(rows));
    Block in, out;
    in.rows = rows;
    std::vector<Spec> specs;
    for (int i = 0; i < (two ? 2 : 1); ++i) {
      const Dims dims = shapes[below(std::size(shapes))];
      const bool constant = below(3) == 0;
      const Tensor same = make(dtype, dims);
      Column column = constant ? Column::constant(same, rows) : Column::dense(dtype, dims, rows);
      for (int64_t row = 0; row < rows; ++row) {
        const Tensor one = constant ? same : make(dtype, dims);
        if (!constant && one.data_bytes() > 0) {
          std::memcpy(column.mutable_data() + row * one.data_bytes(), one.data(),
                      static_cast<size_t>(one.data_bytes()));
        }
        values[static_cast<size_t>(row)].push_back(one);
      }
      in.columns.push_back(column);
      specs.push_back(Spec::tensor(dtype, Shape::unknown_rank()));
    }
    FunctionBuilder builder(Spec::tuple(specs), two ? 2 : 1);
    std::vector<ValueId> ids, outputs;
    for (int i = 0; i < (two ? 2 : 1); ++i) ids.push_back(i);
    Attrs attrs;
    const OpDef* op = OpRegistry::instance().find(name);
    for (const Param& p : op->params) {
      if (p.kind != Param::Kind::tensor) attrs.set(p.name, p.fallback);
    }
    const Spec spec = builder.add_op(*op, ids, attrs, &outputs);
    const CompiledFunction function(builder.finish(spec, outputs), {});
    Block copy = in;
    function.run(copy, &out);
    for (int64_t row = 0; row < rows; ++row) {
      std::string wanted, got;
      try {
        wanted = show(function.run_row(values[static_cast<size_t>(row)], {}));
      } catch (const Error& e) {
        wanted = "error " + e.message();
      }
      const ErrorPtr* error = out.error_at(row);
      got = error ? "error " + (*error)->message() : show(out.columns[0].row(row));
      CAPTURE(name);
      REQUIRE(got == wanted);
    }
  }
}

}  // namespace
}  // namespace penstock
