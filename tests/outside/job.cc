// The job layer as a stranger uses it: what a running pipeline did, why it is slow, a faster one.
// Usage: job SCRATCH_FOLDER

#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "check.h"

using namespace penstock;

namespace {

using Kind = ElementSpec::Kind;

void specs() {
  const ElementSpec spec = Dataset::parse("from_tensor_slices({image: zeros([2, 3]), "
                                          "words: ragged([[1], [2, 3]])}) | batch(2)")
                               .element_spec();
  check(spec.kind == Kind::dict && spec.keys == std::vector<std::string>{"image", "words"},
        "a spec has its keys");
  check(spec.parts[0].kind == Kind::tensor && spec.parts[0].type == Type::float32 &&
            spec.parts[0].shape == std::vector<int64_t>{-1, 3},
        "and its parts");
  check(spec.parts[1].kind == Kind::ragged && spec.parts[1].ragged_rank == 1, "a ragged part");
  check(spec.text() == "{image: float32[?, 3], words: ragged int64[?, ?]}", "the text of a spec");
  const ElementSpec windows = Dataset::range(6).stage("window", {3}).element_spec();
  check(windows.kind == Kind::dataset && windows.parts.size() == 1 &&
            windows.parts[0].type == Type::int64,
        "the spec of nested datasets");
}

void ragged_and_sparse() {
  Element e;
  Iterator rows =
      Dataset::parse("from_tensor_slices(ragged([[1], [2, 3], []])) | batch(3)").iterate();
  check(rows.next(&e) && e.kind() == Kind::ragged, "a ragged element");
  const RaggedArray ragged = e.ragged();
  const auto splits = ragged.splits.at(0).as<int64_t>();
  check(std::vector(splits.begin(), splits.end()) == std::vector<int64_t>{0, 1, 3, 3}, "splits");
  check(ragged.values.entries() == 3 && ragged.values.as<int64_t>()[2] == 3, "values");
  check(e.arrays().size() == 2 && e.same(e), "its arrays");
  check(error_of([&] { e.array(); })->code() == Code::invalid_argument, "which is no array");

  Iterator entries =
      Dataset::parse("from_tensors(sparse([[0, 2], [1, 0]], [5, 6], [2, 3]))").iterate();
  check(entries.next(&e) && e.kind() == Kind::sparse, "a sparse element");
  const SparseArray sparse = e.sparse();
  check(sparse.indices.shape().size() == 2 && sparse.indices.shape()[1] == 2 &&
            sparse.values.as<int64_t>()[1] == 6 && sparse.shape.as<int64_t>()[1] == 3,
        "its parts");
}

int64_t sum_of(const Dataset& ds) {
  int64_t sum = 0;
  for (const Element& e : ds) sum += e.value<int64_t>();
  return sum;
}

void nested() {
  int64_t sum = 0, windows = 0;
  Element kept;
  for (const Element& e : Dataset::range(6).stage("window", {3})) {
    kept = e;
    const Dataset inner = Dataset::nested(e);
    check(inner.element_spec().type == Type::int64, "the spec of a window");
    sum += sum_of(inner);
    ++windows;
  }
  check(windows == 2 && sum == 15, "windows are datasets");
  check(sum_of(Dataset::nested(kept)) == 12, "also after their iterator");
  sum = 0;
  for (const Element& e : Dataset::parse("range(4) | map(x -> range(x) | map(y -> y * x))")) {
    const Dataset inner = Dataset::nested(e);
    sum += sum_of(inner);
  }
  check(sum == 0 + 0 + 2 + 9, "datasets that use values of their element");
  check(error_of([] { Dataset::nested(Element()); })->code() == Code::invalid_argument,
        "none is no dataset");
}

void exchange() {
  Element e;
  Iterator batches = Dataset::parse("range(6) | map(x -> {image: fill([2, 3], float32(x)), "
                                    "name: format(\"n{}\", x), even: x % 2 == 0}) | batch(4)")
                         .iterate();
  check(batches.next(&e), "a batch");
  const Array images = e["image"].array();
  DlManagedTensor* tensor = to_dlpack(images);
  check(tensor->dl_tensor.data == images.data() && tensor->dl_tensor.ndim == 3 &&
            tensor->dl_tensor.shape[0] == 4 && tensor->dl_tensor.dtype_code == 2 &&
            tensor->dl_tensor.dtype_bits == 32,
        "DLPack shares the bytes");
  ArrowSchema schema;
  ArrowArray array;
  to_arrow(images, &schema, &array);
  check(std::string(schema.format) == "+w:2" && schema.n_children == 1 &&
            std::string(schema.children[0]->children[0]->format) == "f",
        "Arrow's schema: lists of lists of floats");
  const ArrowArray* floats = array.children[0]->children[0];
  check(array.length == 4 && floats->length == 24 && floats->buffers[1] == images.data(),
        "Arrow shares the bytes");
  const Array names = e["name"].array(), even = e["even"].array();
  e = Element();
  while (batches.next(&e)) {
  }
  check(static_cast<const float*>(tensor->dl_tensor.data)[23] == 3 &&
            static_cast<const float*>(floats->buffers[1])[23] == 3,
        "both keep them alive");
  tensor->deleter(tensor);
  schema.release(&schema);
  array.release(&array);
  check(!schema.release && !array.release, "what is released says so");

  to_arrow(names, &schema, &array);
  const auto* ends = static_cast<const int64_t*>(array.buffers[1]);
  check(std::string(schema.format) == "Z" && ends[4] == 8 &&
            std::string(static_cast<const char*>(array.buffers[2]), 8) == "n0n1n2n3",
        "strings for Arrow");
  schema.release(&schema);
  array.release(&array);
  to_arrow(even, &schema, &array);
  check(static_cast<const uint8_t*>(array.buffers[1])[0] == 0b0101, "booleans for Arrow");
  schema.release(&schema);
  array.release(&array);
  check_error([&] { to_dlpack(names); }, Code::invalid_argument, "strings",
              "DLPack has no strings");
  check_error([&] { to_arrow(Array::scalar(1.0), &schema, &array); }, Code::invalid_argument,
              "scalar", "a scalar has no items");
}

// An element that comes when the test says so.
void timeouts() {
  auto go = std::make_shared<std::atomic<bool>>(false);
  const Dataset ds = Dataset::generator({{ArrayType{Type::int64}}, {}}, [go]() -> RowSource {
                       return [go, i = int64_t{0}](std::vector<Array>* row) mutable {
                         while (i == 1 && !*go) std::this_thread::yield();
                         *row = {Array::scalar(i)};
                         return i++ < 3;
                       };
                     }).prefetch(1);
  Iterator iterator = ds.iterate();
  Element e;
  check(iterator.next(&e, 3600) == Iterator::Next::element && e.value<int64_t>() == 0,
        "an element in time");
  check(iterator.next(&e, 0.001) == Iterator::Next::timeout, "a timeout");
  check(iterator.next(&e, 0) == Iterator::Next::timeout, "another");
  *go = true;
  check(iterator.next(&e) && e.value<int64_t>() == 1, "nothing is lost by it");
  check(iterator.next(&e, INFINITY) == Iterator::Next::element, "the last");
  check(iterator.next(&e, 3600) == Iterator::Next::end, "the end");
  check(error_of([&] { iterator.next(&e, -1); })->code() == Code::invalid_argument,
        "a negative timeout is refused");
}

const job::StageStats* stage(const job::Stats& stats, const std::string& op) {
  for (const job::StageStats& s : stats.stages) {
    if (s.op == op) return &s;
  }
  return nullptr;
}

void running() {
  const Dataset ds = Dataset::range(1000)
                         .map("x -> 100 // (x % 10)", {{"num_parallel_calls", 2}})
                         .stage("ignore_errors")
                         .batch(9);
  Iterator iterator = ds.iterate();
  Element e;
  check(iterator.stats().elements == 0, "stats before the first element");
  for (int i = 0; i < 50; ++i) iterator.next(&e);
  const job::Stats half = iterator.stats();
  check(half.elements == 50 && !half.ended && half.seconds > 0, "stats of a running job");
  while (iterator.next(&e)) {
  }
  const job::Stats stats = iterator.stats();
  const job::StageStats* map = stage(stats, "map");
  check(stats.ended && stats.elements == 100, "stats after the end");
  check(map && map->elements == 1000 && map->errors == 100, "elements and errors of a stage");
  check(map && stats.stages.at(static_cast<size_t>(map->inputs.at(0))).op == "range", "its input");
  const std::vector<job::IgnoredErrors> ignored = iterator.ignored_errors();
  check(ignored.size() == 1 && ignored[0].stage == "ignore_errors" && ignored[0].count == 100 &&
            ignored[0].first.size() == 10,
        "errors that were ignored");
  check(iterator.notes().empty(), "no notes");
}

void measured(const std::string& folder) {
  const Dataset ds = Dataset::range(40'000).map("x -> reduce_sum(sort(fill([200], x)))").batch(100);
  const job::Trace trace = ds.trace({.seconds = 60, .elements = 200});
  check(trace.stats().elements == 200, "a traced run");
  const std::string file = folder + "/job.trace";
  trace.write(file);
  check(job::Trace::read(file).text() == trace.text(), "a trace is written and read");
  check(job::Trace::parse(trace.text()).program() == trace.program(), "and parsed");
  check(error_of([] { job::Trace::parse("no trace"); })->code() == Code::invalid_argument,
        "another text is refused");
  const job::Explanation why = job::explain(trace, {.consumer_seconds = 1000});
  check(!why.input_bound && why.holder == job::Holder::consumer,
        "a slow consumer waits for nothing");
  const job::Explanation bound = ds.explain({.seconds = 60, .elements = 200});
  check(bound.input_bound && bound.rate > 0 && !bound.verdict.empty(),
        "a consumer that only drains");
  check(bound.stages.size() == trace.stats().stages.size() && !bound.ceilings.empty(),
        "costs of stages, and ceilings");
  check(bound.text.find(bound.verdict.substr(0, 20)) != std::string::npos &&
            bound.json.starts_with("{"),
        "as text and as JSON");

  const Dataset::Optimization fast = ds.take(100).optimize({.trace_seconds = 0.2});
  check(fast.rate.low <= fast.rate.value && fast.rate.value <= fast.rate.high, "a prediction");
  std::vector<Element> a, b;
  for (const Element& e : ds.take(100)) a.push_back(e);
  for (const Element& e : fast.dataset) b.push_back(e);
  bool same = a.size() == 100 && a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i) same = a[i].same(b[i]);
  check(same, "the optimized pipeline returns the same elements");
  check(!fast.measured, "nothing is measured unless it is asked for");
  const Dataset::Optimization measured =
      ds.take(100).optimize({.trace_seconds = 0.2, .measure_seconds = 0.5});
  check(measured.measured && measured.measured->before > 0 && measured.measured->after > 0,
        "both plans are measured");
  check(Dataset::parse(fast.dataset.text()).text() == fast.dataset.text(), "and has a text");

  const Dataset failing = Dataset::range(10).map("x -> 1 // (x - 3)");
  check(error_of([&] { failing.explain(); }).has_value(), "an element that fails is the error");
  check(error_of([&] { Dataset::parse("range(3) | cardinality()").explain(); })->code() ==
            Code::failed_precondition,
        "a value is not explained");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  group("specs", specs);
  group("ragged and sparse", ragged_and_sparse);
  group("nested", nested);
  group("exchange", exchange);
  group("timeouts", timeouts);
  group("running", running);
  group("measured", [&] { measured(argv[1]); });
  return closing_line();
}
