// snapshot(path): writes the elements to a folder in the first whole pass and reads them in later
// ones, runs included: a cache on disk by tf.data's name. A changed plan or file makes a new entry.

#include "datasets/datasets.h"
#include "datasets/disk_cache.h"
#include "datasets/snapshot_cursor.h"

namespace penstock {

OperatorDef snapshot_operator() {
  OperatorDef op;
  op.name = "snapshot";
  op.doc = "Keeps the elements in a folder; later passes and runs of the same plan read them.";
  op.params = {required("input", Param::Kind::dataset), required("path", Param::Kind::text),
               option("compression", Param::Kind::text, Attr::text("")),
               option("size_limit", Param::Kind::integer, {})};
  op.rows = Rows::same;
  op.keeps_files = [](const PlanNode&) { return true; };
  op.infer = [](NodeDraft& draft) {
    check_snapshot_path("path", draft.node.args["path"]);
    check_snapshot_arguments(draft.input().spec, draft.node.args["compression"]);
    check_identities(draft);
    if (!draft.node.args["size_limit"].is_none())
      draft.int_at_least("size_limit", 1, "must be positive", 1);
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return open_disk_cache(node, context, disk_cache_options(*node, node->arg("path").as_string()));
  };
  return op;
}

}  // namespace penstock
