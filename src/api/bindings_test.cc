// The parts of the API that bindings of other languages are made on: the table of calls, functions
// recorded from outside, pieces of an index, memory of others.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "penstock/penstock.h"

namespace penstock {
namespace {

const CallInfo* find_call(const std::vector<CallInfo>& all, const std::string& name,
                          CallInfo::Kind kind) {
  const auto found = std::ranges::find_if(
      all, [&](const CallInfo& call) { return call.name == name && call.kind == kind; });
  return found == all.end() ? nullptr : &*found;
}

template <typename F>
std::optional<Code> code_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return std::nullopt;
}

TEST_CASE("the table of calls has parameters with their kinds and defaults") {
  const std::vector<CallInfo> all = calls();
  const CallInfo* batch = find_call(all, "batch", CallInfo::Kind::stage);
  REQUIRE(batch);
  REQUIRE(batch->parameters.size() >= 3);
  CHECK(batch->parameters[0].kind == CallParameter::Kind::dataset);
  CHECK(batch->parameters[1].name == "batch_size");
  CHECK(batch->parameters[1].required);
  CHECK(batch->parameters[2].fallback == "false");
  CHECK(!batch->doc.empty());
  const CallInfo* map = find_call(all, "map", CallInfo::Kind::stage);
  REQUIRE(map);
  CHECK(map->parameters[1].kind == CallParameter::Kind::function);
  CHECK(find_call(all, "range", CallInfo::Kind::source));
  CHECK(find_call(all, "reduce", CallInfo::Kind::sink));
  CHECK(find_call(all, "reduce", CallInfo::Kind::op));
  const CallInfo* decode = find_call(all, "decode_jpeg", CallInfo::Kind::op);
  REQUIRE(decode);
  CHECK(decode->group == "image");
}

TEST_CASE("an index of several pieces") {
  const auto slice = [](std::optional<Value> begin, std::optional<Value> end) {
    return AxisIndex{AxisIndex::Kind::slice, {}, std::move(begin), std::move(end), {}};
  };
  const AxisIndex all_axes{AxisIndex::Kind::ellipsis, {}, {}, {}, {}};
  const AxisIndex new_axis{AxisIndex::Kind::new_axis, {}, {}, {}, {}};
  const AxisIndex last{AxisIndex::Kind::index, Value(-1), {}, {}, {}};
  const Dataset ds = Dataset::parse("from_tensors([[1, 2, 3], [4, 5, 6]])");
  const Dataset got = ds.map([&](Value x) {
    return tuple({subscript(x, {slice({}, {}), slice(1, {})}), subscript(x, {all_axes, last}),
                  subscript(x, {new_axis, last})});
  });
  const Dataset text = ds.map("x -> (x[:, 1:], x[..., -1], x[none, -1])");
  CHECK(got.text() == text.text());
  CHECK(got.get_single_element().same(text.get_single_element()));
  CHECK(code_of([&] { ds.map([](Value x) { return subscript(x, {AxisIndex{}}); }); }) ==
        Code::invalid_argument);
}

TEST_CASE("functions are recorded with a number of arguments known at run time") {
  const auto sum = [](const std::vector<Value>& x) { return x[0] + x[1]; };
  const Dataset pairs = Dataset::zip({Dataset::range(3), Dataset::range(5, 8)});
  CHECK(pairs.map(UserFunction::record(2, sum)).text() ==
        pairs.map([](Value a, Value b) { return a + b; }).text());
  CHECK(code_of([&] { UserFunction::record(5, sum); }) == Code::invalid_argument);
  CHECK(code_of([&] { UserFunction::record(-1, sum); }) == Code::invalid_argument);
}

TEST_CASE("datasets stand anywhere among the arguments of a call") {
  const Dataset a = Dataset::range(3), b = Dataset::range(10, 13);
  const Dataset chosen =
      Dataset::combine("choose_from_datasets", {a, b, Dataset::parse("from_list([1, 0])")},
                       {list({Dataset::input(0), Dataset::input(1)}), Dataset::input(2)});
  Iterator it = chosen.iterate();
  Element e;
  REQUIRE(it.next(&e));
  CHECK(e.value<int64_t>() == 10);
  REQUIRE(it.next(&e));
  CHECK(e.value<int64_t>() == 0);
  CHECK(!it.next(&e));
  // In a function, too.
  const UserFunction inner = UserFunction::record(1, [](const std::vector<Value>& x) {
    return call("map",
                {Dataset::input(1), UserFunction::record(1, [&](const std::vector<Value>& y) {
                                      return x[0] * 100 + y[0];
                                    }).value()});
  });
  const Dataset flat = Dataset::combine("flat_map", {a, b}, {Dataset::input(0), inner.value()});
  CHECK(flat.reduce(0, [](Value s, Value x) { return s + x; }).value<int64_t>() == 999);
}

TEST_CASE("memory of others is shared, and released once by the last who holds it") {
  static std::array<float, 6> numbers{1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> shape{3, 2};
  int released = 0;
  const auto release = [&released] { ++released; };
  {
    Element batch;
    {
      const Array array = from_memory(Type::float32, shape, numbers.data(), release);
      CHECK(array.as<float>().data() == numbers.data());
      Iterator it = Dataset::from_tensor_slices(array).batch(3).iterate();
      REQUIRE(it.next(&batch));
    }
    CHECK(batch.as<float>().data() == numbers.data());
    CHECK(released == 0);
  }
  CHECK(released == 1);
  const auto refused = [&](Type type, std::vector<int64_t> sizes, const void* data) {
    released = 0;
    const bool right =
        code_of([&] { from_memory(type, sizes, data, release); }) == Code::invalid_argument;
    return right && released == 1;
  };
  CHECK(refused(Type::bytes, {1}, numbers.data()));
  CHECK(refused(Type::float32, {-1}, numbers.data()));
  CHECK(refused(Type::float32, std::vector<int64_t>(9, 1), numbers.data()));
  CHECK(refused(Type::float32, {1}, reinterpret_cast<const std::byte*>(numbers.data()) + 1));
}

TEST_CASE("large arrays are no part of the text, the fingerprint and the states") {
  const std::vector<Array> columns{Array::of(std::vector<int64_t>{1, 2, 3}),
                                   Array::of(std::vector<float>{3, 4, 5})};
  const Dataset ds = Dataset::from_memory(columns, {"a", "b"});
  CHECK(ds.text() == "from_memory(arrays=\"{a: int64, b: float32}\")\n");
  CHECK(ds.element_spec().text() == "{a: int64, b: float32}");
  CHECK(ds.cardinality() == 3);
  CHECK(ds.at(2)["b"].value<float>() == 5);
  CHECK(code_of([&] { Dataset::parse(ds.text()); }) == Code::not_found);
  CHECK(Dataset::from_memory(columns).element_spec().text() == "(int64, float32)");
  CHECK(Dataset::from_memory({columns[0]}).element_spec().text() == "int64");

  const auto again = [&] {
    return Dataset::from_memory(columns, {"a", "b"}).stage("global_shuffle");
  };
  const Dataset shuffled = again();
  Iterator it = shuffled.iterate();
  Element first, second, resumed;
  REQUIRE(it.next(&first));
  const std::string saved = it.save();
  REQUIRE(it.next(&second));
  Iterator other = again().resume(saved);
  REQUIRE(other.next(&resumed));
  CHECK(resumed.same(second));
  const Dataset changed =
      Dataset::from_memory({Array::of(std::vector<int64_t>{1, 2, 4}), columns[1]}, {"a", "b"});
  CHECK(changed.fingerprint() != ds.fingerprint());
  CHECK(code_of([&] { changed.stage("global_shuffle").resume(saved); }) ==
        Code::failed_precondition);

  const Dataset named = Dataset::from_memory(columns, {}, "table 7");
  const std::vector<Array> others{columns[0], Array::of(std::vector<float>{9, 9, 9})};
  CHECK(named.fingerprint() == Dataset::from_memory(others, {}, "table 7").fingerprint());
  CHECK(named.fingerprint() != Dataset::from_memory(columns, {}, "table 8").fingerprint());
  CHECK(code_of([&] { Dataset::from_memory(columns, {"a"}); }) == Code::invalid_argument);
  CHECK(code_of([&] { Dataset::from_memory({columns[0], Array::of(std::vector<float>{1})}); }) ==
        Code::invalid_argument);
  CHECK(code_of([] { Dataset::from_memory({Array::scalar(int64_t{1})}); }) ==
        Code::invalid_argument);
}

TEST_CASE("an epoch has the draws of that iterator, and of that pass of repeat") {
  const Dataset ds = Dataset::range(50).shuffle(50, {{"seed", 3}}).batch(50);
  const auto order = [](Iterator it) {
    Element e;
    REQUIRE(it.next(&e));
    const std::span<const int64_t> values = e.as<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  };
  const std::vector<int64_t> first = order(ds.iterate()), second = order(ds.iterate());
  CHECK(first != second);
  CHECK(order(ds.iterate(0)) == first);
  CHECK(order(ds.iterate(1)) == second);
  Iterator passes = Dataset::range(50).shuffle(50, {{"seed", 3}}).repeat(2).batch(50).iterate();
  Element e;
  REQUIRE(passes.next(&e));
  CHECK(order(std::move(passes)) == second);
  Iterator third = ds.iterate(2);
  const std::string beginning = third.save();
  CHECK(order(ds.resume(beginning)) == order(std::move(third)));
}

TEST_CASE("tuples of arrays are sliced together") {
  const Dataset ds = Dataset::from_tensor_slices(std::vector<Array>{
      Array::of(std::vector<int64_t>{1, 2}), Array::of(std::vector<float>{3, 4})});
  CHECK(ds.element_spec().text() == "(int64, float32)");
  CHECK(ds.at(1)[1].value<float>() == 4);
}

}  // namespace
}  // namespace penstock
