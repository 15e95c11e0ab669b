// Pipelines: built by method chains or read from text, then iterated.
//
//   Dataset ds = Dataset::files("train-*.tfrecord").interleave("f ->
//   tfrecord(f)").shuffle(1000).batch(32); for (const Element& e : ds) use(e);
//
// A Dataset is a cheap handle to an immutable plan: every method gives a new one. Mistakes are
// found when a stage is built: Error{INVALID_ARGUMENT and the like} whose node() names the stage.
// All methods are thread-safe. Options that a method has no parameter for are given by name, as in
// text: shuffle(1000, {{"seed", 7}}), map(f, {{"num_parallel_calls", 4}}).
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/error.h"
#include "penstock/extend.h"
#include "penstock/function.h"
#include "penstock/iterator.h"
#include "penstock/job.h"
#include "penstock/tensor.h"

namespace penstock {

struct Options {
  int threads = 0;           // 0: all usable cores
  int64_t memory_bytes = 0;  // budget of buffers; 0: three quarters of what the process may use
  int64_t block_rows = 4096;
  bool optimize = true;  // rewrites, and values for knobs left to Penstock
  bool latency = false;  // no work ahead of demand
  // Iterators keep track of where each stage stands, so that what Iterator::save gives is cheap to
  // go on from. Keeps the order of stages with deterministic=false, too.
  bool checkpoints = false;
  uint64_t seed = 0;  // of stages built after this and without a seed of their own
  // Values for knobs left to Penstock move while an iterator is used (docs/tuner.md); false: they
  // stay as at the start. Needs `optimize`. Elements and their order stay the same.
  bool tune = true;
};

using Settings = std::map<std::string, std::string>;  // values of a file's params, as text

class Dataset {
 public:
  static constexpr int64_t kInfiniteElements = -1;
  static constexpr int64_t kUnknownElements = -2;

  // Sources
  static Dataset range(int64_t stop);
  static Dataset range(int64_t start, int64_t stop, int64_t step = 1, Named named = {});
  static Dataset from_tensor_slices(const std::vector<int64_t>& values);
  static Dataset from_tensor_slices(const std::vector<float>& values);
  static Dataset from_tensor_slices(const std::vector<std::string>& values);
  static Dataset from_tensor_slices(const Array& values);
  // Arrays of one first size, sliced together: elements are dicts.
  static Dataset from_tensor_slices(const std::vector<std::pair<std::string, Array>>& columns);
  static Dataset from_tensor_slices(const std::vector<Array>& columns);  // elements are tuples
  // The same for large arrays: they are no part of the pipeline's text, fingerprint and traces,
  // where `identity` stands for them. Left out, it is a hash of their contents, made now: give one
  // for a file that is mapped into memory, so that it is not read for it. The text of such a
  // pipeline is for people: parse refuses it. Elements are dicts; without keys, tuples, or the
  // items of one array.
  static Dataset from_memory(const std::vector<Array>& columns,
                             const std::vector<std::string>& keys = {},
                             const std::string& identity = {});
  static Dataset files(const std::string& pattern, Named named = {});  // names of files
  static Dataset tfrecord(const std::string& file, Named named = {});
  static Dataset tfrecord(const std::vector<std::string>& files, Named named = {});
  static Dataset text_line(const std::string& file, Named named = {});
  static Dataset text_line(const std::vector<std::string>& files, Named named = {});
  // Any source, those of register_source included.
  static Dataset source(const std::string& name, std::vector<Value> args = {}, Named named = {});
  // The elements that a callable gives: `open` begins a pass, what it returns gives the next
  // element's arrays and false at the end; it is used by one thread at a time. For `identity`,
  // errors and the end see extend.h. The callable is freed with the last dataset and iterator over
  // it; the text of such a pipeline is for people: parse refuses it.
  static Dataset generator(const ElementType& element, std::function<RowSource()> open,
                           const std::string& identity = {});
  // A pipeline's text; a text may end in a value (see value()).
  static Dataset parse(const std::string& text, const Settings& settings = {});
  static Dataset read(const std::string& path, const Settings& settings = {});

  // Row by row
  Dataset map(const UserFunction& f, Named named = {}) const;
  Dataset filter(const UserFunction& predicate) const;
  Dataset enumerate(int64_t start = 0) const;
  // One to many: f gives a dataset, as in [](Value x) { return call("range", {x}); }
  Dataset flat_map(const UserFunction& f) const;
  Dataset interleave(const UserFunction& f, Named named = {}) const;
  // Order and extent
  Dataset shuffle(int64_t buffer_size, Named named = {}) const;
  Dataset repeat() const;
  Dataset repeat(int64_t count) const;
  Dataset take(int64_t count) const;
  Dataset skip(int64_t count) const;
  Dataset shard(int64_t num_shards, int64_t index) const;
  // Many to one
  Dataset batch(int64_t size, bool drop_remainder = false, Named named = {}) const;
  Dataset padded_batch(int64_t size, Named named = {}) const;
  // Several
  static Dataset zip(const std::vector<Dataset>& datasets);
  static Dataset zip(const std::vector<std::pair<std::string, Dataset>>& datasets);
  // Any operator. In the arguments, functions included, input(i) stands for datasets[i]:
  // combine("choose_from_datasets", {a, b, c}, {list({input(0), input(1)}), input(2)}).
  static Dataset combine(const std::string& name, const std::vector<Dataset>& datasets,
                         std::vector<Value> args, Named named = {});
  static Value input(size_t i);
  Dataset concatenate(const Dataset& other) const;
  // Materialising
  Dataset cache() const;  // in memory, shared by all iterators of one Dataset
  Dataset cache(const std::string& path) const;
  Dataset prefetch() const;
  Dataset prefetch(int64_t buffer_size) const;
  // Any stages in the pipe language: apply("shuffle(10) | batch(2)").
  Dataset apply(const std::string& stages) const;
  // Any operator with the dataset as its input, those of register_dataset_operator included.
  Dataset stage(const std::string& name, std::vector<Value> args = {}, Named named = {}) const;

  // What it is
  ElementSpec element_spec() const;
  int64_t cardinality() const;  // of one pass, or kInfiniteElements, kUnknownElements
  // Changes with all that decides the data: stages, arguments, functions, seeds, and path, size and
  // time of each file that is named. 32 hex digits.
  std::string fingerprint() const;
  // The canonical text: Dataset::parse(ds.text()) is the same pipeline, unless it has a generator.
  std::string text() const;

  // Running it
  Dataset with_options(const Options& options) const;
  const Options& options() const;
  // The plan that is run, as a pipeline of its own: rewritten, all knobs set.
  Dataset optimized() const;
  Iterator iterate() const;
  // The same with the random draws of one epoch: those of iterator number `epoch` of a dataset,
  // from 0, and of that pass of `repeat`. Equal in all processes of a distributed training.
  Iterator iterate(uint64_t epoch) const;
  // Goes on behind what an iterator over an equal pipeline had given when it was saved. Throws
  // FAILED_PRECONDITION, naming the stage, when the pipeline is another one, DATA_LOSS when
  // `saved` is damaged.
  Iterator resume(const std::string& saved) const;
  // Goes on as one rank of a sharded pipeline whose number of ranks has changed: `saved` holds a
  // checkpoint of each rank there was, this pipeline's last `shard` says which of the new ranks it
  // is. Together the new ranks give each element once that the old ones had not given. Throws
  // FAILED_PRECONDITION, naming the rank or the stage, where that cannot be.
  Iterator resume(const std::vector<std::string>& saved) const;
  ElementCursor begin() const { return ElementCursor(iterate()); }
  std::default_sentinel_t end() const { return {}; }
  // The element that a pass gives at `index`, straight where each stage can. Throws OUT_OF_RANGE,
  // UNIMPLEMENTED where the number of elements is not known, or what the element's error is.
  Element at(int64_t index) const;
  // The element of a dataset that has exactly one.
  Element get_single_element() const;
  // f(state, element) over all elements; `initial` may be tuple({...}) or dict({...}).
  Element reduce(const Value& initial, const UserFunction& f) const;
  // The dataset that an element, or a part of one, is: Kind::dataset. Throws INVALID_ARGUMENT for
  // another element. If it uses values of the element, it is iterated as it is: further stages and
  // checkpoints are UNIMPLEMENTED.
  static Dataset nested(const Element& element);
  // Of a text that ends in a value (reduce, cardinality, get_single_element).
  Element value() const;

  // Measuring it. Each runs the pipeline; an element that fails ends that run and throws its error.
  job::Trace trace(const job::Limits& limits = {}) const;
  job::Explanation explain(const job::Limits& limits = {}, const job::Setting& setting = {}) const;
  // Searches the plan that returns the same elements in the same order fastest.
  struct Optimization;
  Optimization optimize(const job::OptimizeOptions& options = {}) const;

 private:
  friend struct DatasetAccess;
  struct Impl;
  explicit Dataset(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const Impl>& impl() const;  // throws if the dataset was moved from
  std::shared_ptr<const Impl> impl_;
};

struct Dataset::Optimization {
  Dataset dataset;     // every knob is written in its text
  job::Estimate rate;  // predicted: elements per second over all passes
  double first_pass_rate = 0, later_passes_rate = 0;
  std::vector<job::Change> changes;       // in the order they are made
  std::vector<std::string> notes;         // places where a cache may not stand, and why
  std::optional<job::Measured> measured;  // if OptimizeOptions::measure_seconds asks for it
};

}  // namespace penstock
