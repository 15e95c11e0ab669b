// load(filenames): the elements of files that save() wrote, one file after the other.
//
// The first file says what an element is when the pipeline is built; the others must hold the same.
// Names that are known only when the pipeline runs need `like`, a file that holds the same
// elements. reader_func makes the dataset of a dataset of files, each a dataset: it says in which
// order they are read. A damaged chunk is an error that ends its file.

#include "datasets/datasets.h"
#include "datasets/records.h"
#include "datasets/snapshot_cursor.h"
#include "io/snapshot.h"

namespace penstock {

OperatorDef load_operator() {
  OperatorDef op;
  op.name = "load";
  op.doc = "The elements of files that save() wrote.";
  op.params = {required("filenames", Param::Kind::any), option("like", Param::Kind::text, {}),
               option("reader_func", Param::Kind::function, {})};
  op.source = true;
  op.files_param = "filenames";
  op.reader_param = "reader_func";
  op.infer = [](NodeDraft& draft) {
    const Attr& names = draft.node.args["filenames"];
    const Attr& like = draft.node.args["like"];
    if (names.has_capture() && like.is_none()) {
      NodeDraft::fail("filenames",
                      "must be constant, or `like` must name a file whose elements are "
                      "the same: what the files hold must be known");
    }
    try {
      draft.node.cardinality = kUnknown;
      if (!like.is_none()) draft.node.spec = read_snapshot_info(files_of(like).at(0)).spec;
      if (names.has_capture()) return;
      const std::vector<std::string> paths = files_of(names);
      if (paths.empty()) NodeDraft::fail("filenames", "at least one file is needed");
      int64_t rows = 0;
      for (size_t i = 0; i < paths.size(); ++i) {
        const SnapshotInfo info = read_snapshot_info(paths[i]);
        if (i == 0) draft.node.spec = info.spec;
        rows = rows < 0 || info.rows < 0 ? kUnknown : rows + info.rows;
      }
      draft.node.cardinality = rows;
    } catch (const Error& e) {
      NodeDraft::fail("filenames", e.message(), e.code());
    }
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return open_snapshot_cursor(files_of(context.arg(*node, "filenames")), node, context,
                                SnapshotLineage::anew);
  };
  return op;
}

}  // namespace penstock
