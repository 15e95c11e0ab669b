// group_by_window(key_func, reduce_func, window_size | window_size_func): elements gathered by key;
// each full window is given to reduce_func as a dataset, whose elements come out.
//
// At the end the windows that are not full follow, by ascending key. Errors go past the groups. The
// size of a key's window is asked for once. A mark is that from before a window was opened, and how
// many elements have come out of it.

#include <exception>
#include <map>

#include "base/random.h"
#include "data/object_list.h"
#include "datasets/datasets.h"
#include "datasets/held_memory.h"
#include "datasets/kept_rows.h"
#include "datasets/refill.h"

namespace penstock {
namespace {

// At the position before a window was opened.
struct WindowsMark {
  static constexpr MarkForm kForm{"windows", 1};
  int64_t delivered = 0;  // elements of that window
  HeldRows held;
  static void fields(auto& mark, auto& f) {
    f.count("delivered", mark.delivered);
    HeldRows::fields(mark.held, f);
  }
};

class GroupByWindowCursor final : public Cursor {
 public:
  GroupByWindowCursor(PlanPtr node, const OpenContext& context)
      : node_(std::move(node)),
        context_(context),
        environment_(context.environment.begin(), context.environment.end()),
        windows_(rows_template(context, node_, KeptRows::kAllColumns)) {
    context_.environment = environment_;
    context_.batch.reset();
    context_.wanted_ahead = 0;
    key_ = context_.program(*node_, "key_func");
    reduce_ = context_.program(*node_, "reduce_func");
    if (node_->arg("window_size").is_none()) {
      size_ = context_.program(*node_, "window_size_func");
    } else {
      constant_size_ = context_.int_arg(*node_, "window_size");
      if (constant_size_ < 1) fail_size(constant_size_);
    }
    input_ = context_.open_input(*node_);
    auto from = context_.resumed<WindowsMark>(*node_).value_or(WindowsMark());
    refill_.start(*input_, std::move(from.held));
    drop_rows(from.delivered);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      context_.run->check_cancelled();
      if (flushing_) {
        const Poll poll = flushing_->pull(out, pull);
        if (poll == Poll::ready && identity().marks) {
          mark_.delivered += out->rows;
          set_mark(out, mark_, {before_});
        }
        if (poll != Poll::end) return poll;
        flushing_.reset();
        value_.reset();
      }
      if (ended_) {
        if (groups_.empty()) return Poll::end;
        flush(groups_.begin()->first);
        continue;
      }
      if (at_ == rows()) {
        const Poll poll = pull_rows(pull);
        if (poll == Poll::pending) return poll;
        continue;
      }
      const int64_t row = at_++;
      if (refill_.is_gone(ordinal(row))) continue;
      if (const ErrorPtr* e = keys_.error_at(row)) {
        *out = error_block(*e, identity().columns, in_->origin.slice(row));
        if (identity().marks) {
          note_mark();
          set_mark(out, mark_, {before_});
        }
        return Poll::ready;
      }
      add(integer_at(keys_.columns[0].row(row)), row);
    }
  }

 private:
  struct Group {
    std::vector<RowRun> runs;
    std::vector<int32_t> rows;  // of the block at hand, not in a run yet
    int64_t count = 0;
    int64_t held_bytes = 0;           // beside buffers
    std::vector<int64_t> arrived;     // which rows of the input they are
    uint64_t lineage = 0, epoch = 0;  // of its first row
  };

  [[noreturn]] static void fail_size(int64_t size) {
    throw Error(Code::invalid_argument, "window_size must be positive: " + std::to_string(size));
  }

  int64_t rows() const { return in_ ? in_->rows : 0; }

  Poll pull_rows(const Pull& pull) {
    // Groups own their rows before the block goes.
    for (auto& [key, group] : groups_) settle(&group);
    in_.reset();
    at_ = 0;
    Block in;
    const Poll poll = input_->pull(&in, {context_.run->options().block_rows, pull.waker});
    if (poll == Poll::end) ended_ = true;
    if (poll != Poll::ready) return poll;
    refill_.note(*input_, in.rows);
    Block consumed = in;
    keys_ = Block();
    key_->run(consumed, &keys_);
    in_ = std::make_shared<const Block>(std::move(in));
    return poll;
  }

  void settle(Group* group) {
    if (group->rows.empty()) return;
    const auto n = static_cast<int64_t>(group->rows.size());
    try {
      group->runs.push_back({std::make_shared<const Block>(in_->gather(group->rows)), 0, n, 1});
    } catch (const Error&) {  // these rows are lost; those of other blocks stay
      group->count -= n;
      group->rows.clear();
      throw;
    }
    group->rows.clear();
  }

  // Of one row more: the group, its part of the block, and the row's number and origin.
  int64_t bytes_of_row(const Group& group) const {
    constexpr size_t kTreeNode = 64, kShared = 32, kOfRow = 32;
    size_t bytes = kOfRow;
    if (group.count == 0) bytes += 2 * kTreeNode + sizeof(Group);
    if (group.rows.empty())
      bytes += kShared + sizeof(RowRun) + sizeof(Block) + in_->columns.size() * sizeof(Column);
    return static_cast<int64_t>(bytes);
  }

  void add(int64_t key, int64_t row) {
    const int64_t size = window_size(key, row);
    const auto known = groups_.find(key);
    const int64_t bytes = bytes_of_row(known == groups_.end() ? Group() : known->second);
    held_.grow(
        bytes, [this] { return "the windows of " + std::to_string(groups_.size()) + " keys"; },
        "use a smaller window_size, or fewer keys");
    Group& group = groups_[key];
    group.held_bytes += bytes;
    if (group.count++ == 0) {
      group.lineage = in_->origin.lineage(row);
      group.epoch = in_->origin.epoch(row);
    }
    group.rows.push_back(static_cast<int32_t>(row));
    if (identity().marks) group.arrived.push_back(ordinal(row));
    if (group.count >= size) flush(key);
  }

  int64_t window_size(int64_t key, int64_t row) {
    if (!size_) return constant_size_;
    const auto known = sizes_.find(key);
    if (known != sizes_.end()) return known->second;
    const RowId id{in_->origin.lineage(row), in_->origin.epoch(row), 0};
    const int64_t size = integer_at(size_->run_row({Tensor::scalar(key)}, id)[0]);
    if (size < 1) fail_size(size);
    sizes_[key] = size;
    return size;
  }

  // Which row of the input a row of in_ is.
  int64_t ordinal(int64_t row) const { return refill_.rows() - rows() + row; }

  // Where things stand, with nothing given since.
  void note_mark() {
    std::vector<int64_t> held;
    for (const auto& [key, group] : groups_)
      held.insert(held.end(), group.arrived.begin(), group.arrived.end());
    mark_.delivered = 0;
    before_ = refill_.hold(ordinal(at_), std::move(held), &mark_.held);
  }

  // The window of the key is opened; whatever comes of it, the group is gone.
  void flush(int64_t key) {
    if (identity().marks) note_mark();
    const auto found = groups_.find(key);
    std::exception_ptr failure;
    try {
      settle(&found->second);
    } catch (const Error&) {
      failure = std::current_exception();
    }
    Group group = std::move(found->second);
    groups_.erase(found);
    held_.shrink(group.held_bytes);
    if (failure) std::rethrow_exception(failure);
    if (group.runs.empty()) return;  // its rows found no memory, and were errors then
    const RowId id{group.lineage, group.epoch, 0};
    auto begins =
        std::make_shared<const std::vector<size_t>>(std::vector<size_t>{0, group.runs.size()});
    auto list = std::make_shared<const std::vector<RowRun>>(std::move(group.runs));
    const WindowRows window(windows_, std::move(list), std::move(begins), KeptRows::kAllColumns);
    const std::vector<Tensor> made =
        reduce_->run_row({Tensor::scalar(key), Tensor(window.row(0))}, id);
    value_ = made[0].object();
    const auto* dataset = dynamic_cast<const DatasetValue*>(value_.get());
    PENSTOCK_CHECK(dataset != nullptr);
    flushing_ = open_dataset(context_, *dataset, mix(group.lineage, 1), group.epoch);
  }

  PlanPtr node_;
  OpenContext context_;
  std::vector<Tensor> environment_;
  const PlanPtr windows_;  // their template
  std::shared_ptr<const CompiledFunction> key_, reduce_, size_;
  int64_t constant_size_ = 0;
  CursorPtr input_;
  Refill refill_;
  WindowsMark mark_;
  StreamPosition before_;  // of the input
  std::shared_ptr<const Block> in_;
  Block keys_;
  int64_t at_ = 0;  // next row of in_
  std::map<int64_t, Group> groups_;
  HeldMemory held_;  // by groups_
  std::map<int64_t, int64_t> sizes_;
  ObjectPtr value_;  // what flushing_ reads: keeps its environment alive
  CursorPtr flushing_;
  bool ended_ = false;
};

void check_int64(const NodeDraft& draft, const std::string& function) {
  const Spec& output = draft.node.function(function)->output;
  if (!(output == Spec::tensor(DType::int64, {})))
    NodeDraft::fail(function, "gives " + output.text() + ", expected one int64");
}

void infer(NodeDraft& draft) {
  check_int64(draft, "key_func");
  const bool by_function = draft.node.function("window_size_func") != nullptr;
  if (by_function == !draft.node.args["window_size"].is_none())
    NodeDraft::fail("window_size", "give one of window_size and window_size_func");
  if (by_function) {
    check_int64(draft, "window_size_func");
  } else {
    draft.int_at_least("window_size", 1, "must be positive", 1);
  }
  const Spec& output = draft.node.function("reduce_func")->output;
  if (!output.is_leaf() || !is_dataset(output.leaf))
    NodeDraft::fail("reduce_func", "gives " + output.text() + ", expected a dataset");
  draft.node.spec = *output.leaf.element;
  draft.node.cardinality = draft.input().cardinality == kInfinite ? kInfinite : kUnknown;
}

}  // namespace

OperatorDef group_by_window_operator() {
  OperatorDef op;
  op.name = "group_by_window";
  op.doc =
      "What reduce_func(key, window) makes of windows of elements that share key_func(element).";
  op.params = {required("input", Param::Kind::dataset), required("key_func", Param::Kind::function),
               required("reduce_func", Param::Kind::function),
               optional("window_size", Param::Kind::tensor, {}),
               optional("window_size_func", Param::Kind::function, {})};
  op.rows = Rows::regroup;
  op.function_input = [](const NodeDraft& draft, std::string_view param) {
    Spec key = Spec::tensor(DType::int64, {});
    if (param == "key_func") return draft.input().spec;
    if (param == "window_size_func") return key;
    return Spec::tuple({key, Spec::of(LeafSpec::dataset(draft.input().spec))});
  };
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<GroupByWindowCursor>(node, context);
  };
  return op;
}

}  // namespace penstock
