// list_files(patterns) and files(patterns): names of the files that match, sorted, or shuffled.
//
// One implementation, two defaults: the peer's list_files shuffles unless told not to, which
// surprises people; both of ours keep the order unless asked.

#include <algorithm>
#include <numeric>

#include "datasets/datasets.h"
#include "datasets/file_order.h"
#include "datasets/records.h"
#include "io/file_system.h"
#include "io/glob.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

// The names in the order in which they are given.
class Names {
 public:
  Names(const PlanNode& node, const OpenContext& context) : context_(context) {
    const std::vector<std::string> names =
        match_files(strings_of(context.arg(node, "file_pattern")));
    const Attr& seed = node.arg("seed");
    order_ = file_order(names.size(), node.arg("shuffle").as_bool(),
                        seed.is_none() ? 0 : static_cast<uint64_t>(seed.as_int()), context);
    std::vector<std::string_view> views(names.begin(), names.end());
    Tensor all = Tensor::of_strings(views);
    names_ = Column::dense(DType::bytes, {}, all.dims()[0], all.buffer(), all.mutable_data());
  }

  int64_t count() const { return static_cast<int64_t>(order_.size()); }
  Block at(std::span<const int64_t> places) const {
    std::vector<int32_t> indices;
    RowIds lineages;
    for (const int64_t place : places) {
      const size_t name = order_[static_cast<size_t>(place)];
      indices.push_back(static_cast<int32_t>(name));
      lineages.push_back(context_.lineage + name);
    }
    Block out;
    out.rows = static_cast<int64_t>(places.size());
    out.columns.push_back(names_.gather(indices));
    out.origin = Origin::of(std::move(lineages), {context_.epoch});
    return out;
  }

 private:
  Column names_;
  std::vector<size_t> order_;
  OpenContext context_;
};

class NamesCursor final : public Cursor {
 public:
  NamesCursor(Names names, int64_t first) : names_(std::move(names)), at_(first) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (at_ == names_.count()) return Poll::end;
    std::vector<int64_t> places(static_cast<size_t>(std::min(pull.max_rows, names_.count() - at_)));
    std::iota(places.begin(), places.end(), at_);
    *out = names_.at(places);
    at_ += out->rows;
    set_mark(out, IndexMark{at_});
    return Poll::ready;
  }

 private:
  const Names names_;
  int64_t at_;
};

OperatorDef named(const char* name) {
  OperatorDef op;
  op.name = name;
  op.doc = "Names of the files that match the pattern, or one of a list of patterns, in order.";
  op.params = {required("file_pattern", Param::Kind::any),
               optional("shuffle", Param::Kind::boolean, Attr::boolean(false)),
               optional("seed", Param::Kind::integer, {})};
  op.source = op.lists_files = true;
  op.files_param = "file_pattern";
  op.infer = [](NodeDraft& draft) {
    const Attr& patterns = draft.node.args["file_pattern"];
    draft.node.spec = Spec::tensor(DType::bytes, {});
    draft.node.cardinality = kUnknown;
    if (patterns.has_capture()) return;
    std::vector<std::string> names;
    try {
      names = strings_of(patterns);
      for (const std::string& pattern : names) resolve_name("list", pattern);
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
    Names names(*node, context);
    const int64_t first = context.resumed_index(*node, names.count());
    return std::make_unique<NamesCursor>(std::move(names), first);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    auto names = std::make_shared<const Names>(*node, context);
    return make_indexed(names->count(),
                        [names](std::span<const int64_t> places) { return names->at(places); });
  };
  return op;
}

}  // namespace

OperatorDef list_files_operator() { return named("list_files"); }
OperatorDef files_operator() { return named("files"); }

}  // namespace penstock
