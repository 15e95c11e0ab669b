// Generators and registered ops that throw, that never end, and that differ only in their identity.
// Usage: user_code SCRATCH_FOLDER (it calls itself as: user_code save|resume CHECKPOINT
// GENERATORS_BEFORE IDENTITY)

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>

#include "check.h"

using namespace penstock;

namespace {

const ElementType kNumber{{ArrayType{Type::int64}}, {}};
using Opener = std::function<RowSource()>;

// Emits 0, 1, ... n - 1, each times `factor`; `thrower` throws once, before element `at`.
Opener numbers(int64_t n, int64_t factor = 1, int64_t at = -1, std::function<void()> thrower = {}) {
  return [=]() -> RowSource {
    return [=, i = int64_t{0}, thrown = false](std::vector<Array>* row) mutable {
      if (i == at && !thrown) {
        thrown = true;
        thrower();
      }
      if (i == n) return false;
      *row = {Array::scalar(factor * i++)};
      return true;
    };
  };
}

// Returns "0 1 UNKNOWN 2": elements and codes.
std::string run(const Dataset& ds, std::string* last_error = nullptr, int most = 5000) {
  std::string out;
  Iterator iterator = ds.iterate();
  Element e;
  for (int i = 0; i < most; ++i) {
    if (i > 0) out += ' ';
    try {
      if (!iterator.next(&e)) return out + "end";
      out += std::to_string(e.value<int64_t>());
    } catch (const Error& error) {
      out += code_name(error.code());
      if (last_error) *last_error = error.what();
    }
  }
  return out;
}

struct Thrown {
  const char* what;
  std::function<void()> f;
  std::string code;
};

const std::vector<Thrown>& throwers() {
  static const std::vector<Thrown> all = {
      {"an Error", [] { throw Error(Code::unavailable, "later"); }, "UNAVAILABLE"},
      {"Error CANCELLED", [] { throw Error(Code::cancelled, "not I"); }, "UNKNOWN"},
      {"Error INTERNAL", [] { throw Error(Code::internal, "mine"); }, "INTERNAL"},
      {"a std::exception", [] { throw std::runtime_error("oh"); }, "UNKNOWN"},
      {"bad_alloc", [] { throw std::bad_alloc(); }, "RESOURCE_EXHAUSTED"},
      {"a number", [] { throw 42; }, "UNKNOWN"},
  };
  return all;
}

int64_t thrower_of_op = -1;  // index of the thrower that the op `throws` uses

std::vector<Array> throw_at_two(std::span<const Array> in, const Arguments&) {
  if (in[0].value<int64_t>() == 2) throwers()[static_cast<size_t>(thrower_of_op)].f();
  return {in[0]};
}

void register_throwing() {
  OpDefinition op;
  op.name = "throws";
  op.inputs = {"x"};
  op.infer = [](std::span<const ArrayType> in, const Arguments&) {
    return std::vector<ArrayType>{in[0]};
  };
  op.row = throw_at_two;
  register_op(op);
  OpDefinition wrong = op;
  wrong.name = "throws_in_infer";
  wrong.infer = [](std::span<const ArrayType>, const Arguments&) -> std::vector<ArrayType> {
    throw std::out_of_range("infer");
  };
  register_op(wrong);
  SourceDefinition source;
  source.name = "throws_in_element";
  source.element = [](const Arguments&) -> ElementType { throw std::out_of_range("element"); };
  source.open = [](const Arguments&) { return numbers(3)(); };
  register_source(source);
  DatasetOperatorDefinition stage;
  stage.name = "throwing_stage";
  stage.open = [](RowSource input, const Arguments&) -> RowSource {
    return [input, i = 0](std::vector<Array>* row) {
      const bool more = input(row);
      if (more && (*row)[0].value<int64_t>() == 2)
        throwers()[static_cast<size_t>(thrower_of_op)].f();
      return more;
    };
  };
  register_dataset_operator(stage);
  stage.name = "throws_forever";
  stage.open = [](RowSource, const Arguments&) -> RowSource {
    return [](std::vector<Array>*) -> bool { throw std::runtime_error("again"); };
  };
  register_dataset_operator(stage);
}

void exceptions() {
  for (size_t i = 0; i < throwers().size(); ++i) {
    const Thrown& t = throwers()[i];
    const std::string all = "0 1 " + t.code + " 2 3 end", cut = "0 1 " + t.code + " 3 end";
    thrower_of_op = static_cast<int64_t>(i);
    const Dataset generator = Dataset::generator(kNumber, numbers(4, 1, 2, t.f));
    check(run(generator) == all, std::string("a generator throws ") + t.what);
    check(run(generator.prefetch(2)) == all, std::string("before a prefetch ") + t.what);
    check(run(generator.map("x -> x", {{"num_parallel_calls", 2}})) == all,
          std::string("before a parallel map ") + t.what);
    check(run(generator.apply("ignore_errors()")) == "0 1 2 3 end",
          std::string("before ignore_errors ") + t.what);
    const Dataset op = Dataset::range(4).map("x -> throws(x)");
    check(run(op) == cut, std::string("an op throws ") + t.what);
    check(run(op.prefetch(2)) == cut, std::string("an op before a prefetch throws ") + t.what);
    check(run(Dataset::range(4).map("x -> throws(x)", {{"num_parallel_calls", 2}})) == cut,
          std::string("a parallel op throws ") + t.what);
    check(run(Dataset::range(4).stage("throwing_stage").prefetch(1)) == cut,
          std::string("an operator throws ") + t.what);
    const auto opening = [&] {
      run(Dataset::generator(kNumber, [&]() -> RowSource {
        t.f();
        return {};
      }));
    };
    const std::optional<Error> error = error_of(opening);
    check(error && code_name(error->code()) == t.code, std::string("`open` throws ") + t.what);
  }
  const auto wrong = Code::invalid_argument;
  check_error([] { Dataset::generator(kNumber, {}); }, wrong, "open", "no `open`");
  check_error([] { run(Dataset::generator(kNumber, [] { return RowSource(); })); }, wrong, "empty",
              "an empty RowSource");
  check_error([] { Dataset::range(3).map("x -> throws_in_infer(x)"); }, wrong, "infer", "infer");
  check_error([] { Dataset::source("throws_in_element"); }, Code::unknown, "element", "element");
  std::string said;
  check(run(Dataset::range(3).map("x -> throws(x)"), &said) == "0 1 UNKNOWN end" &&
            said.find("throws") != std::string::npos,
        "the error names the op");
}

void throws_forever() {
  int calls = 0;
  const Dataset ds = Dataset::generator(kNumber, [&calls]() -> RowSource {
    return [&calls](std::vector<Array>* row) {
      if (++calls > 3) throw std::runtime_error("always");
      *row = {Array::scalar(int64_t{calls})};
      return true;
    };
  });
  std::string said;
  const std::string given = run(ds, &said);
  check(given.starts_with("1 2 3 UNKNOWN UNKNOWN") && given.ends_with("UNKNOWN end"),
        "a generator that always throws ends: " + given.substr(given.size() - 20));
  check(calls == 1003 && said.find("1000 times") != std::string::npos,
        "after 1000 throws: " + said);
  calls = 0;
  check(run(ds.apply("ignore_errors()").prefetch(2)) == "1 2 3 end", "and so do stages after it");
  const std::string stage = run(Dataset::range(3).stage("throws_forever"));
  check(stage.ends_with("UNKNOWN end"), "an operator that always throws ends");
  int passes = 0;
  const Dataset once = Dataset::generator(kNumber, [&passes]() -> RowSource {
    if (++passes > 1) throw std::runtime_error("once only");
    return numbers(2)();
  });
  check(run(once.repeat()) == "0 1 UNKNOWN end", "a pass that cannot be opened ends a repeat");
  // Errors of the input do not end the stage.
  const Dataset failing = Dataset::range(3000).map("x -> 1 // (x // 2999)").stage("throwing_stage");
  thrower_of_op = 0;
  check(run(failing.apply("ignore_errors()")) == "1 end", "2999 failed elements in a row");
}

void register_counting(const std::string& name, int64_t n, const std::string& identity) {
  OpDefinition op;
  op.name = name;
  op.inputs = {"x"};
  op.infer = [](std::span<const ArrayType> in, const Arguments&) {
    return std::vector<ArrayType>{in[0]};
  };
  op.row = [n](std::span<const Array> in, const Arguments&) {
    return std::vector<Array>{Array::scalar(in[0].value<int64_t>() + n)};
  };
  op.identity = identity;
  register_op(op);
}

void caches(const std::string& folder) {
  const std::string dir = folder + "/cache";
  const auto refused = Code::failed_precondition;
  const Dataset plain = Dataset::generator(kNumber, numbers(3));
  check_error([&] { plain.cache(dir); }, refused, "`generator` has no identity", "cache(dir)");
  check_error([&] { plain.map("x -> x").stage("snapshot", {dir}); }, refused, "`generator`",
              "snapshot");
  check_error([&] { Dataset::range(3).map("x -> throws(x)").cache(dir); }, refused, "`throws`",
              "an op without an identity");
  check_error([&] { Dataset::range(2).flat_map("x -> range(x) | map(y -> throws(y))").cache(dir); },
              refused, "`throws`", "an op in a pipeline in a function");
  check_error([&] { Dataset::range(3).stage("throwing_stage").cache(dir); }, refused,
              "`throwing_stage`", "an operator without an identity");
  check(integers(plain.cache()) == std::vector<int64_t>{0, 1, 2}, "memory caches need none");

  const auto cached = [&](int64_t factor, const std::string& identity) {
    return integers(Dataset::generator(kNumber, numbers(3, factor), identity).cache(dir));
  };
  const std::vector<int64_t> one{0, 1, 2}, ten{0, 10, 20};
  check(cached(1, "ones") == one && cached(10, "tens") == ten, "each identity has its entry");
  check(cached(100, "tens") == ten, "an identity is what the entry goes by");
  register_counting("adds_a", 1, "adds 1");
  register_counting("adds_b", 2, "adds 2");
  check(
      integers(Dataset::range(2).map("x -> adds_a(x)").cache(dir)) == std::vector<int64_t>{1, 2} &&
          integers(Dataset::range(2).map("x -> adds_b(x)").cache(dir)) ==
              std::vector<int64_t>{2, 3},
      "ops with identities are cached");
  check(plain.fingerprint() != Dataset::generator(kNumber, numbers(3)).fingerprint() &&
            plain.fingerprint() == plain.fingerprint(),
        "without an identity each generator is another one");
  const auto named = [] { return Dataset::generator(kNumber, numbers(3), "three"); };
  check(named().fingerprint() == named().fingerprint(), "with one, equal ones are equal");
  check(named().text().starts_with("generator(identity=\"three\")"),
        "the identity stands in the text: " + named().text());
  check(error_of([&] { Dataset::parse(named().text()); }).has_value(), "which is not for parse");
}

void freed() {
  std::weak_ptr<int> alive;
  std::optional<Iterator> iterator;
  {
    const auto large = std::make_shared<int>(1);
    alive = large;
    const auto open = [large]() -> RowSource { return numbers(3)(); };
    const Dataset ds = Dataset::generator(kNumber, open).map("x -> x + 1").batch(2);
    iterator = ds.iterate();
  }
  check(!alive.expired(), "an iterator keeps its generator");
  Element e;
  check(iterator->next(&e) && e.as<int64_t>()[1] == 2, "and uses it");
  iterator.reset();
  check(alive.expired(), "a generator is freed with the last that needs it");
}

void checkpoints() {
  const auto saved_at = [](const Dataset& ds, int n) {
    Iterator iterator = ds.iterate();
    Element e;
    for (int i = 0; i < n; ++i) iterator.next(&e);
    return iterator.save();
  };
  const auto rest = [](const Dataset& ds, const std::string& saved) {
    std::vector<int64_t> out;
    Iterator iterator = ds.resume(saved);
    Element e;
    while (iterator.next(&e)) out.push_back(e.value<int64_t>());
    return out;
  };
  const auto refused = Code::failed_precondition;
  const std::vector<int64_t> left{2, 3};
  const Dataset plain = Dataset::generator(kNumber, numbers(4)).map("x -> x");
  check(rest(plain, saved_at(plain, 2)) == left, "the same dataset resumes without an identity");
  const Dataset other = Dataset::generator(kNumber, numbers(4)).map("x -> x");
  check_error([&] { rest(other, saved_at(plain, 2)); }, refused, "`generator` has no identity",
              "another generator does not");
  const auto named = [](const std::string& identity) {
    return Dataset::generator(kNumber, numbers(4), identity).map("x -> x");
  };
  check(rest(named("four"), saved_at(named("four"), 2)) == left, "one of the same identity does");
  check_error([&] { rest(named("five"), saved_at(named("four"), 2)); }, refused, "`generator`",
              "one of another identity does not");
}

// Runs in a process of its own: builds `before` generators before the one under test.
int as_other_process(char** arguments) {
  for (int i = 0; i < std::atoi(arguments[3]); ++i) Dataset::generator(kNumber, numbers(1));
  const Dataset ds = Dataset::generator(kNumber, numbers(4), arguments[4]);
  if (std::strcmp(arguments[1], "save") == 0) {
    Iterator iterator = ds.iterate();
    Element e;
    iterator.next(&e);
    iterator.next(&e);
    std::ofstream(arguments[2]) << iterator.save();
    return 0;
  }
  std::ifstream in(arguments[2]);
  std::stringstream saved;
  saved << in.rdbuf();
  try {
    Iterator iterator = ds.resume(saved.str());
    Element e;
    return iterator.next(&e) && e.value<int64_t>() == 2 ? 0 : 1;
  } catch (const Error& e) {
    const bool good = e.code() == Code::failed_precondition &&
                      e.message().find("`generator` has no identity") != std::string::npos;
    return good ? 2 : 3;
  }
}

void other_processes(const std::string& program, const std::string& folder) {
  const auto status = [&](const std::string& arguments) {
    const int all = std::system((program + " " + arguments).c_str());
    return all >= 0 ? all >> 8 : -1;
  };
  const std::string file = folder + "/checkpoint";
  check(status("save " + file + " 0 numbers") == 0, "a checkpoint is saved");
  check(status("resume " + file + " 0 numbers") == 0, "another process resumes it");
  check(status("resume " + file + " 3 numbers") == 0, "whatever generators it built before");
  check(status("save " + file + " 0 ''") == 0, "one without an identity is saved");
  check(status("resume " + file + " 0 ''") == 2, "and refused in another process, by name");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5) return as_other_process(argv);
  const std::string folder = argc > 1 ? argv[1] : ".";
  register_throwing();
  group("exceptions", exceptions);
  group("throws forever", throws_forever);
  group("caches", [&] { caches(folder); });
  group("freed", freed);
  group("checkpoints", checkpoints);
  group("other processes", [&] { other_processes(argv[0], folder); });
  return closing_line();
}
