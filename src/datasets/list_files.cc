// list_files(patterns) and files(patterns): names of the files that match, sorted, or shuffled.
//
// One implementation, two defaults: the peer's list_files shuffles unless told not to, which
// surprises people; both of ours keep the order unless asked.

#include <algorithm>

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/records.h"
#include "io/glob.h"

namespace penstock {
namespace {

class NamesCursor final : public Cursor {
 public:
  NamesCursor(const std::vector<std::string>& names, const std::vector<size_t>& order,
              const OpenContext& context, int64_t first)
      : order_(order), context_(context), at_(static_cast<size_t>(first)) {
    std::vector<std::string_view> views(names.begin(), names.end());
    names_ = Tensor::of_strings(views);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (at_ == order_.size()) return Poll::end;
    const size_t n = std::min(static_cast<size_t>(pull.max_rows), order_.size() - at_);
    std::vector<int32_t> indices;
    RowIds lineages;
    for (size_t i = 0; i < n; ++i) {
      indices.push_back(static_cast<int32_t>(order_[at_ + i]));
      lineages.push_back(context_.lineage + order_[at_ + i]);
    }
    const Column all =
        Column::dense(DType::bytes, {}, names_.dims()[0], names_.buffer(), names_.mutable_data());
    out->clear();
    out->rows = static_cast<int64_t>(n);
    out->columns.push_back(all.gather(indices));
    out->origin = Origin::of(std::move(lineages), {context_.epoch});
    at_ += n;
    set_mark(out, {static_cast<int64_t>(at_)});
    return Poll::ready;
  }

 private:
  Tensor names_;
  std::vector<size_t> order_;
  OpenContext context_;
  size_t at_;
};

// The order of shuffle(none, seed).
std::vector<size_t> order_of(size_t n, bool shuffle, uint64_t seed, const OpenContext& context) {
  std::vector<size_t> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = i;
  if (!shuffle) return out;
  std::vector<size_t> order;
  for (size_t k = 0; k < n; ++k) {
    const size_t slot =
        RandomStream(seed, context.epoch, mix(context.lineage, k)).next_below(n - k);
    order.push_back(out[slot]);
    out[slot] = out.back();
    out.pop_back();
  }
  return order;
}

OperatorDef named(const char* name) {
  OperatorDef op;
  op.name = name;
  op.doc = "Names of the files that match the pattern, or one of a list of patterns, in order.";
  op.params = {required("file_pattern", Param::Kind::any),
               optional("shuffle", Param::Kind::boolean, Attr::boolean(false)),
               optional("seed", Param::Kind::integer, {})};
  op.source = true;
  op.infer = [](NodeDraft& draft) {
    const Attr& patterns = draft.node.args["file_pattern"];
    draft.node.spec = Spec::tensor(DType::bytes, {});
    draft.node.cardinality = kUnknown;
    if (patterns.has_capture()) return;
    std::vector<std::string> names;
    try {
      names = strings_of(patterns);
    } catch (const Error& e) {
      NodeDraft::fail("file_pattern", e.message());
    }
    try {
      draft.node.cardinality = static_cast<int64_t>(match_files(names).size());
    } catch (const Error&) {
      // Nothing matches now: the plan is good all the same, opening it is refused.
    }
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const std::vector<std::string> names =
        match_files(strings_of(context.arg(*node, "file_pattern")));
    const bool shuffle = node->arg("shuffle").as_bool();
    const uint64_t seed =
        node->arg("seed").is_none() ? 0 : static_cast<uint64_t>(node->arg("seed").as_int());
    return std::make_unique<NamesCursor>(
        names, order_of(names.size(), shuffle, seed, context), context,
        context.resumed_index(*node, static_cast<int64_t>(names.size())));
  };
  return op;
}

}  // namespace

OperatorDef list_files_operator() { return named("list_files"); }
OperatorDef files_operator() { return named("files"); }

}  // namespace penstock
