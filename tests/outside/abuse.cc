// Misuses the installed library: every mistake must be an Error that explains it, or be harmless.
// Usage: abuse SCRATCH_FOLDER

#include <atomic>
#include <limits>
#include <thread>

#include "check.h"

using namespace penstock;

namespace {

const ElementType kNumber{{ArrayType{Type::int64}}, {}};

void use_after_move() {
  Dataset ds = Dataset::range(3);
  const Dataset other = std::move(ds);
  const auto moved = Code::failed_precondition;
  check_error([&] { ds.iterate(); }, moved, "moved from", "iterate of a moved dataset");
  check_error([&] { ds.map("x -> x"); }, moved, "moved from", "map of a moved dataset");
  check_error([&] { ds.text(); }, moved, "moved from", "text of a moved dataset");
  check_error([&] { ds.cardinality(); }, moved, "moved from", "cardinality of a moved dataset");
  check_error([&] { other.concatenate(ds); }, moved, "moved from", "a moved argument");
  check_error([&] { Dataset::zip(std::vector<Dataset>{other, ds}); }, moved, "moved from", "zip");
  ds = other;
  check(integers(ds).size() == 3, "a moved dataset may be assigned to");

  Iterator iterator = ds.iterate();
  Iterator taken = std::move(iterator);
  Element e;
  check_error([&] { iterator.next(&e); }, moved, "moved from", "next of a moved iterator");
  check_error([&] { iterator.save(); }, moved, "moved from", "save of a moved iterator");
  iterator.cancel();
  check_error([&] { taken.next(nullptr); }, Code::invalid_argument, "no element", "next(nullptr)");
  check(taken.next(&e) && e.value<int64_t>() == 0, "the iterator that it was moved to");
  taken = ds.iterate();
  check(taken.next(&e) && e.value<int64_t>() == 0, "an iterator that is assigned begins");
  Iterator& self = taken;
  taken = std::move(self);
  check(taken.next(&e) && e.value<int64_t>() == 1, "an iterator assigned to itself goes on");

  Element kept = std::move(e);
  check(e.kind() == Element::Kind::none && e.size() == 0 && e.arrays().empty() && e.same(e),
        "a moved element is none");
  check_error([&] { e.array(); }, Code::invalid_argument, "not a tensor", "array of none");
  check_error([&] { e["key"]; }, Code::not_found, "key", "a field of none");
  Array a = kept.array();
  const Array b = std::move(a);
  check(a.entries() == 0 && a.data() == nullptr && a.as<int64_t>().empty(),
        "a moved array is empty");
  check_error([&] { a.value<int64_t>(); }, Code::invalid_argument, "0 entries", "its value");
  check(b.value<int64_t>() == 1, "the array that it was moved to");

  Value v = 3;
  const Value w = std::move(v);
  check_error([&] { v + 1; }, moved, "moved from", "a moved value in an expression");
  check_error([&] { call("abs", {v}); }, moved, "moved from", "a moved value in a call");
  check_error([&] { ds.map([&](Value) { return v; }); }, moved, "moved from", "a moved result");
  check(integers(ds.map([&](Value x) { return x * w; })) == std::vector<int64_t>{0, 3, 6}, "and w");
  ElementCursor cursor = ds.begin(), later = std::move(cursor);
  ++cursor;
  check(cursor == std::default_sentinel, "a moved cursor is at its end");
  check(later->value<int64_t>() == 0, "and the other where it was");
}

void lifetimes() {
  std::optional<Dataset> ds = Dataset::range(1000).map("x -> x * 2").batch(10).prefetch(2);
  Iterator iterator = ds->iterate();
  ds.reset();
  Element e;
  int64_t sum = 0;
  while (iterator.next(&e)) {
    for (const int64_t v : e.as<int64_t>()) sum += v;
  }
  check(sum == 999'000, "an iterator outlives its dataset");
  check(!iterator.next(&e) && !iterator.next(&e),
        "after the end there is nothing, again and again");
  check(iterator.save().size() > 10, "an iterator at its end can be saved");

  std::vector<Element> kept;
  std::vector<Array> arrays;
  {
    const Dataset strings = Dataset::range(500).map("x -> {text: as_string(x), pair: [x, x]}");
    Iterator i = strings.prefetch(4).iterate();
    while (i.next(&e)) {
      kept.push_back(e);
      arrays.push_back(e["pair"].array());
    }
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto n = static_cast<int64_t>(i);
    if (kept[i]["text"].text() != std::to_string(i) || arrays[i].as<int64_t>()[1] != n)
      return check(false, "elements outlive their run");
  }
  check(kept.size() == 500, "elements outlive their run");

  int64_t elements = 0;
  for (int i = 0; i < 2000; ++i) {
    Iterator small = Dataset::range(3).prefetch(1).iterate();
    while (small.next(&e)) ++elements;
  }
  check(elements == 6000, "thousands of iterators, one after the other");
  std::vector<Iterator> many;
  const Dataset shared = Dataset::range(100).map("x -> x + 1", {{"num_parallel_calls", 2}});
  for (int i = 0; i < 100; ++i) many.push_back(shared.with_options({.threads = 2}).iterate());
  elements = 0;
  for (int round = 0; round < 3; ++round) {
    for (Iterator& i : many) elements += i.next(&e) ? 1 : 0;
  }
  check(elements == 300, "a hundred iterators at once");
}

// Elements that the caller holds do not count: the budget is for the pipeline's own.
void kept_elements() {
  Options options;
  options.memory_bytes = 64 << 20;
  options.threads = 2;
  const std::string large = "range(40) | map(x -> fill([1000000], float32(x)))";
  const auto count = [&](const std::string& text) {
    std::vector<Element> kept;
    Iterator iterator = Dataset::parse(text).with_options(options).iterate();
    Element e;
    while (iterator.next(&e)) kept.push_back(e);
    for (size_t i = 0; i < kept.size(); ++i) {
      const std::vector<Array> arrays = kept[i].arrays();
      if (arrays.size() != 1 || arrays[0].as<float>().back() < 0) return size_t{0};
    }
    return kept.size();
  };
  check(count(large) == 40, "160 MB of elements are kept under a budget of 64 MiB");
  check(count(large + " | prefetch(2)") == 40, "after a prefetch, too");
  check(count(large + " | batch(2)") == 20, "batches");
  check(count("range(5) | map(x -> fill([8, 1000000], float32(x))) | unbatch()") == 40,
        "unbatched");
  check(count("range(4) | map(x -> fill([1000000], float32(x))) | cache() | repeat(10)") == 40,
        "of a cache");
  check(count("range(40) | map(x -> optional_of(fill([1000000], float32(x))))") == 40, "optional");
}

void threads() {
  // Every hundredth element is an error; all are reported once.
  Iterator iterator = Dataset::range(5000)
                          .map("x -> 1 // ((x + 1) % 100) + x", {{"num_parallel_calls", 2}})
                          .iterate();
  std::atomic<int64_t> elements{0}, errors{0}, others{0};
  std::vector<std::thread> two;
  for (int t = 0; t < 2; ++t) {
    two.emplace_back([&] {
      Element e;
      for (;;) {
        try {
          if (!iterator.next(&e)) return;
          ++elements;
        } catch (const Error&) {
          ++errors;
        } catch (...) {
          ++others;
          return;
        }
      }
    });
  }
  for (std::thread& t : two) t.join();
  check(elements == 4950 && errors == 50 && others == 0, "two threads on one iterator");

  Iterator endless = Dataset::range(int64_t{1} << 62).filter("x -> x < 0").prefetch(2).iterate();
  std::atomic<bool> begun{false};
  std::optional<Error> error;
  std::thread waiting([&] {
    Element e;
    begun = true;
    error = error_of([&] { endless.next(&e); });
  });
  while (!begun) std::this_thread::yield();
  endless.cancel();
  waiting.join();
  check(error && error->code() == Code::cancelled, "cancel from another thread ends next");
  Element e;
  check_error([&] { endless.next(&e); }, Code::cancelled, "", "next after cancel");
  endless.cancel();
}

void huge_shapes() {
  constexpr int64_t kHuge = int64_t{1} << 32;
  const auto wrong = Code::invalid_argument;
  const std::vector<float> one{1};
  check_error([] { Array::of<float>({}, {kHuge, kHuge}); }, wrong, "", "2^64 entries of none");
  check_error([] { Array::of<float>({}, {int64_t{1} << 62, 4}); }, wrong, "", "2^62 times 4");
  check_error([&] { Array::of<float>(std::span(one), {kHuge, kHuge, kHuge}); }, wrong, "", "2^96");
  check_error([&] { Array::of<float>(std::span(one), {-1}); }, wrong, "negative", "a size of -1");
  check_error([&] { Array::of<float>(std::span(one), std::vector<int64_t>(9, 1)); }, wrong, "rank",
              "rank 9");
  const std::vector<std::string> words{"a"};
  check_error([&] { Array::texts(words, {kHuge, kHuge}); }, wrong, "", "2^64 texts");
  check(Array::of<float>({}, {0, kHuge}).entries() == 0, "no entries are no entries");
  const auto generator = [](std::vector<int64_t> shape) {
    return Dataset::generator({{{Type::float32, std::move(shape)}}, {}},
                              [] { return [](std::vector<Array>*) { return false; }; });
  };
  check_error([&] { generator({-5}); }, wrong, "-5", "an array type with a size of -5");
  check_error([&] { generator(std::vector<int64_t>(9, 1)); }, wrong, "rank 9", "of rank 9");
  check_error(
      [] {
        Dataset::generator({{{static_cast<Type>(99), {}}}, {}},
                           [] { return [](std::vector<Array>*) { return false; }; });
      },
      wrong, "99", "a Type that there is not");
  // Each is refused or makes the element an error, but never touches invalid memory.
  for (const char* text : {
           "range(1) | map(x -> zeros([4294967296, 4294967296]))",
           "range(1) | map(x -> zeros([x + 4294967296, x + 4294967296]))",
           "range(1) | map(x -> reshape(zeros([0]), [4294967296, 4294967296]))",
           "range(1) | map(x -> reshape(zeros([0]), stack([x + 4294967296, x + 4294967296])))",
           "range(1) | map(x -> broadcast_to(x, [4294967296, 4294967296]))",
           "range(1) | map(x -> broadcast_to(x, stack([x + 4294967296, x + 4294967296])))",
           "range(1) | map(x -> tile([x], [9223372036854775807]))",
           "range(2) | padded_batch(2, padded_shapes=[4294967296, 4294967296])",
           "range(2) | map(x -> [[x]]) | padded_batch(2, padded_shapes=[4294967296, 4294967296])",
           "range(2) | batch(4611686018427387904) | batch(8)",
           "range(1) | map(x -> one_hot([x], 4611686018427387904))",
           "range(1) | map(x -> pad([x], [[4611686018427387904, 4611686018427387904]]))",
       }) {
    bool good = true;
    try {
      Iterator iterator = Dataset::parse(text).iterate();
      Element e;
      while (iterator.next(&e)) good = e.array().entries() <= 2;
    } catch (const Error& e) {
      good = e.code() == Code::invalid_argument || e.code() == Code::resource_exhausted;
    }
    check(good, text);
  }
}

void wrong_types() {
  const auto wrong = Code::invalid_argument;
  const Element e = Dataset::range(1).map("x -> {a: x, b: (x, \"text\")}").get_single_element();
  check_error([&] { e.array(); }, wrong, "not a tensor", "the array of a dict");
  check_error([&] { e["a"].as<float>(); }, wrong, "int64", "int64 as float");
  check_error([&] { e["a"].text(); }, wrong, "int64", "int64 as text");
  check_error([&] { e["b"][2]; }, Code::out_of_range, "part 2", "the third of two");
  check_error([&] { e["b"][-1]; }, Code::out_of_range, "part", "the one before the first");
  check_error([&] { e["b"][1].value<int64_t>(); }, wrong, "bytes", "text as int64");
  check_error([&] { e["c"]; }, Code::not_found, "c", "a field that there is not");
  check_error([&] { Array::of(std::vector<int64_t>{1, 2}).value<int64_t>(); }, wrong, "2 entries",
              "one of two entries");
  const auto generator = [](const std::vector<Array>& row) {
    return Dataset::generator(kNumber, [row] {
      return [row, left = 2](std::vector<Array>* out) mutable {
        *out = row;
        return left-- > 0;
      };
    });
  };
  const auto first_error = [](const Dataset& ds) {
    Iterator iterator = ds.iterate();
    Element out;
    iterator.next(&out);
  };
  check_error([&] { first_error(generator({Array::scalar(1.5)})); }, wrong, "float64", "a dtype");
  check_error([&] { first_error(generator({})); }, wrong, "0 arrays", "too few arrays");
  check_error([&] { first_error(generator({Array::of(std::vector<int64_t>{1})})); }, wrong, "[1]",
              "a shape");
  check_error([] { Dataset::from_tensor_slices(Array::scalar(int64_t{1})); }, wrong, "",
              "a scalar");
  check_error([] { Dataset::zip(std::vector<Dataset>{}); }, wrong, "", "zip of nothing");
  check_error([] { Dataset::range(3).batch(std::numeric_limits<int64_t>::min()); }, wrong, "",
              "min");
  check_error([] { Dataset::range(3).with_options({.threads = -1}); }, wrong, "threads", "threads");
  check_error([] { Dataset::range(3).at(-4); }, Code::out_of_range, "", "at(-4) of three");
  check_error([] { Dataset::range(3).resume(std::string("nonsense")); }, Code::data_loss, "",
              "a checkpoint that is none");
}

void values_of_other_functions() {
  const auto wrong = Code::invalid_argument;
  std::optional<Value> kept, made;
  const Dataset ds = Dataset::range(3).map([&](Value x) {
    kept = x;
    made = x + 1;
    return x;
  });
  check(integers(ds) == std::vector<int64_t>{0, 1, 2}, "a value may be kept");
  const std::string part = "argument 1 of another function";
  check_error([&] { ds.map([&](Value) { return *kept; }); }, wrong, part, "as another's result");
  check_error([&] { ds.map([&](Value x) { return x + *made; }); }, wrong, part, "what came of it");
  check_error([&] { ds.filter([&](Value x) { return x > *kept; }); }, wrong, part, "in a filter");
  check_error([&] { ds.stage("take", {*kept}); }, wrong, part, "as the argument of a stage");
  check_error([&] { ds.reduce(*kept, "(s, x) -> s + x"); }, wrong, part, "as an initial value");
  const auto error = error_of([&] { ds.map([&](Value) { return *kept; }); });
  check(error && error->node() == "map", "the error names the stage");

  std::optional<Value> second;
  Dataset::range(3).enumerate().map([&](Value, Value y) {
    second = y;
    return y;
  });
  check_error([&] { ds.map([&](Value) { return *second; }); }, wrong, "`y`, argument 2",
              "a second");

  // Functions inside functions: values of the outer one may be used inside, but not the reverse,
  // nor those of siblings.
  const auto map = [](const Value& in, const UserFunction& f) {
    return call("map", {in, f.value()});
  };
  const Dataset nested = ds.flat_map(
      [&](Value x) { return map(call("range", {2}), [&](Value y) { return x * 10 + y; }); });
  check(integers(nested) == std::vector<int64_t>{0, 1, 10, 11, 20, 21}, "outer values inside");
  std::optional<Value> inner;
  const auto leave = [&](Value y) {
    inner = y;
    return y;
  };
  check_error(
      [&] {
        ds.flat_map([&](Value x) {
          map(call("range", {2}), leave);
          return call("range", {x + *inner});
        });
      },
      wrong, part, "an inner value outside");
  check_error(
      [&] {
        ds.flat_map([&](Value) {
          const Value one = map(call("range", {2}), leave);
          return map(one, [&](Value y) { return y + *inner; });
        });
      },
      wrong, part, "an inner value in its neighbour");
  check_error(
      [&] {
        ds.map([](Value x) -> Value {
          throw Error(Code::not_found, "mine");
          return x;
        });
      },
      Code::not_found, "mine", "what a lambda throws leaves");
  check(integers(ds.map([](Value x) { return x + 1; })).size() == 3, "and recording is over");
}

}  // namespace

int main() {
  group("use after move", use_after_move);
  group("lifetimes", lifetimes);
  group("kept elements", kept_elements);
  group("threads", threads);
  group("huge shapes", huge_shapes);
  group("wrong types", wrong_types);
  group("values of other functions", values_of_other_functions);
  return closing_line();
}
