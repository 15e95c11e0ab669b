// assert_cardinality(expected_cardinality): the elements as they are; their number is taken at its
// word, and checked. -1: without end. -2: not known, nothing is checked.
//
// One element too many, or an end too early, is an error; then comes the end. Errors of the input
// do not count.

#include <algorithm>

#include "datasets/datasets.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

std::string count_text(int64_t n) {
  if (n == kInfinite) return "an infinite number of elements";
  return std::to_string(n) + (n == 1 ? " element" : " elements");
}

Error too_many(int64_t expected) {
  return Error(Code::failed_precondition, "the input was expected to contain " +
                                              count_text(expected) + " but contained at least " +
                                              count_text(expected + 1));
}

Error too_few(int64_t expected, int64_t count) {
  return Error(Code::failed_precondition, "the input was expected to contain " +
                                              count_text(expected) + " but contained only " +
                                              count_text(count));
}

struct AssertCardinalityMark {
  static constexpr MarkForm kForm{"cardinality", 1};
  int64_t elements = 0;  // so far
  static void fields(auto& mark, auto& f) { f.count("elements", mark.elements); }
};

class AssertCardinalityCursor final : public Cursor {
 public:
  AssertCardinalityCursor(CursorPtr input, int64_t expected, int64_t count)
      : input_(std::move(input)), expected_(expected), count_(count) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (over_) {
      over_ = false;
      throw too_many(expected_);
    }
    if (!input_) return Poll::end;
    const Poll poll = input_->pull(out, pull);
    if (poll == Poll::pending) return poll;
    if (poll == Poll::end) {
      input_.reset();
      if (expected_ != kUnknown && count_ != expected_) throw too_few(expected_, count_);
      return Poll::end;
    }
    const int64_t good = out->rows - static_cast<int64_t>(out->errors.size());
    if (expected_ >= 0 && count_ + good > expected_) return give_rest(out);
    count_ += good;
    set_mark(out, AssertCardinalityMark{count_}, {input_->position()});
    return Poll::ready;
  }

 private:
  // The block holds more than there may be: its first rows, then the error.
  Poll give_rest(Block* out) {
    int64_t rows = 0;
    for (; count_ < expected_ || out->error_at(rows); ++rows) count_ += out->error_at(rows) ? 0 : 1;
    input_.reset();
    if (rows == 0) throw too_many(expected_);
    over_ = true;
    out->truncate(rows);
    return Poll::ready;
  }

  CursorPtr input_;  // null once the end is reached
  const int64_t expected_;
  int64_t count_;
  bool over_ = false;  // the next outcome says that there are too many
};

// Rows by index, of an input that has another number of them than expected: as in a run, the error
// follows the last row that may be given. All rows of the input count, those that fail too: which
// do is not known.
class WrongNumber final : public Indexed {
 public:
  WrongNumber(IndexedPtr input, int64_t expected, size_t columns)
      : input_(std::move(input)), columns_(columns) {
    const int64_t rows = input_->rows();
    const bool more = expected != kInfinite && rows > expected;
    good_ = more ? expected : rows;
    const Error error = more ? too_many(expected) : too_few(expected, rows);
    error_ = std::make_shared<const Error>(error.at("assert_cardinality"));
  }

  int64_t rows() const override { return good_ + 1; }
  Block at(std::span<const int64_t> indices) override {
    BlockBuilder out(columns_);
    while (!indices.empty()) {
      const auto error = std::ranges::find(indices, good_);
      const auto before = static_cast<size_t>(error - indices.begin());
      if (before > 0) out.append(input_->at(indices.first(before)));
      indices = indices.subspan(before);
      if (indices.empty()) break;
      out.append(error_block(error_, columns_, Origin()));
      indices = indices.subspan(1);
    }
    return out.finish();
  }

 private:
  IndexedPtr input_;
  const size_t columns_;
  int64_t good_ = 0;  // rows before the error
  ErrorPtr error_;
};

IndexedPtr open_checked(const PlanNode& node, const OpenContext& context) {
  IndexedPtr input = open_indexed_input(node, context);
  const int64_t expected = context.int_arg(node, "expected_cardinality");
  const int64_t rows = input->rows() == INT64_MAX ? kInfinite : input->rows();
  if (rows == expected || expected == kUnknown) return input;
  return std::make_unique<WrongNumber>(std::move(input), expected,
                                       static_cast<size_t>(node.spec.leaf_count()));
}

}  // namespace

OperatorDef assert_cardinality_operator() {
  OperatorDef op;
  op.name = "assert_cardinality";
  op.doc = "The elements as they are; another number of them than expected is an error.";
  op.params = {required("input", Param::Kind::dataset),
               required("expected_cardinality", Param::Kind::tensor)};
  op.rows = Rows::subset;
  op.promises_cardinality = true;
  op.infer = [](NodeDraft& draft) {
    draft.int_at_least("expected_cardinality", kUnknown,
                       "must be a count, -1 for no end, or -2 where it is not known", 0);
    const Attr& expected = draft.node.args["expected_cardinality"];
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = expected.is_capture() ? kUnknown : expected.as_int();
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t expected = context.int_arg(*node, "expected_cardinality");
    const auto from = context.resumed<AssertCardinalityMark>(*node);
    return std::make_unique<AssertCardinalityCursor>(context.open_input(*node), expected,
                                                     from ? from->elements : 0);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    return open_checked(*node, context);
  };
  return op;
}

}  // namespace penstock
