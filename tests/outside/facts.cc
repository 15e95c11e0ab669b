// Operators of a program's own that state facts about themselves are treated as built-in ones are.
// Usage: facts SCRATCH_FOLDER

#include <algorithm>
#include <atomic>
#include <fstream>

#include "check.h"

using namespace penstock;

namespace {

std::atomic<int64_t> rows_read{0};

using Row = std::vector<Array>;

RowSource passing(RowSource input) {
  return [input = std::move(input)](Row* row) {
    const bool more = input(row);
    rows_read += more ? 1 : 0;
    return more;
  };
}

// Keeps even numbers, or records that are not empty.
RowSource sifting(RowSource input) {
  return [input = std::move(input)](Row* row) {
    while (input(row)) {
      const Array& x = (*row)[0];
      if (x.type() == Type::int64 ? x.value<int64_t>() % 2 == 0 : !x.text().empty()) return true;
    }
    return false;
  };
}

RowSource doubling(RowSource input) {
  return [input = std::move(input), kept = Row(), again = false](Row* row) mutable {
    if (!again && !input(&kept)) return false;
    again = !again;
    *row = kept;
    return true;
  };
}

RowSource shortened(RowSource input) {
  return [input = std::move(input), first = Row(), read = false](Row* row) mutable {
    while (input(row)) {
    }
    return false;
  };
}

using Opener = RowSource (*)(RowSource);

void add(const std::string& name, Opener open, const OperatorFacts& facts) {
  DatasetOperatorDefinition op;
  op.name = name;
  op.open = [open](RowSource input, const Arguments&) { return open(std::move(input)); };
  op.identity = name;
  op.facts = facts;
  register_dataset_operator(op);
}

OperatorFacts facts_of(Relation relation, bool hands_on = false, bool stateless = false) {
  OperatorFacts out;
  out.relation = relation;
  out.hands_on = hands_on;
  out.stateless = stateless;
  return out;
}

void register_all() {
  add("tap", passing, facts_of(Relation::same, true, true));
  add("silent_tap", passing, {});
  add("sift", sifting, facts_of(Relation::subset, false, true));
  add("silent_sift", sifting, {});
  add("twice", doubling, facts_of(Relation::multiply));
  add("joined", passing, facts_of(Relation::regroup));
  add("wrong_same", doubling, facts_of(Relation::same));
  add("wrong_short", shortened, facts_of(Relation::same));
  add("wrong_subset", doubling, facts_of(Relation::subset));
}

// The first error of a pipeline over the lines of a file, of which one is not a number.
std::string line_error(const std::string& path, const std::string& stage) {
  const Dataset ds = Dataset::text_line(path).apply(stage + " | map(s -> to_number(s))");
  Iterator iterator = ds.iterate();
  Element e;
  try {
    while (iterator.next(&e)) {
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void records(const std::string& folder) {
  const std::string path = folder + "/lines";
  std::ofstream(path) << "1\n2\nx\n4\n";
  for (const char* stage : {"tap()", "sift()", "twice()", "tap() | sift()"})
    check(line_error(path, stage).find(path + ", record 2") != std::string::npos,
          std::string("after ") + stage + " an error names its record: " + line_error(path, stage));
  for (const char* stage : {"silent_tap()", "joined()"})
    check(line_error(path, stage).find(path) == std::string::npos,
          std::string("after ") + stage + " it names none");
}

void lineages() {
  const auto drawn = [](const std::string& stage) {
    return integers(Dataset::parse(
        "range(20)" + stage + " | map(x -> x * 1000 + random_uniform((), 0, 999, int64, seed=3))"));
  };
  const std::vector<int64_t> plain = drawn("");
  check(drawn(" | tap()") == plain, "random ops draw by the input's element");
  check(drawn(" | sift()") == drawn(" | filter(x -> x % 2 == 0)"), "also of those that are left");
  const std::vector<int64_t> copies = drawn(" | twice()");
  bool first = copies.size() == 40, differ = false;
  for (size_t i = 0; i < plain.size() && first; ++i) {
    first = copies[2 * i] == plain[i];
    differ |= copies[2 * i + 1] != plain[i];
  }
  check(first && differ, "copies draw by the element and their number");
}

void rewrites() {
  const auto text = [](const std::string& stage) {
    return Dataset::parse("range(9) | map(x -> {a: x, b: x * 2}) | " + stage +
                          "() | map({a, **_} -> a)")
        .optimized()
        .text();
  };
  check(text("tap").find("b:") == std::string::npos, "an unused component is not computed");
  check(text("silent_tap").find("b:") != std::string::npos, "unless nothing is stated");
  check(Dataset::range(9).stage("tap").cardinality() == 9, "same: the cardinality is the input's");
  check(Dataset::range(9).stage("sift").cardinality() < 0, "subset: it is unknown");
  const job::Explanation explained = Dataset::parse("range(4000) | tap() | sift()").explain();
  check(explained.stages.size() == 3, "explained");
}

std::vector<int64_t> rest_of(const Dataset& ds, const std::vector<std::string>& saved) {
  std::vector<int64_t> out;
  Iterator iterator = ds.resume(saved);
  for (Element e; iterator.next(&e);) out.push_back(e.value<int64_t>());
  return out;
}

void checkpoints() {
  Options options;
  options.checkpoints = true;
  options.block_rows = 16;
  for (const std::string stage : {"tap() | sift()", "silent_tap()"}) {
    const Dataset ds =
        Dataset::parse("range(1000) | map(x -> x * 2) | tap() | " + stage).with_options(options);
    Iterator iterator = ds.iterate();
    Element e;
    for (int i = 0; i < 600; ++i) iterator.next(&e);
    const std::string saved = iterator.save();
    rows_read = 0;
    std::vector<int64_t> rest;
    Iterator again = ds.resume(saved);
    while (again.next(&e)) rest.push_back(e.value<int64_t>());
    check(rest.size() == 400 && rest[0] == 1200, stage + ": resumed at its position");
    // `tap` before it counts, and so does silent_tap.
    check(stage == "silent_tap()" ? rows_read > 1400 : rows_read <= 450,
          stage + ": " + std::to_string(rows_read) + " rows are read on resume");
  }
}

void ranks() {
  Options options;
  options.checkpoints = true;
  options.block_rows = 4;
  const auto part = [&](const std::string& stages, int n, int rank) {
    return Dataset::parse("range(200) | shard(" + std::to_string(n) + ", " + std::to_string(rank) +
                          ") | " + stages)
        .with_options(options);
  };
  std::vector<int64_t> seen;
  std::vector<std::string> saved;
  for (int rank = 0; rank < 2; ++rank) {
    Iterator iterator = part("tap() | sift()", 2, rank).iterate();
    Element e;
    for (int i = 0; i < 20 && iterator.next(&e); ++i) seen.push_back(e.value<int64_t>());
    saved.push_back(iterator.save());
  }
  for (int rank = 0; rank < 3; ++rank) {
    for (const int64_t x : rest_of(part("tap() | sift()", 3, rank), saved)) seen.push_back(x);
  }
  std::sort(seen.begin(), seen.end());
  std::vector<int64_t> all(100);
  for (size_t i = 0; i < all.size(); ++i) all[i] = 2 * static_cast<int64_t>(i);
  check(seen == all, "two ranks become three: " + std::to_string(seen.size()) + " elements");
  Iterator iterator = part("silent_tap()", 1, 0).iterate();
  check_error([&] { rest_of(part("silent_tap()", 2, 0), {iterator.save()}); },
              Code::failed_precondition, "silent_tap",
              "an operator that states nothing is refused");
}

void wrong_facts() {
  const auto first_error = [](const std::string& stage) {
    Iterator iterator = Dataset::range(5).stage(stage).iterate();
    for (Element e; iterator.next(&e);) {
    }
  };
  const auto code = Code::failed_precondition;
  check_error([&] { first_error("wrong_same"); }, code, "Relation::same", "one more");
  check_error([&] { first_error("wrong_short"); }, code, "before its input", "none at all");
  check_error([&] { first_error("wrong_subset"); }, code, "Relation::subset", "two for one");
  const auto refused = Code::invalid_argument;
  check_error([] { add("x1", passing, facts_of(Relation::unknown, true)); }, refused, "hands_on",
              "hands_on of an unknown relation");
  check_error([] { add("x2", passing, facts_of(Relation::multiply, false, true)); }, refused,
              "stateless", "stateless that multiplies");
  OperatorFacts cut = facts_of(Relation::same);
  cut.cuts = true;
  check_error([&] { add("x3", passing, cut); }, refused, "cuts", "same that cuts");
  check(Dataset::range(3).stage("tap").apply("ignore_errors()").cardinality() != 0, "and the rest");
}

void sources() {
  SourceDefinition source;
  source.name = "counted";
  source.parameters = {{"promised", Parameter::Kind::integer, {}}};
  source.element = [](const Arguments&) { return ElementType{{ArrayType{}}, {}}; };
  source.open = [](const Arguments&) -> RowSource {
    return [i = int64_t{0}](Row* row) mutable {
      if (i == 5) return false;
      *row = {Array::scalar(i++)};
      return true;
    };
  };
  source.cardinality = [](const Arguments& a) -> std::optional<int64_t> {
    return a.integer("promised");
  };
  register_source(source);
  const auto counted = [](int64_t n) { return Dataset::source("counted", {n}); };
  check(counted(5).cardinality() == 5 && integers(counted(5)).size() == 5, "a source's promise");
  check_error([&] { integers(counted(6)); }, Code::failed_precondition, "promises 6, there are 5",
              "a wrong one");
  check_error([&] { counted(-3); }, Code::invalid_argument, "cardinality", "no number");
}

void ops() {
  OpDefinition op;
  op.name = "plus";
  op.inputs = {"a", "b"};
  op.infer = [](std::span<const ArrayType> in, const Arguments&) {
    return std::vector<ArrayType>{in[0].shape && in[0].shape->empty() ? in[1] : in[0]};
  };
  op.row = [](std::span<const Array> in, const Arguments&) {
    const bool swap = in[0].entries() < in[1].entries();
    const std::span<const float> a = in[swap ? 1 : 0].as<float>(), b = in[swap ? 0 : 1].as<float>();
    std::vector<float> out;
    for (size_t i = 0; i < a.size(); ++i) out.push_back(a[i] + b[b.size() == 1 ? 0 : i]);
    return Row{Array::of(std::span<const float>(out),
                         {in[swap ? 1 : 0].shape().begin(), in[swap ? 1 : 0].shape().end()})};
  };
  op.elementwise = true;
  op.never_fails = true;
  register_op(op);
  const Element e = Dataset::range(3).map("x -> plus(float32(x), 1)").skip(2).get_single_element();
  check(e.value<float>() == 3, "a literal takes the dtype of the other input");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  register_all();
  group("records", [&] { records(folder); });
  group("lineages", lineages);
  group("rewrites", rewrites);
  group("checkpoints", checkpoints);
  group("ranks", ranks);
  group("wrong facts", wrong_facts);
  group("sources", sources);
  group("ops", ops);
  return closing_line();
}
