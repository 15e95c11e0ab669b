// Uses the installed library like any user. Prints "N passed, N failed"; the exit status says the
// same. Usage: outside SCRATCH_FOLDER

#include <fstream>
#include <sstream>

#include "check.h"

using namespace penstock;

namespace {

bool same_elements(const Dataset& a, const Dataset& b) {
  Iterator i = a.iterate(), j = b.iterate();
  Element x, y;
  for (;;) {
    const bool more = i.next(&x);
    if (more != j.next(&y)) return false;
    if (!more) return true;
    if (!x.same(y)) return false;
  }
}

void chain(const std::string& folder) {
  const Dataset ds = Dataset::range(100)
                         .map([](Value x) { return dict({{"id", x}, {"square", x * x}}); })
                         .filter([](Value e) { return e["id"] % 2 == 0; })
                         .shuffle(10, {{"seed", 3}, {"reshuffle_each_iteration", false}})
                         .batch(8)
                         .prefetch(2);
  int64_t elements = 0, sum = 0;
  for (const Element& e : ds) {
    for (const int64_t v : e["square"].as<int64_t>()) {
      sum += v;
      ++elements;
    }
  }
  check(elements == 50, "50 elements");
  check(sum == 161700, "the sum of the even squares");
  check(ds.element_spec().text() == "{id: int64[?], square: int64[?]}", "the element spec");
  check(ds.cardinality() == Dataset::kUnknownElements, "a filter's cardinality");
  check(Dataset::parse(ds.text()).text() == ds.text(), "the text is a fixed point");
  check(same_elements(ds, Dataset::parse(ds.text())), "the text gives the same elements");
  check(same_elements(ds, ds.optimized()), "the optimised plan gives the same elements");

  const std::string file = folder + "/run.trace";
  ds.trace({.seconds = 10}).write(file);
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  check(text.str().find("\"program\"") != std::string::npos, "a trace is written");

  try {
    ds.batch(-1);
    check(false, "a wrong size is refused");
  } catch (const Error& e) {
    check(e.code() == Code::invalid_argument && e.node() == "batch", "the error names its stage");
  }
  Element kept;
  {
    Iterator iterator = Dataset::from_tensor_slices(std::vector<std::string>{"a", "bc"}).iterate();
    check(iterator.next(&kept) && iterator.next(&kept), "two strings");
  }
  check(kept.text() == "bc", "an element outlives its iterator");
}

// A dataset from a callable. `open` begins a pass; the function that it returns fills in the next
// element's arrays, one for each part of the type, and returns false at the end. An exception is an
// error at its position, and the function is called again; 1000 exceptions in a row end the pass.
// One thread at a time uses a pass; stages after it run in parallel as usual. Resuming from a
// checkpoint runs it from its beginning. Caches on disk, and checkpoints for other processes, need
// an identity: a string that names the version of code and data ("squares 1").
void generator() {
  const auto open = [] {
    return [i = int64_t{0}](std::vector<Array>* row) mutable {
      if (i == 4) return false;
      *row = {Array::scalar(i * i), Array::text(std::to_string(i))};
      ++i;
      return true;
    };
  };
  const Dataset squares =
      Dataset::generator({{{Type::int64}, {Type::bytes}}, {"square", "text"}}, open, "squares 1");
  const Dataset ds = squares.map([](Value x) { return x["square"] + 1; }).batch(2).repeat(2);
  check(ds.reduce(0, "(sum, x) -> sum + sum(x)").value<int64_t>() == 36, "a generator's elements");
}

// The items of arrays along axis 0, as from_tensor_slices emits them, for arrays of more than a few
// kilobytes: they are no part of the pipeline's text, its fingerprint, its traces and its
// checkpoints. `identity` stands for them there; left out, it is a hash of their contents, made
// when the dataset is. Give one for memory that another program or a mapped file owns (its name,
// size and time): it is then not read before its rows are asked for. With keys elements are dicts,
// else tuples, or the items of the one array. parse refuses the text.
void from_memory_source() {
  static const std::vector<float> pixels(3 * 64 * 64, 0.5F);
  const std::vector<int64_t> shape{3, 64, 64};
  const Array images = from_memory(Type::float32, shape, pixels.data(), [] {});
  const Array labels = Array::of(std::vector<int64_t>{7, 8, 9});
  const Dataset ds = Dataset::from_memory({images, labels}, {"image", "label"}, "digits 1");
  check(ds.text().size() < 200, "the text of a pipeline over memory is short");
  check(ds.at(2)["label"].value<int64_t>() == 9, "an element at an index");
}

void ask() {
  const Dataset squares = Dataset::range(10).map([](Value x) { return x * x; });
  check(squares.at(3).value<int64_t>() == 9, "the element at an index");
  try {
    squares.at(10);
    check(false, "an index behind the end is refused");
  } catch (const Error& e) {
    check(e.code() == Code::out_of_range, "an index behind the end is out of range");
  }
  check(squares.fingerprint().size() == 32, "a fingerprint of 32 digits");
  check(
      squares.fingerprint() == Dataset::range(10).map([](Value y) { return y * y; }).fingerprint(),
      "names do not count in it");
  check(squares.fingerprint() != squares.take(9).fingerprint(), "stages do");
}

void missing_values() {
  const Dataset ds = Dataset::range(2).map([](Value x) {
    return cond(x == 0, call("optional_of", {x}), call("optional_none", {name("int64")}));
  });
  check(ds.element_spec().text() == "optional int64", "the spec of an optional value");
  Iterator iterator = ds.iterate();
  Element there, missing;
  check(iterator.next(&there) && iterator.next(&missing), "two optional values");
  check(there.kind() == Element::Kind::optional && there.has_value(), "one that is there");
  check(there.value<int64_t>() == 0 && there.same(there), "its value");
  check(!missing.has_value() && missing.arrays().empty(), "one that is missing");
  check(!missing.same(there), "they differ");
  try {
    missing.array();
    check(false, "a missing value is no array");
  } catch (const Error& e) {
    check(e.code() == Code::failed_precondition, "a missing value is no array");
  }
}

void extend() {
  SourceDefinition fibonacci;
  fibonacci.name = "fibonacci";
  fibonacci.doc = "The first n Fibonacci numbers.";
  fibonacci.parameters = {{"n", Parameter::Kind::integer, std::nullopt}};
  fibonacci.element = [](const Arguments&) { return ElementType{{ArrayType{Type::int64}}, {}}; };
  fibonacci.open = [](const Arguments& arguments) -> RowSource {
    return [left = arguments.integer("n"), a = int64_t{0},
            b = int64_t{1}](std::vector<Array>* row) mutable {
      if (left-- <= 0) return false;
      *row = {Array::scalar(a)};
      const int64_t next = a + b;
      a = b;
      b = next;
      return true;
    };
  };
  register_source(fibonacci);

  OpDefinition spell;
  spell.name = "spell";
  spell.doc = "A number as text behind a prefix.";
  spell.inputs = {"x"};
  spell.parameters = {{"prefix", Parameter::Kind::text, std::string("#")}};
  spell.infer = [](std::span<const ArrayType> in, const Arguments&) {
    if (in[0].type != Type::int64) throw Error(Code::invalid_argument, "expected int64");
    return std::vector<ArrayType>{{Type::bytes, std::vector<int64_t>{}}};
  };
  spell.row = [](std::span<const Array> in, const Arguments& arguments) {
    return std::vector<Array>{
        Array::text(arguments.text("prefix") + std::to_string(in[0].value<int64_t>()))};
  };
  register_op(spell);

  DatasetOperatorDefinition changes;
  changes.name = "changes";
  changes.doc = "Differences of neighbours.";
  changes.open = [](RowSource input, const Arguments&) -> RowSource {
    return [input, last = int64_t{0}, begun = false](std::vector<Array>* row) mutable {
      std::vector<Array> in;
      if (!begun) {
        begun = true;
        if (!input(&in)) return false;
        last = in[0].value<int64_t>();
      }
      if (!input(&in)) return false;
      const int64_t now = in[0].value<int64_t>();
      *row = {Array::scalar(now - last)};
      last = now;
      return true;
    };
  };
  register_dataset_operator(changes);

  check(
      integers(Dataset::source("fibonacci", {8})) == std::vector<int64_t>{0, 1, 1, 2, 3, 5, 8, 13},
      "a source from C++");
  check(integers(Dataset::parse("fibonacci(8) | changes()")) ==
            std::vector<int64_t>{1, 0, 1, 1, 2, 3, 5},
        "a dataset operator from text");
  check(
      integers(Dataset::range(5).stage("changes").prefetch(1)) == std::vector<int64_t>{1, 1, 1, 1},
      "a dataset operator from C++");
  std::string all;
  for (const Element& e : Dataset::range(3).map([](Value x) { return call("spell", {x}); }))
    all += e.text();
  for (const Element& e : Dataset::parse("fibonacci(4) | map(x -> spell(x, prefix=\"f\"))"))
    all += e.text();
  check(all == "#0#1#2f0f1f1f2", "an op from C++ and from text");
  try {
    Dataset::parse("range(3) | map(x -> spell(float32(x)))");
    check(false, "a wrong input is refused");
  } catch (const Error& e) {
    check(e.message().find("expected int64") != std::string::npos, "the op's own message is shown");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    chain(argc > 1 ? argv[1] : ".");
    generator();
    from_memory_source();
    ask();
    missing_values();
    extend();
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    ++failed;
  }
  return closing_line();
}
