// cache(): what the first whole pass gives is kept in memory, shared by all iterators of the
// pipeline, or in a folder, shared by all that run the same plan over the same files
// (disk_cache.h); later passes read it.
//
// Complete at the end of the input, or at its last element where their number is known. A pass with
// an error leaves the cache unfinished, so that no hole is ever kept. Cached rows keep their
// lineage and take the epoch of the pass that reads them: random ops behind the cache draw anew.
// The rows count against the memory budget. A cache that would pass eight tenths of it is given up,
// as is one that is being filled while the run has no other memory to go on with; the run says so.
//
// A checkpoint holds no rows: resumed in another process the cache is filled anew, as the epoch
// that filled it first, and rows that were delivered are dropped. A cache of what is the same in
// each pass may come and go between a checkpoint and its resumption: its mark has the position of
// its input and is transparent, and with the mark of its input it hands on the rest of this pass
// and keeps the next one.

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "data/hand_over.h"
#include "data/object_column.h"
#include "data/optional.h"
#include "datasets/datasets.h"
#include "datasets/disk_cache.h"
#include "datasets/snapshot_cursor.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

struct CacheState : CachedPasses {
  std::mutex mutex;
  bool complete = false;
  std::vector<Block> blocks;
  int64_t bytes = 0;
  uint64_t epoch = 0;      // of the pass that filled it
  Run* charged = nullptr;  // whose budget the rows count against now
  bool nested = false;     // belongs to a pipeline of `charged`, and goes with it

  CacheState() = default;
  ~CacheState();
  CacheState(const CacheState&) = delete;
  CacheState& operator=(const CacheState&) = delete;
};

CacheState::~CacheState() {
  if (nested && charged) charged->set_aside(-bytes);
}

// What holds a buffer not much larger than itself may be kept as it is.
bool fits(const BufferRef& buffer, int64_t bytes) {
  return buffer.capacity() <= bytes + bytes / 2 + 4096;
}

// Optional values are views like others.
void keep_own_values(Column* column) {
  std::vector<ObjectPtr> rows;
  for (int64_t i = 0; i < column->rows(); ++i) {
    const Tensor row = column->row(i);
    const OptionalTensor* value = as_optional(row);
    if (!value) return;
    rows.push_back(value->has_value() ? make_optional(value->value().copy()).object()
                                      : row.object());
  }
  *column = object_column(std::move(rows));
}

// The block, holding nothing much larger alive: rows that are views into read buffers are copied.
Block kept(const Block& block) {
  Block out = block;
  out.mark.reset();
  for (Column& c : out.columns) {
    if (c.kind() == Column::Kind::object) keep_own_values(&c);
    if (c.kind() == Column::Kind::object || c.kind() == Column::Kind::constant) continue;
    if (c.kind() == Column::Kind::dense && c.dtype() != DType::bytes) {
      if (fits(c.buffer(), c.rows() * c.row_bytes())) continue;
      Column copy = Column::dense(c.dtype(), c.row_dims(), c.rows());
      if (c.row_bytes() > 0)
        std::memcpy(copy.mutable_data(), c.data(), static_cast<size_t>(c.rows() * c.row_bytes()));
      c = std::move(copy);
      continue;
    }
    ColumnBuilder rows;
    for (int64_t i = 0; i < c.rows(); ++i) {
      const Tensor row = c.row(i);
      const bool own = row.dtype() != DType::bytes && fits(row.buffer(), row.data_bytes());
      rows.append(Column::constant(own ? row : row.copy(), 1));
    }
    c = rows.take(c.rows());
  }
  return out;
}

// With the position of the input.
struct CacheMark {
  static constexpr MarkForm kForm{"cache", 1};
  uint64_t fill_epoch = 0;
  int64_t delivered = 0;
  bool partial = false;      // resumed from before the cache: `delivered` counts from there
  bool transparent = false;  // not a field
  bool is_transparent() const { return transparent; }
  static void fields(auto& mark, auto& f) {
    f.id("fill_epoch", mark.fill_epoch);
    f.count("delivered", mark.delivered);
    f.flag("partial", mark.partial);
  }
};

class CacheCursor final : public Cursor, private Spare {
 public:
  CacheCursor(std::shared_ptr<CacheState> state, PlanPtr node, const OpenContext& context)
      : state_(std::move(state)),
        run_(context.run),
        epoch_(context.epoch),
        fill_epoch_(context.epoch),
        expected_(counted_elements(*node)) {
    const std::lock_guard lock(state_->mutex);
    state_->nested = context.nested != nullptr;
    transparent_ = state_->same_in_each_pass(*node, context);
    OpenContext below = context.deeper();
    if (context.is_before_cache(*node)) {
      partial_ = true;
      below.at.mark = context.at.mark;
    } else if (const auto from = context.resumed<CacheMark>(*node)) {
      fill_epoch_ = from->fill_epoch;
      partial_ = from->partial;
      if (partial_) below.at = context.resume(*node)->input();
      if (!partial_) drop_rows(from->delivered);
    }
    filling_ = !partial_;
    reading_ = state_->complete && !partial_;
    if (!reading_) {
      below.epoch = fill_epoch_;
      input_ = below.open(node->inputs[0]);
    } else if (state_->charged != run_) {
      run_->set_aside(state_->bytes);
      state_->charged = run_;
    }
    if (input_) run_->gate().add(this);
  }
  ~CacheCursor() override {
    if (input_) run_->gate().remove(this);
    stop_filling();
  }
  CacheCursor(const CacheCursor&) = delete;
  CacheCursor& operator=(const CacheCursor&) = delete;

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (reading_) {
      const Poll poll = read(out, pull.max_rows);
      if (poll == Poll::ready)
        set_mark(out, CacheMark{state_->epoch, given_, false, transparent_},
                 {StreamPosition{nullptr, given_}});
      return poll;
    }
    const Poll poll = input_->pull(out, pull);
    if (poll == Poll::end) complete();
    if (poll != Poll::ready) return poll;
    if (is_filling() && !out->errors.empty()) {
      stop_filling();
    } else if (is_filling()) {
      add_rows(*out);
    }
    given_ += out->rows;
    if (given_ == expected_ && !partial_) complete();
    if (fill_epoch_ != epoch_) out->origin = out->origin.with_epoch(epoch_);
    set_mark(out, CacheMark{fill_epoch_, given_, partial_, transparent_}, {input_->position()});
    return Poll::ready;
  }

 private:
  Poll read(Block* out, int64_t max_rows) {
    if (at_ == state_->blocks.size()) return Poll::end;
    const Block& block = state_->blocks[at_];
    const int64_t rows = std::min(max_rows, block.rows - row_);
    *out = block.slice(row_, rows);
    out->origin = out->origin.with_epoch(epoch_);
    row_ += rows;
    given_ += rows;
    if (row_ == block.rows) {
      ++at_;
      row_ = 0;
    }
    return Poll::ready;
  }

  bool is_filling() {
    const std::lock_guard lock(mutex_);
    return filling_;
  }
  // Returns the bytes that it gives back.
  int64_t stop_filling() {
    std::vector<Block> dropped;  // freed after the lock
    const std::lock_guard lock(mutex_);
    filling_ = false;
    dropped.swap(blocks_);
    run_->set_aside(-bytes_);
    return std::exchange(bytes_, 0);
  }
  // Others hold what is made again with less work.
  bool is_costly() const override { return true; }
  // The run goes on without a cache.
  bool give_up() override {
    const int64_t bytes = stop_filling();
    if (bytes > 0) note_given_up(bytes);
    return bytes > 0;
  }
  void note_given_up(int64_t bytes) {
    run_->note("cache: given up at " + std::to_string(bytes >> 20) + " MiB, the memory budget is " +
               std::to_string(run_->options().memory_bytes >> 20) +
               " MiB: each pass computes its elements again; give more with --memory, or a folder: "
               "cache(\"folder\")");
  }

  void add_rows(const Block& block) {
    constexpr double kMostOfBudget = 0.8;
    Block copy;
    try {
      copy = kept(block);
    } catch (const Error& e) {
      if (e.code() != Code::resource_exhausted) throw;
      give_up();  // the element itself is there
      return;
    }
    // The consumer may have the same bytes: they are the cache's, not those of either one's
    // buffers.
    hand_over(&copy);
    int64_t held = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!filling_) return;  // given up meanwhile
      const int64_t bytes = copy.payload_bytes();
      run_->set_aside(bytes);
      held = bytes_ += bytes;
      blocks_.push_back(std::move(copy));
    }
    if (static_cast<double>(held) >
        kMostOfBudget * static_cast<double>(run_->options().memory_bytes)) {
      give_up();
    }
  }

  void complete() {
    const std::scoped_lock lock(state_->mutex, mutex_);
    if (!filling_ || state_->complete) return;
    filling_ = false;
    state_->blocks = std::move(blocks_);
    state_->bytes = std::exchange(bytes_, 0);
    state_->epoch = fill_epoch_;
    state_->complete = true;
    state_->charged = run_;
  }

  std::shared_ptr<CacheState> state_;
  Run* run_;
  const uint64_t epoch_;
  uint64_t fill_epoch_;
  const int64_t expected_;  // rows of a whole pass, negative: not known
  CursorPtr input_;
  bool transparent_ = false;  // its marks
  bool reading_ = false;
  bool partial_ = false;  // the pass began after the first row: it is not kept
  std::mutex mutex_;      // of the next three: any thread may take what is not complete
  bool filling_ = true;
  std::vector<Block> blocks_;
  int64_t bytes_ = 0;
  int64_t given_ = 0;
  size_t at_ = 0;
  int64_t row_ = 0;
};

}  // namespace

namespace {

bool on_disk(const PlanNode& node) { return !node.arg("filename").as_string().empty(); }

}  // namespace

OperatorDef cache_operator() {
  OperatorDef op;
  op.name = "cache";
  op.doc = "Keeps what the first whole pass gives, in memory or in a folder; later passes read it.";
  op.params = {required("input", Param::Kind::dataset),
               optional("filename", Param::Kind::text, Attr::text("")),
               option("compression", Param::Kind::text, Attr::text("")),
               option("size_limit", Param::Kind::integer, {})};
  op.rows = Rows::same;
  op.hands_on = op.caches = true;
  op.keeps_files = on_disk;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
    const bool limited = !draft.node.args["size_limit"].is_none();
    if (on_disk(draft.node)) {
      check_snapshot_path("filename", draft.node.args["filename"]);
      check_snapshot_arguments(draft.node.spec, draft.node.args["compression"]);
      check_identities(draft);
      if (limited) draft.int_at_least("size_limit", 1, "must be positive", 1);
    } else if (limited || !draft.node.args["compression"].as_string().empty()) {
      NodeDraft::fail(limited ? "size_limit" : "compression",
                      "is of a cache on disk; name its folder");
    }
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    if (on_disk(*node))
      return open_disk_cache(node, context,
                             disk_cache_options(*node, node->arg("filename").as_string()));
    // A cache in a nested pipeline belongs to one row: it lives as long as that pipeline.
    PipelineState& keeper = context.nested ? *context.nested : context.run->state();
    auto state = keeper.keep<CacheState>(node.get());
    return std::make_unique<CacheCursor>(std::move(state), node, context);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    return open_indexed_input(*node, context);
  };
  return op;
}

}  // namespace penstock
