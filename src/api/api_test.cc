#include <doctest/doctest.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "penstock/penstock.h"

namespace penstock {
namespace {

std::vector<int64_t> integers(const Dataset& dataset) {
  std::vector<int64_t> out;
  for (const Element& e : dataset) out.push_back(e.value<int64_t>());
  return out;
}

template <typename F>
std::optional<Error> error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return std::nullopt;
}

TEST_CASE("a method chain is the same pipeline as its text") {
  const Dataset chain = Dataset::range(20)
                            .map("x -> x * 3")
                            .filter("x -> x % 2 == 0")
                            .shuffle(5, {{"seed", 7}})
                            .batch(4, true);
  const Dataset text = Dataset::parse(
      "range(20) | map(x -> x * 3) | filter(x -> x % 2 == 0) | shuffle(5, seed=7) | batch(4, "
      "drop_remainder=true)");
  CHECK(chain.text() == text.text());
  CHECK(chain.element_spec() == text.element_spec());
  CHECK(chain.cardinality() == text.cardinality());
  const Dataset again = Dataset::parse(chain.text());
  CHECK(again.text() == chain.text());
  Iterator a = chain.iterate(), b = text.iterate();
  Element x, y;
  int count = 0;
  while (a.next(&x)) {
    REQUIRE(b.next(&y));
    CHECK(x.same(y));
    ++count;
  }
  CHECK(!b.next(&y));
  CHECK(count == 2);
  const Dataset applied = Dataset::range(20)
                              .apply("map(x -> x * 3) | filter(x -> x % 2 == 0)")
                              .apply("shuffle(5, seed=7)")
                              .batch(4, true);
  CHECK(applied.text() == chain.text());
}

TEST_CASE("symbolic lambdas record what is done with their values") {
  CHECK(integers(Dataset::range(4).map([](Value x) { return x * 2 + 1; })) ==
        std::vector<int64_t>{1, 3, 5, 7});
  CHECK(Dataset::range(4).map([](Value x) { return x * 2 + 1; }).text() ==
        Dataset::range(4).map("x -> x * 2 + 1").text());
  const Dataset dicts =
      Dataset::range(3).map([](Value x) { return dict({{"label", x}, {"score", x * 10}}); });
  CHECK(integers(dicts.map([](Value e) { return e["score"] - e["label"]; })) ==
        std::vector<int64_t>{0, 9, 18});
  CHECK(integers(Dataset::range(3).enumerate(5).map([](Value i, Value x) { return i * 10 + x; })) ==
        std::vector<int64_t>{50, 61, 72});
  CHECK(integers(Dataset::range(5).filter([](Value x) { return x > 0 && !(x == 3); })) ==
        std::vector<int64_t>{1, 2, 4});
  CHECK(integers(Dataset::range(4).map([](Value x) {
          return cond(x < 2, -x, call("int64", {x * 100}));
        })) == std::vector<int64_t>{0, -1, 200, 300});
  CHECK(integers(Dataset::range(4).flat_map([](Value x) { return call("range", {x}); })) ==
        std::vector<int64_t>{0, 0, 1, 0, 1, 2});
  // What the outer lambda made stays outside the inner one; doubling does not blow up.
  const Dataset nested = Dataset::range(3).flat_map([](Value x) {
    const Value y = x + 10;
    return call("map",
                {call("range", {2}), UserFunction([&](Value i) { return i + y * y; }).value()});
  });
  CHECK(integers(nested) == std::vector<int64_t>{100, 101, 121, 122, 144, 145});
  const Dataset doubled = Dataset::range(2).map([](Value x) {
    for (int i = 0; i < 40; ++i) x = x + x;
    return x;
  });
  CHECK(integers(doubled) == std::vector<int64_t>{0, int64_t{1} << 40});
  // A condition that a lambda inside uses: the side that is not taken is not computed before it.
  const Dataset lazy = Dataset::range(3).map([](Value x) {
    const Value y = cond(x != 0, floor_divide(6, x), 0);
    return call("map_fn",
                {call("arange", {2}), UserFunction([&](Value i) { return i + y; }).value()})[1];
  });
  CHECK(integers(lazy) == std::vector<int64_t>{1, 7, 4});
}

TEST_CASE("mistakes are found when a stage is built, and say which") {
  const auto size = error_of([] { Dataset::range(4).batch(0); });
  REQUIRE(size);
  CHECK(size->code() == Code::invalid_argument);
  CHECK(size->node() == "batch");
  const auto function = error_of([] { Dataset::range(4).map("x -> y"); });
  REQUIRE(function);
  CHECK(function->node() == "map");
  CHECK(function->message().find("`y` is not defined") != std::string::npos);
  CHECK(function->message().find('^') != std::string::npos);
  const auto syntax = error_of([] { Dataset::range(4).filter("x -> ("); });
  REQUIRE(syntax);
  CHECK(syntax->node() == "filter");
  const auto option = error_of([] { Dataset::range(4).shuffle(2, {{"sede", 7}}); });
  REQUIRE(option);
  CHECK(option->node() == "shuffle");
  CHECK(option->message().find("seed") != std::string::npos);
  const auto type = error_of([] { Dataset::range(4).map([](Value x) { return x["label"]; }); });
  REQUIRE(type);
  CHECK(type->node() == "map");
  CHECK(error_of([] { Dataset::range(4).stage("no_such_stage"); }).has_value());
  CHECK(error_of([] { Dataset::parse("range(4) | batch("); }).has_value());
}

TEST_CASE("threads share an iterator, each element goes to one of them") {
  constexpr int64_t kElements = 20'000;
  Iterator iterator = Dataset::range(kElements).map([](Value x) { return x + 1; }).iterate();
  std::mutex mutex;
  std::vector<int64_t> seen;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<int64_t> mine;
      Element e;
      while (iterator.next(&e)) mine.push_back(e.value<int64_t>());
      const std::lock_guard lock(mutex);
      seen.insert(seen.end(), mine.begin(), mine.end());
    });
  }
  for (std::thread& t : threads) t.join();
  std::ranges::sort(seen);
  REQUIRE(seen.size() == static_cast<size_t>(kElements));
  for (int64_t i = 0; i < kElements; ++i) REQUIRE(seen[static_cast<size_t>(i)] == i + 1);
}

TEST_CASE("an element outlives its iterator and its dataset") {
  Element kept, text;
  {
    Iterator iterator =
        Dataset::range(100).map("x -> {value: x, twice: x * 2}").batch(10).iterate();
    REQUIRE(iterator.next(&kept));
    REQUIRE(iterator.next(&kept));
    Iterator strings =
        Dataset::from_tensor_slices(std::vector<std::string>{"one", "two"}).iterate();
    REQUIRE(strings.next(&text));
  }
  const std::span<const int64_t> twice = kept["twice"].as<int64_t>();
  REQUIRE(twice.size() == 10);
  CHECK(twice[0] == 20);
  CHECK(twice[9] == 38);
  CHECK(text.text() == "one");
  CHECK(error_of([&] { kept["thrice"]; })->code() == Code::not_found);
  CHECK(error_of([&] { kept["twice"].as<float>(); })->code() == Code::invalid_argument);
}

TEST_CASE("cancel ends next") {
  Iterator iterator = Dataset::range(1000).repeat().iterate();
  Element e;
  REQUIRE(iterator.next(&e));
  iterator.cancel();
  const auto error = error_of([&] { iterator.next(&e); });
  REQUIRE(error);
  CHECK(error->code() == Code::cancelled);
}

TEST_CASE("values of whole datasets") {
  CHECK(Dataset::range(5).reduce(0, "(s, x) -> s + x").value<int64_t>() == 10);
  CHECK(Dataset::range(5).reduce(0, [](Value s, Value x) { return s + x; }).value<int64_t>() == 10);
  CHECK(Dataset::range(7, 8).get_single_element().value<int64_t>() == 7);
  const Dataset zipped = Dataset::zip({{"a", Dataset::range(3)}, {"b", Dataset::range(10, 13)}});
  CHECK(integers(zipped.map([](Value e) { return e["a"] * e["b"]; })) ==
        std::vector<int64_t>{0, 11, 24});
  CHECK(integers(Dataset::range(2).concatenate(Dataset::range(5, 7))) ==
        std::vector<int64_t>{0, 1, 5, 6});
}

void register_extensions() {
  static const bool once = [] {
    OpDefinition op;
    op.name = "test_add";
    op.inputs = {"x"};
    op.parameters = {{"n", Parameter::Kind::integer, int64_t{1}}};
    op.infer = [](std::span<const ArrayType> in, const Arguments&) {
      if (in[0].type != Type::int64) throw Error(Code::invalid_argument, "expected int64");
      return std::vector<ArrayType>{in[0]};
    };
    op.row = [](std::span<const Array> in, const Arguments& arguments) {
      if (in[0].value<int64_t>() == 13) throw Error(Code::out_of_range, "13 is unlucky");
      return std::vector<Array>{Array::scalar(in[0].value<int64_t>() + arguments.integer("n"))};
    };
    register_op(op);
    SourceDefinition source;
    source.name = "test_countdown";
    source.parameters = {{"from", Parameter::Kind::integer, std::nullopt}};
    source.element = [](const Arguments&) { return ElementType{{ArrayType{Type::int64}}, {}}; };
    source.open = [](const Arguments& arguments) -> RowSource {
      return [n = arguments.integer("from")](std::vector<Array>* row) mutable {
        if (n == 0) return false;
        *row = {Array::scalar(n--)};
        return true;
      };
    };
    register_source(source);
    DatasetOperatorDefinition pairs;
    pairs.name = "test_pair_sums";
    pairs.open = [](RowSource input, const Arguments&) -> RowSource {
      return [input = std::move(input)](std::vector<Array>* row) {
        std::vector<Array> a, b;
        if (!input(&a) || !input(&b)) return false;
        *row = {Array::scalar(a[0].value<int64_t>() + b[0].value<int64_t>())};
        return true;
      };
    };
    register_dataset_operator(pairs);
    return true;
  }();
  (void)once;
}

TEST_CASE("extensions work from C++ and from text") {
  register_extensions();
  CHECK(integers(Dataset::range(3).map([](Value x) {
          return call("test_add", {x}, {{"n", 5}});
        })) == std::vector<int64_t>{5, 6, 7});
  CHECK(integers(Dataset::source("test_countdown", {3})) == std::vector<int64_t>{3, 2, 1});
  CHECK(integers(
            Dataset::parse("test_countdown(from=5) | map(x -> test_add(x)) | test_pair_sums()")) ==
        std::vector<int64_t>{11, 7});
  CHECK(integers(
            Dataset::range(1000).stage("test_pair_sums").prefetch(2).with_options({.threads = 1}))
            .size() == 500);
  Iterator abandoned = Dataset::range(100'000).stage("test_pair_sums").iterate();
  Element e;
  CHECK(abandoned.next(&e));
  SourceDefinition taken;
  taken.name = "range";
  CHECK(error_of([&] { register_source(taken); })->code() == Code::already_exists);
}

TEST_CASE("a generator is opened for each pass, and its errors are rows") {
  int passes = 0;
  const Dataset ds = Dataset::generator({{{Type::int64, {}}}, {}}, [&passes]() -> RowSource {
    ++passes;
    return [next = int64_t{0}](std::vector<Array>* row) mutable {
      if (next == 4) return false;
      if (next++ == 2) throw Error(Code::unavailable, "try again");
      *row = {Array::scalar(next)};
      return true;
    };
  });
  CHECK(integers(ds.take(2).repeat(2)) == std::vector<int64_t>{1, 2, 1, 2});
  CHECK(passes == 2);
  Iterator iterator = ds.iterate();
  Element e;
  REQUIRE(iterator.next(&e));
  REQUIRE(iterator.next(&e));
  CHECK(error_of([&] { iterator.next(&e); })->code() == Code::unavailable);
  REQUIRE(iterator.next(&e));
  CHECK(e.value<int64_t>() == 4);
  CHECK(!iterator.next(&e));
  CHECK(error_of([] { Dataset::generator({{{Type::int64, {}}}, {}}, {}); })->code() ==
        Code::invalid_argument);
}

TEST_CASE("an op of its own is freed with the last that uses it") {
  const auto number = std::make_shared<int64_t>(10);
  const auto adds = [](const std::shared_ptr<int64_t>& n) {
    OpDefinition op;
    op.name = "test_adds_own";
    op.inputs = {"x"};
    op.infer = [](std::span<const ArrayType>, const Arguments&) {
      return std::vector<ArrayType>{{Type::int64, {{}}}};
    };
    op.row = [n](std::span<const Array> x, const Arguments&) {
      return std::vector<Array>{Array::scalar(x[0].value<int64_t>() + *n)};
    };
    return OwnOp(std::move(op));
  };
  std::optional<Iterator> left;
  {
    const OwnOp ten = adds(number), two = adds(std::make_shared<int64_t>(2));
    const Dataset ds =
        Dataset::range(3).map([&](const Value& x) { return tuple({ten({x}), two({x})}); });
    left = ds.map([](const Value& a, const Value& b) { return a * b; }).optimized().iterate();
    CHECK(ds.text() == "range(3)\n| map(x -> (test_adds_own(x), test_adds_own(x)))\n");
    CHECK(error_of([&] { Dataset::parse(ds.text()); })->code() == Code::not_found);
    CHECK(integers(Dataset::range(2).flat_map([&](const Value& x) {
            return call("map", {call("range", {x + 1}),
                                UserFunction([&](const Value& y) { return ten({y}); }).value()});
          })) == std::vector<int64_t>{10, 10, 11});
  }
  CHECK(number.use_count() > 1);
  Element e;
  std::vector<int64_t> got;
  while (left->next(&e)) got.push_back(e.value<int64_t>());
  CHECK(got == std::vector<int64_t>{20, 33, 48});
  left.reset();
  CHECK(number.use_count() == 1);
}

TEST_CASE("an element that fails is thrown, the next one comes behind it") {
  register_extensions();
  Iterator iterator = Dataset::range(12, 15).map("x -> test_add(x)").iterate();
  Element e;
  REQUIRE(iterator.next(&e));
  CHECK(e.value<int64_t>() == 13);
  const auto error = error_of([&] { iterator.next(&e); });
  REQUIRE(error);
  CHECK(error->code() == Code::out_of_range);
  CHECK(error->node() == "map");
  REQUIRE(iterator.next(&e));
  CHECK(e.value<int64_t>() == 15);
  CHECK(!iterator.next(&e));
  CHECK(!iterator.next(&e));
}

}  // namespace
}  // namespace penstock
