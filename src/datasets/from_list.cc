// from_list([a, b, ...]): one element for each entry; entries agree in structure and dtypes, their
// shapes and the order of their keys may differ.

#include <algorithm>

#include "datasets/datasets.h"
#include "datasets/structure.h"
#include "runtime/open.h"

namespace penstock {
namespace {

// Entries of a list that became one tensor are its items.
std::vector<Attr> entries(const Attr& list) {
  if (!list.is_tensor()) return list.items();
  std::vector<Attr> out;
  for (int64_t i = 0; i < list.tensor().dims()[0]; ++i)
    out.push_back(Attr::of(list.tensor().item(i)));
  return out;
}

// Lists inside an entry are tensors.
Attr as_structure(const Attr& a) {
  if (a.kind() != Attr::Kind::list) {
    if (a.items().empty()) return a;
    std::vector<Attr> items;
    for (const Attr& item : a.items()) items.push_back(as_structure(item));
    return a.kind() == Attr::Kind::tuple ? Attr::tuple(std::move(items))
                                         : Attr::dict(a.keys(), std::move(items));
  }
  if (a.items().empty()) return Attr::of(Tensor::make(DType::float32, {0}));
  ColumnBuilder rows;
  for (const Attr& item : a.items()) rows.append(Column::constant(as_structure(item).tensor(), 1));
  const Column column = rows.take(static_cast<int64_t>(a.items().size())).expanded();
  if (column.kind() != Column::Kind::dense)
    throw Error(Code::invalid_argument, "the rows of an entry differ in shape");
  return Attr::of(column.grouped(column.rows()).row(0));
}

// With the keys of its dicts in the order of `like`, as far as they are the same.
Attr in_order_of(const Attr& like, const Attr& a) {
  if (a.kind() != like.kind() || a.items().size() != like.items().size() || a.items().empty())
    return a;
  std::vector<Attr> items;
  for (size_t i = 0; i < like.items().size(); ++i) {
    size_t from = i;
    if (a.kind() == Attr::Kind::dict) {
      const auto at = std::ranges::find(a.keys(), like.keys()[i]);
      if (at == a.keys().end()) return a;
      from = static_cast<size_t>(at - a.keys().begin());
    }
    items.push_back(in_order_of(like.items()[i], a.items()[from]));
  }
  return a.kind() == Attr::Kind::dict    ? Attr::dict(like.keys(), std::move(items))
         : a.kind() == Attr::Kind::tuple ? Attr::tuple(std::move(items))
                                         : a;
}

std::vector<Attr> rows_of(const Attr& list) {
  std::vector<Attr> out = entries(list);
  for (Attr& a : out) a = in_order_of(out[0], as_structure(a));
  // An empty list takes the dtype of its neighbours.
  for (Attr& a : out) {
    if (!a.is_tensor() || a.tensor().object() || a.tensor().entries_count() != 0) continue;
    for (const Attr& other : out) {
      if (other.is_tensor() && !other.tensor().object() && other.tensor().entries_count() > 0)
        a = Attr::of(Tensor::make(other.tensor().dtype(), a.tensor().dims()));
    }
  }
  return out;
}

class FromListCursor final : public Cursor {
 public:
  FromListCursor(std::vector<Attr> rows, const PlanNode& node, const OpenContext& context)
      : context_(context),
        rows_(std::move(rows)),
        position_(
            static_cast<size_t>(context.resumed_index(node, static_cast<int64_t>(rows_.size())))) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (position_ == rows_.size()) return Poll::end;
    const size_t n = std::min(static_cast<size_t>(pull.max_rows), rows_.size() - position_);
    std::vector<ColumnBuilder> columns;
    for (size_t r = 0; r < n; ++r) {
      const std::vector<Tensor> leaves = structure_leaves(rows_[position_ + r]);
      columns.resize(leaves.size());
      for (size_t c = 0; c < leaves.size(); ++c) columns[c].append(Column::constant(leaves[c], 1));
    }
    out->clear();
    out->rows = static_cast<int64_t>(n);
    for (ColumnBuilder& c : columns) out->columns.push_back(c.take(out->rows));
    out->origin = source_origin(context_, static_cast<int64_t>(position_));
    position_ += n;
    set_mark(out, IndexMark{static_cast<int64_t>(position_)});
    return Poll::ready;
  }

 private:
  OpenContext context_;
  std::vector<Attr> rows_;
  size_t position_;
};

}  // namespace

OperatorDef from_list_operator() {
  OperatorDef op;
  op.name = "from_list";
  op.doc = "An element for each entry of a list; shapes may differ.";
  op.params = {required("elements", Param::Kind::any)};
  op.source = true;
  op.literal = Literal::list;
  op.infer = [](NodeDraft& draft) {
    const Attr& list = draft.node.args["elements"];
    if (list.kind() != Attr::Kind::list && !(list.is_tensor() && list.tensor().dims().rank() > 0))
      NodeDraft::fail("elements", "expected a list");
    if (list.has_capture()) NodeDraft::fail("elements", "must be constant");
    const std::vector<Attr> rows = rows_of(list);
    if (rows.empty()) NodeDraft::fail("elements", "the list is empty");
    Spec spec = structure_spec(rows[0]);
    for (const Attr& row : rows) {
      bool ok = false;
      spec = join_specs(spec, structure_spec(row), &ok);
      if (!ok)
        NodeDraft::fail("elements", "the entries differ: " + spec.text() + " and " +
                                        structure_spec(row).text());
    }
    draft.node.spec = spec;
    draft.node.cardinality = static_cast<int64_t>(rows.size());
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<FromListCursor>(rows_of(node->arg("elements")), *node, context);
  };
  return op;
}

}  // namespace penstock
