// lookup_in(dataset, s): values of keys in a table whose keys and values a dataset gives. The
// elaborator writes it for lookup(table(dataset), s), and it prints so.
//
// The first row that looks something up runs the dataset, on its own thread; the others wait, and
// go by the same table. A dataset that fails makes each of these rows fail.

#include "datasets/lookup_in.h"

#include <atomic>
#include <mutex>

#include "datasets/sink.h"
#include "datasets/stacking.h"
#include "functions/kernels/text/lookup_kernels.h"
#include "runtime/open.h"
#include "runtime/serial.h"

namespace penstock {
namespace {

Attr table_attr(const Attrs& options, std::vector<Tensor> keys_and_values) {
  std::vector<std::string> names{"is", "keys"};
  std::vector<Attr> items{Attr::text("table"), Attr::of(std::move(keys_and_values[0]))};
  auto add = [&](const char* name, Attr value) {
    names.emplace_back(name);
    items.push_back(std::move(value));
  };
  if (keys_and_values.size() > 1) add("values", Attr::of(std::move(keys_and_values[1])));
  for (const char* option : {"default", "oov_buckets"}) {
    if (!options[option].is_none()) add(option, options[option]);
  }
  return Attr::dict(std::move(names), std::move(items));
}

// All rows of the dataset, each component stacked.
std::vector<Tensor> all_rows(const DatasetValue& dataset) {
  Run* const run = Run::current();
  if (!run) throw Error(Code::unimplemented, "a table made of a dataset needs a run");
  const ScopedSerial serial;
  OpenContext context{run, {}};
  context.nested = std::make_shared<PipelineState>();
  const CursorPtr rows = open_dataset(context, dataset, 0, 0);
  const std::vector<LeafSpec> leaves = dataset.plan()->spec.leaves();
  std::vector<ColumnBuilder> columns(leaves.size());
  for_each_row_block(*rows, *run, [&](const Block& block) {
    for (size_t c = 0; c < columns.size(); ++c) columns[c].append(block.columns[c]);
  });
  std::vector<Tensor> out;
  for (size_t c = 0; c < columns.size(); ++c) {
    const int64_t n = columns[c].rows();
    std::vector<RowError> errors;
    out.push_back(n == 0 ? Tensor::make(leaves[c].dtype, {0})
                         : stack_rows(columns[c].take(n), leaves[c], 1, n, &errors).row(0));
    if (!errors.empty()) throw Error(*errors[0].error);
  }
  return out;
}

// Made once for a stage, by the first row.
class TableOnce {
 public:
  const LookupTable& get(const Attrs& options, const Tensor& input) const {
    if (const LookupTable* made = made_.load(std::memory_order_acquire)) return *made;
    std::lock_guard lock(mutex_);
    if (error_) throw Error(*error_);
    if (!table_) {
      try {
        const auto* dataset = dynamic_cast<const DatasetValue*>(input.object().get());
        PENSTOCK_CHECK(dataset != nullptr && dataset->environment().empty());
        table_ = LookupTable::open(table_attr(options, all_rows(*dataset)));
      } catch (const Error& e) {
        const bool lasts = e.code() != Code::cancelled && e.code() != Code::resource_exhausted;
        if (lasts) error_ = std::make_shared<const Error>(e);
        throw;
      }
      made_.store(table_.get(), std::memory_order_release);
    }
    return *table_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::atomic<const LookupTable*> made_ = nullptr;
  mutable std::shared_ptr<const LookupTable> table_;
  mutable ErrorPtr error_;
};

Spec infer(const InferContext& context) {
  const LeafSpec& source = context.inputs[0].type;
  if (source.kind != LeafSpec::Kind::dataset)
    context.fail(0, "is " + source.text() + ", expected a dataset of keys and values");
  const std::vector<LeafSpec> leaves = source.element->leaves();
  const bool pairs = source.element->kind == Spec::Kind::tuple && leaves.size() == 2;
  bool good = source.element->is_leaf() || pairs;
  for (const LeafSpec& leaf : leaves) {
    good = good && leaf.is_tensor() && (!leaf.shape.has_rank() || leaf.shape.is_scalar());
  }
  if (!good) {
    context.fail(0, "gives " + source.element->text() +
                        ", expected keys, or pairs of a key and a value, all scalars");
  }
  std::vector<Tensor> empty;
  for (const LeafSpec& leaf : leaves) empty.push_back(Tensor::make(leaf.dtype, {0}));
  try {
    const Attr table = table_attr(context.attrs, std::move(empty));
    return infer_lookup_in(context, 1, LookupTable::types_of(table));
  } catch (const TableMistake& e) {
    throw TypeError{0, {}, "as a table: " + e.message};
  }
}

void run_row(const RowCall& call) {
  const auto& once = *static_cast<const TableOnce*>(call.state);
  lookup_tensor(once.get(call.attrs, call.inputs[0]), call.inputs[1], &call.outputs[0]);
}

bool run_block(const BlockCall& call) {
  if (call.rows == 0 || call.inputs[0].kind() != Column::Kind::object) return false;
  const auto& once = *static_cast<const TableOnce*>(call.state);
  try {
    return lookup_column(once.get(call.attrs, call.inputs[0].row(0)), call.inputs[1], call);
  } catch (const Error&) {
    return false;  // each row is to say so
  }
}

}  // namespace

OpDef lookup_in_op() {
  OpDef op;
  op.name = "lookup_in";
  op.params = {required("dataset", Param::Kind::tensor), required("s", Param::Kind::tensor),
               option("default", Param::Kind::any, {}),
               option("oov_buckets", Param::Kind::integer, {})};
  op.doc = "the value of each key in a table made of a dataset";
  op.infer = infer;
  op.row = run_row;
  op.block = run_block;
  op.prepare = [](const Attrs&) -> std::shared_ptr<const void> {
    return std::make_shared<const TableOnce>();
  };
  op.elementwise = true;
  op.can_fail = true;
  op.cost_ns = 50;
  op.group = "op";
  return op;
}

}  // namespace penstock
