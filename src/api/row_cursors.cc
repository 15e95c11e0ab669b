#include "api/row_cursors.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "api/element.h"
#include "api/row_identities.h"
#include "api/user_error.h"
#include "api/user_rows.h"
#include "base/cancellation.h"
#include "base/start_thread.h"

namespace penstock {
namespace {

constexpr int64_t kTurnNs = 1'000'000;  // rows are handed on at least so often
constexpr int kMostThrows = 1000;       // of a RowSource, one after the other

// Counts what a RowSource throws without getting anywhere.
class Throws {
 public:
  void reset() { count_ = 0; }
  // The exception in flight, and whether the pass ends with it.
  ErrorPtr add(bool* ends) {
    ErrorPtr error = current_user_error();
    *ends = ++count_ == kMostThrows;
    if (!*ends || error->code() == Code::cancelled) return error;
    return std::make_shared<const Error>(error->code(),
                                         error->message() + " (thrown " + std::to_string(count_) +
                                             " times without an element between: the pass ends)",
                                         error->node());
  }

 private:
  int count_ = 0;
};

RowSource opened(const std::function<RowSource()>& open) {
  RowSource out = call_user(open);
  if (!out) throw Error(Code::invalid_argument, "`open` returned a callable that is empty");
  return out;
}

class RowSourceCursor final : public Cursor {
 public:
  RowSourceCursor(RowSource source, const PlanNode& node, const OpenContext& context,
                  std::optional<int64_t> promised)
      : source_(std::move(source)),
        rows_(node.spec),
        run_(context.run),
        context_(context),
        promised_(promised) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (error_) throw Error(*std::exchange(error_, nullptr));
    const int64_t start = now_ns();
    const int64_t most = std::min(pull.max_rows, run_->options().block_rows);
    while (!ended_ && rows_.count() < most) {
      run_->check_cancelled();
      try {
        std::vector<Array> row;
        if (source_(&row)) {
          rows_.add(row);
          throws_.reset();
        } else {
          ended_ = true;
          check_count();
        }
      } catch (...) {
        bool ends = false;
        error_ = throws_.add(&ends);
        ended_ |= ends;
        ++errors_;
        break;
      }
      if (now_ns() - start > kTurnNs) break;
    }
    if (rows_.count() > 0) {
      const int64_t first = position_;
      position_ += rows_.count();
      rows_.finish(out, source_origin(context_, first));
      return Poll::ready;
    }
    if (error_) throw Error(*std::exchange(error_, nullptr));
    return Poll::end;
  }

 private:
  void check_count() const {
    const int64_t count = position_ + rows_.count() + errors_;
    if (!promised_ || *promised_ == count) return;
    throw Error(Code::failed_precondition,
                "its definition promises " +
                    (*promised_ < 0 ? "elements without end" : std::to_string(*promised_)) +
                    ", there are " + std::to_string(count));
  }

  RowSource source_;
  UserRows rows_;
  Run* const run_;
  const OpenContext context_;
  const std::optional<int64_t> promised_;
  int64_t position_ = 0, errors_ = 0;
  bool ended_ = false;
  Throws throws_;
  ErrorPtr error_;
};

// The user's code pulls its input and may not be left while it does, so it runs on a thread of its
// own that takes turns with the cursor: one of the two works at any time, and whoever has the turn
// owns all fields.
class RowOperatorCursor final : public Cursor {
 public:
  RowOperatorCursor(std::function<RowSource(RowSource)> open, CursorPtr input, const Spec& spec,
                    const OpenContext& context, const OperatorFacts& facts)
      : open_(std::move(open)),
        input_(std::move(input)),
        rows_(spec),
        run_(context.run),
        context_(context),
        stateless_(facts.stateless),
        ids_(facts.relation) {}
  ~RowOperatorCursor() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      turn_.notify_all();
    }
    thread_.join();
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (!thread_.joinable() && !finished_ && !start_thread(&thread_, [this] { work(); })) {
      finished_ = true;
      throw no_thread_error("for an operator of the program");
    }
    for (;;) {
      if (rows_.count() > 0) {
        const int64_t first = position_;
        position_ += rows_.count();
        rows_.finish(out, ids_.follow() ? ids_.take() : source_origin(context_, first));
        if (!error_) give_mark(out);
        return Poll::ready;
      }
      if (error_) {
        *out = error_block(std::exchange(error_, nullptr), identity().columns, error_origin_);
        give_mark(out);
        return Poll::ready;
      }
      if (finished_) return Poll::end;
      if (wants_input_) {
        const Poll poll = input_->pull(&in_, pull);
        if (poll == Poll::pending) return poll;
        input_ended_ = poll == Poll::end;
        if (input_ended_) in_.clear();
        row_ = 0;
        wants_input_ = false;
      }
      run_->check_cancelled();
      most_ = std::min(pull.max_rows, run_->options().block_rows);
      turn_start_ns_ = now_ns();
      std::unique_lock lock(mutex_);
      workers_turn_ = true;
      turn_.notify_all();
      turn_.wait(lock, [this] { return !workers_turn_; });
    }
  }

 private:
  // What remembers nothing stands where its input stands, once all that was read is done with.
  void give_mark(Block* out) const {
    if (stateless_ && row_ == in_.rows && ids_.settled()) out->mark = in_.mark;
  }

  // The worker's side. False when the cursor goes away.
  bool wait_for_turn(std::unique_lock<std::mutex>& lock) {
    turn_.wait(lock, [this] { return workers_turn_ || stop_; });
    return !stop_;
  }
  bool give_turn() {
    std::unique_lock lock(mutex_);
    workers_turn_ = false;
    turn_.notify_all();
    return wait_for_turn(lock);
  }
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stop_;
  }

  // The exception in flight, which stands for the element that was read last.
  void take_error(bool* ends) {
    error_ = throws_.add(ends);
    error_origin_ = Origin();
    try {
      if (!*ends && ids_.follow()) error_origin_ = ids_.add_failed();
    } catch (const Error&) {
      // The operator threw without reading: the error stands for no element of its input.
    }
  }

  bool read(std::vector<Array>* out) {
    while (row_ == in_.rows) {
      if (input_ended_) return false;
      wants_input_ = true;
      if (stopped() || !give_turn()) throw Error(Code::cancelled, "cancelled");
    }
    const int64_t row = row_++;
    throws_.reset();
    ids_.add_read(in_.origin.lineage(row), in_.origin.epoch(row));
    if (const ErrorPtr* error = in_.error_at(row)) throw Error(**error);
    out->clear();
    for (const Column& c : in_.columns) out->push_back(ArrayAccess::of(c.row(row)));
    return true;
  }

  void work() {
    const ScopedPool pool(&run_->pool());
    const ScopedCancellation cancellation(run_->cancel_flag());
    {
      std::unique_lock lock(mutex_);
      if (!wait_for_turn(lock)) return;
    }
    produce();
    const std::lock_guard lock(mutex_);
    finished_ = true;
    workers_turn_ = false;
    turn_.notify_all();
  }

  // Until the end or until the cursor goes away.
  void produce() {
    RowSource source;
    try {
      source = opened([this] { return open_([this](std::vector<Array>* r) { return read(r); }); });
    } catch (...) {
      error_ = current_error();
      return;
    }
    for (bool ended = false; !ended;) {
      bool full = false;
      try {
        std::vector<Array> row;
        if (!source(&row)) {
          ended = true;
          ids_.check_end(input_ended_);
          return;
        }
        ids_.add_emitted();
        rows_.add(row);
        throws_.reset();
        full = rows_.count() >= most_ || now_ns() - turn_start_ns_ > kTurnNs;
      } catch (...) {
        if (stopped()) return;
        take_error(&ended);
        full = true;
      }
      if (full && !give_turn()) return;
    }
  }

  const std::function<RowSource(RowSource)> open_;
  const CursorPtr input_;
  UserRows rows_;
  Run* const run_;
  const OpenContext context_;
  const bool stateless_;
  RowIdentities ids_;
  Origin error_origin_;
  Block in_;
  int64_t row_ = 0;  // of in_, the next to be read
  int64_t most_ = 1;
  int64_t turn_start_ns_ = 0;
  int64_t position_ = 0;
  bool wants_input_ = false, input_ended_ = false, finished_ = false;
  Throws throws_;
  ErrorPtr error_;
  std::mutex mutex_;  // of the turn
  std::condition_variable turn_;
  bool workers_turn_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace

CursorPtr open_row_source(const std::function<RowSource()>& open, const PlanNode& node,
                          const OpenContext& context, std::optional<int64_t> promised) {
  return std::make_unique<RowSourceCursor>(opened(open), node, context, promised);
}

CursorPtr open_row_operator(std::function<RowSource(RowSource)> open, CursorPtr input,
                            const PlanNode& node, const OpenContext& context,
                            const OperatorFacts& facts) {
  return std::make_unique<RowOperatorCursor>(std::move(open), std::move(input), node.spec, context,
                                             facts);
}

}  // namespace penstock
