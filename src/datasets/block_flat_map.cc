// A chunk is what some outer rows give together: the source's rows side by side, the captured
// values repeated beside them, the stages run over all. What does not go that way (a window that is
// no plain rows, a batch with an error among its rows, or with rows of several shapes) goes through
// a cursor, one outer row after the other.

#include "datasets/block_flat_map.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/cancellation.h"
#include "base/random.h"
#include "datasets/kept_rows.h"
#include "datasets/opened_mark.h"
#include "datasets/range_bounds.h"
#include "datasets/runs.h"
#include "datasets/shape_vote.h"
#include "datasets/stacking.h"

namespace penstock {
namespace {

constexpr int64_t kMostRows = 4096;      // source rows in a chunk
constexpr int64_t kMostBytes = 1 << 20;  // about, of them

class BlockFlatMapCursor final : public Cursor {
 public:
  BlockFlatMapCursor(const PlanPtr& node, const OpenContext& context,
                     std::unique_ptr<const InnerTemplate> how)
      : how_(std::move(how)),
        shapes_(how_->leaves),
        node_(node),
        context_(context),
        environment_(context.environment.begin(), context.environment.end()),
        input_(context.open_input(*node)) {
    trail_.start(*input_);
    if (const auto from = resumed_opened(context, *node)) {
      first_ = from->source_rows;
      given_ = first_ > 0 ? from->emitted : 0;
      if (from->inside || open_slots(*from) > 0) inner_ = context.resume(*node)->input(1);
    }
    context_.environment = environment_;
    context_.batch.reset();
    context_.wanted_ahead = 0;
    context_.at = {};
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      context_.run->check_cancelled();
      check_cancelled();  // the thread, too: it may be interrupted
      if (!ready_.empty()) return give(out, pull.max_rows);
      if (cursor_) {
        const Poll poll = cursor_->pull(out, pull);
        if (poll == Poll::ready && identity().marks) mark_inner(out);
        if (poll != Poll::end) return poll;
        cursor_.reset();
        value_.reset();
      }
      if (outer_ == values_.rows) {
        const Poll poll = pull_outer(pull);
        if (poll != Poll::ready) return poll;
        continue;
      }
      if (const ErrorPtr* e = values_.error_at(outer_)) {
        const Origin origin = values_.origin.slice(outer_++);
        *out = error_block(*e, identity().columns, origin);
        if (identity().marks) mark(out);
        return Poll::ready;
      }
      if (inner_ || outer_ < by_cursor_ || !make_chunk(pull.max_rows)) open_cursor();
    }
  }

 private:
  // Rows [first, first + count) of what an outer row's source gives.
  struct Part {
    int64_t outer, first, count;
    KeptRows window;  // unless it is a range
  };

  Poll give(Block* out, int64_t max_rows) {
    Block& block = ready_.front();
    if (block.rows <= max_rows) {
      *out = std::move(block);
      ready_.pop_front();
      out->mark.reset();
      if (identity().marks && ready_.empty()) mark(out);
    } else {
      *out = block.slice(0, max_rows);
      block.drop_front(max_rows);
    }
    return Poll::ready;
  }

  // Behind what has been made: the outer row at hand, and how many of its source's rows are used.
  void mark(Block* out) {
    const int64_t row = trail_.rows() - (values_.rows - outer_);
    OpenedMark fields;
    fields.by_rows = true;
    fields.source_rows = first_;
    fields.emitted = given_;
    set_mark(out, fields, {trail_.before(row)});
    trail_.forget(row);
  }

  // Within the dataset that cursor_ reads, of the outer row before the one at hand.
  void mark_inner(Block* out) {
    const int64_t row = trail_.rows() - (values_.rows - outer_) - 1;
    OpenedMark fields;
    fields.by_rows = fields.inside = true;
    set_mark(out, fields, {trail_.before(row), cursor_->position()});
    trail_.forget(row);
  }

  // So many outer rows as the chunk may need, going by those so far.
  Poll pull_outer(const Pull& pull) {
    const int64_t each = std::max<int64_t>(1, made_ / std::max<int64_t>(1, taken_));
    const int64_t rows = how_->batch_size > 0 ? chunk_rows_ : std::min(pull.max_rows, chunk_rows_);
    const int64_t most = std::max<int64_t>(1, rows / each);
    ahead_ = std::min(most, 4 * ahead_);
    Block in;
    const Poll poll = input_->pull(&in, {ahead_, pull.waker});
    if (poll != Poll::ready) return poll;
    if (taken_ > 0) first_ = 0;  // a mark's is of the first row
    taken_ += in.rows;
    trail_.note(*input_, in.rows);
    values_ = Block();
    outer_ = by_cursor_ = 0;
    Block made;
    how_->environment->run(in, &made);
    values_ = std::move(made);
    return poll;
  }

  // What the source of an outer row gives: -1 rows where it is not to be had by the block.
  Part source_part(int64_t outer) const {
    if (how_->range) return {outer, 0, bounds(outer).count, {}};
    Part part{outer, 0, 0, {}};
    if (!kept_rows(values_.columns[static_cast<size_t>(how_->rows_at)], outer, &part.window))
      return {outer, 0, -1, {}};
    for (const RowRun& run : part.window.runs) part.count += run.count;
    return part;
  }

  RangeBounds bounds(int64_t outer) const {
    const Attr &a = how_->range->arg("start"), &b = how_->range->arg("stop");
    auto at = [&](const Attr& x) {
      return x.is_capture()
                 ? integer_at(values_.columns[static_cast<size_t>(x.capture_index())].row(outer))
                 : x.as_int();
    };
    const int64_t start = b.is_none() ? 0 : at(a);
    return range_bounds(start, b.is_none() ? at(a) : at(b), at(how_->range->arg("step")));
  }

  // Fills ready_ from the next outer rows; false when the next one goes through a cursor.
  bool make_chunk(int64_t max_rows) {
    const bool batches = how_->batch_size > 0;
    const int64_t limit = batches ? chunk_rows_ : std::min(max_rows, chunk_rows_);
    std::vector<Part> parts;
    int64_t rows = 0;
    for (; outer_ < values_.rows && rows < limit; ++outer_, first_ = 0) {
      if (values_.error_at(outer_)) break;
      Part part{outer_, 0, -1, {}};
      try {
        part = source_part(outer_);
      } catch (const Error&) {  // the cursor says it
      }
      const int64_t n = part.count;
      if (n < 0 || (batches && n > kMostRows)) {
        if (parts.empty()) return false;
        break;
      }
      first_ = std::min(first_, n);  // a mark may say more than there is now
      const int64_t count = batches ? n - first_ : std::min(n - first_, limit - rows);
      if (count > 0) parts.push_back({outer_, first_, count, part.window});
      rows += count;
      first_ += count;
      if (first_ < n) break;
    }
    if (rows == 0) return true;
    made_ += rows;
    Block block = source(parts, rows);
    const int64_t fitting = kMostBytes / std::max<int64_t>(1, block.payload_bytes() / rows);
    chunk_rows_ = std::clamp<int64_t>(fitting, 1, std::min(kMostRows, 4 * chunk_rows_));
    block.origin = origins(parts);
    if (how_->stages) {
      add_environment(parts, &block);
      how_->stages->run(&block, nullptr);
      block.columns.resize(std::min(block.columns.size(), how_->columns));
    }
    if (batches && (!block.errors.empty() || !agree(parts, block))) {
      by_cursor_ = outer_;
      outer_ = parts[0].outer;
      return false;
    }
    if (batches) {
      cut(parts, block);
    } else {
      count_given(parts, block);
      if (block.rows > 0) ready_.push_back(std::move(block));
    }
    return true;
  }

  // Whether the rows of each part have one shape, so that batches of them need no vote.
  bool agree(const std::vector<Part>& parts, const Block& block) const {
    std::vector<int64_t> counts;
    for (const Part& p : parts) counts.push_back(p.count);
    return shapes_.agree(block, counts);
  }

  // How many rows came of the outer row that is used in part.
  void count_given(const std::vector<Part>& parts, const Block& block) {
    if (first_ == 0 || parts.back().first == 0) given_ = 0;
    if (first_ == 0) return;
    const Part& last = parts.back();
    const uint64_t begin =
        mix(values_.origin.lineage(last.outer), 1) + static_cast<uint64_t>(last.first);
    for (int64_t row = block.rows - 1; row >= 0; --row, ++given_) {
      if (block.origin.lineage(row) - begin >= static_cast<uint64_t>(last.count)) break;
    }
  }

  Block source(const std::vector<Part>& parts, int64_t rows) {
    Block out;
    if (how_->range) {
      Column column = Column::dense(how_->range->arg("dtype").as_dtype(), {}, rows);
      int64_t at = 0;
      for (const Part& p : parts) {
        fill_range(bounds(p.outer), p.first, at, p.count, &column);
        at += p.count;
      }
      out.columns.push_back(std::move(column));
    } else {
      RunJoiner joined;
      size_t columns = 0;
      for (const Part& p : parts) columns = add_window(p, &joined);
      out = joined.finish(columns);
    }
    out.rows = rows;
    return out;
  }

  // The part of the window joins the others; the number of its columns.
  size_t add_window(const Part& part, RunJoiner* joined) {
    int64_t skip = part.first, left = part.count;
    size_t columns = 0;
    for (const RowRun& run : part.window.runs) {
      const int64_t n = std::min(left, run.count - skip);
      if (n <= 0) {
        skip -= run.count;
        continue;
      }
      const RunJoiner::Source from = view(run, part.window.column);
      columns = from->columns.size();
      if (run.step == 1) {
        joined->add(from, run.begin + skip, n);
      } else {
        std::vector<int32_t> rows;
        for (int64_t i = skip; i < skip + n; ++i)
          rows.push_back(static_cast<int32_t>(run.begin + i * run.step));
        joined->add(std::make_shared<const Block>(from->gather(rows)), 0, n);
      }
      left -= n;
      skip = 0;
      if (left == 0) break;
    }
    return columns;
  }

  // The run's block with the column that the window is of; the last one is kept.
  RunJoiner::Source view(const RowRun& run, int column) {
    if (column == KeptRows::kAllColumns) return run.block;
    if (viewed_ == run.block && viewed_column_ == column) return view_;
    auto out = std::make_shared<Block>();
    out->rows = run.block->rows;
    out->columns = {run.block->columns[static_cast<size_t>(column)]};
    out->errors = run.block->errors;
    view_ = std::move(out);
    viewed_ = run.block;
    viewed_column_ = column;
    return view_;
  }

  // The ids of the rows of an outer row's source, as a source opened below it gives them.
  Origin origins(const std::vector<Part>& parts) const {
    auto first = [&](const Part& p) {
      return mix(values_.origin.lineage(p.outer), 1) + static_cast<uint64_t>(p.first);
    };
    if (parts.size() == 1) return Origin(first(parts[0]), 1, values_.origin.epoch(parts[0].outer));
    RowIds lineages, epochs;
    for (const Part& p : parts) {
      const uint64_t lineage = first(p), epoch = values_.origin.epoch(p.outer);
      for (int64_t i = 0; i < p.count; ++i) {
        lineages.push_back(lineage + static_cast<uint64_t>(i));
        epochs.push_back(epoch);
      }
    }
    return Origin::of(std::move(lineages), std::move(epochs));
  }

  void add_environment(const std::vector<Part>& parts, Block* block) const {
    if (how_->captured.empty()) return;
    std::vector<int32_t> outer;
    for (const Part& p : parts)
      outer.insert(outer.end(), static_cast<size_t>(p.count), static_cast<int32_t>(p.outer));
    for (const int source : how_->captured) {
      const Column& c = values_.columns[static_cast<size_t>(source)];
      block->columns.push_back(parts.size() == 1
                                   ? Column::constant(c.row(parts[0].outer), parts[0].count)
                                   : c.gather(outer));
    }
  }

  // Batches of the rows of each part, neighbours of one size at once.
  void cut(const std::vector<Part>& parts, const Block& block) {
    int64_t begin = 0, at = 0, size = 0, count = 0;  // `count` batches of `size` rows from `begin`
    auto add = [&](int64_t from, int64_t batches, int64_t rows) {
      if (rows != size || from != begin + count * size) {
        stack(block, begin, count, size);
        begin = from;
        size = rows;
        count = 0;
      }
      count += batches;
    };
    for (const Part& p : parts) {
      const int64_t full = p.count / how_->batch_size, rest = p.count % how_->batch_size;
      if (full > 0) add(at, full, how_->batch_size);
      if (rest > 0 && !how_->drop_remainder) add(at + full * how_->batch_size, 1, rest);
      at += p.count;
    }
    stack(block, begin, count, size);
  }

  void stack(const Block& block, int64_t begin, int64_t count, int64_t size) {
    if (count == 0) return;
    Block out;
    out.rows = count;
    out.origin = block.origin.slice(begin).grouped(size, count);
    for (size_t c = 0; c < block.columns.size(); ++c) {
      out.columns.push_back(stack_rows(block.columns[c].slice(begin, count * size), how_->leaves[c],
                                       count, size, &out.errors));
    }
    for (RowError& e : out.errors)
      e.error = std::make_shared<const Error>(e.error->at(how_->batch->op->name));
    ready_.push_back(std::move(out));
  }

  // The inner dataset of the next outer row, in the ordinary way.
  void open_cursor() {
    const int64_t outer = outer_++;
    first_ = 0;
    if (how_->plan) {
      std::vector<Tensor> environment;
      for (const Column& c : values_.columns) environment.push_back(c.row(outer));
      value_ = std::make_shared<const DatasetValue>(how_->plan, std::move(environment));
    } else {
      value_ = values_.columns[0].row(outer).object();
    }
    const Origin origin = values_.origin.slice(outer);
    const auto* dataset = dynamic_cast<const DatasetValue*>(value_.get());
    PENSTOCK_CHECK(dataset != nullptr);
    try {
      cursor_ = open_dataset(context_, *dataset, mix(origin.lineage(0), 1), origin.epoch(0),
                             std::exchange(inner_, std::nullopt).value_or(StreamPosition()));
    } catch (const Error& e) {
      if (e.code() == Code::cancelled) throw;
      ready_.push_back(error_block(std::make_shared<const Error>(e), identity().columns, origin));
    }
  }

  const std::unique_ptr<const InnerTemplate> how_;
  const RowShapes shapes_;  // of what is batched
  const PlanPtr node_;
  OpenContext context_;
  std::vector<Tensor> environment_;
  CursorPtr input_;
  Block values_;       // what the outer rows capture
  int64_t outer_ = 0;  // next of them
  int64_t first_ = 0;  // rows of its source that are used
  int64_t given_ = 0;  // rows that came of them
  InputTrail trail_;
  std::optional<StreamPosition> inner_;  // where the first dataset is to be taken up by a cursor
  int64_t by_cursor_ = 0;                // outer rows before this one go through a cursor
  std::deque<Block> ready_;
  ObjectPtr value_;  // what cursor_ reads: keeps its environment alive
  CursorPtr cursor_;
  int64_t ahead_ = 1, taken_ = 0, made_ = 0;
  int64_t chunk_rows_ = 64;
  std::shared_ptr<const Block> viewed_, view_;
  int viewed_column_ = 0;
};

}  // namespace

CursorPtr open_block_flat_map(const PlanPtr& node, const OpenContext& context,
                              std::unique_ptr<const InnerTemplate> how) {
  return std::make_unique<BlockFlatMapCursor>(node, context, std::move(how));
}

}  // namespace penstock
