// save(path): writes the elements to a file for load(), and gives their number.
//
// With shard_func the path is a folder: an element goes to the file of its number, shard-00003. The
// files are there when all of them are: an error, a cancelled run or a full disk leaves nothing.

#include <algorithm>
#include <map>

#include "datasets/datasets.h"
#include "datasets/sink.h"
#include "datasets/snapshot_cursor.h"
#include "io/file_system.h"
#include "io/snapshot.h"
#include "io/staging_folder.h"

namespace penstock {
namespace {

constexpr int64_t kMostShards = 10'000;  // each is an open file

// Hands blocks that are free of errors on.
void for_each_good_block(const PlanPtr& node, const OpenContext& context,
                         const std::function<void(const Block&)>& f) {
  for_each_block(node, context, [&](const Block& block) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
    f(block);
    return true;
  });
}

int64_t save_file(const PlanPtr& node, const OpenContext& context) {
  SnapshotWriter writer(node->arg("path").as_string(), node->inputs[0]->spec,
                        node->arg("compression").as_string());
  for_each_good_block(node, context, [&](const Block& block) { writer.write(block); });
  writer.close();
  return writer.rows();
}

// The files of a folder, by the numbers of their shards.
class Shards {
 public:
  Shards(const PlanNode& node, std::string folder) : node_(node), folder_(std::move(folder)) {}

  void write(const Block& block, const Column& numbers) {
    std::map<int64_t, std::vector<int32_t>> rows;
    for (int64_t i = 0; i < block.rows; ++i)
      rows[numbers.row(i).entry<int64_t>()].push_back(static_cast<int32_t>(i));
    for (const auto& [shard, indices] : rows) writer(shard).write(block.gather(indices));
  }
  int64_t close() {
    int64_t rows = 0;
    for (auto& [shard, writer] : writers_) {
      writer->close();
      rows += writer->rows();
    }
    return rows;
  }

 private:
  SnapshotWriter& writer(int64_t shard) {
    std::unique_ptr<SnapshotWriter>& out = writers_[shard];
    if (out) return *out;
    if (shard < 0 || std::ssize(writers_) > kMostShards) {
      throw Error(Code::invalid_argument, "shard_func must give numbers from 0 on, at most " +
                                              std::to_string(kMostShards) +
                                              " different ones: " + std::to_string(shard));
    }
    std::string number = std::to_string(shard);
    number.insert(0, 5 - std::min<size_t>(number.size(), 5), '0');
    out = std::make_unique<SnapshotWriter>(folder_ + "/shard-" + number, node_.inputs[0]->spec,
                                           node_.arg("compression").as_string());
    return *out;
  }

  const PlanNode& node_;
  const std::string folder_;
  std::map<int64_t, std::unique_ptr<SnapshotWriter>> writers_;
};

// Returns true if nothing has the name, or an empty folder.
bool is_free(const std::string& path) {
  const FileStatus status = file_status(path);
  if (!status.is_folder()) return !status.exists();
  const ResolvedName at = resolve_name("write", path);
  return at.files->list(at.name).empty();
}

int64_t save_shards(const PlanPtr& node, const OpenContext& context) {
  const std::string path = node->arg("path").as_string();
  // Shards of another save would be read with these.
  if (!is_free(path))
    throw Error(Code::already_exists, "write: " + path + ": is not an empty folder");
  StagingFolder staged(path, false);
  Shards shards(*node, staged.path());
  const auto shard_of = context.program(*node, "shard_func");
  for_each_good_block(node, context, [&](const Block& block) {
    Block in = block, numbers;
    shard_of->run(in, &numbers);
    if (!numbers.errors.empty()) throw Error(*numbers.errors[0].error);
    shards.write(block, numbers.columns[0]);
  });
  const int64_t rows = shards.close();
  staged.publish();
  return rows;
}

void check_shard_func(const NodeDraft& draft) {
  const FunctionPtr& f = draft.node.function("shard_func");
  if (f && !(f->output == Spec::tensor(DType::int64, {})))
    NodeDraft::fail("shard_func", "gives " + f->output.text() + ", expected one int64");
}

}  // namespace

OperatorDef save_operator() {
  OperatorDef op;
  op.name = "save";
  op.doc = "Writes the elements to a file that load() reads; gives their number.";
  op.params = {required("input", Param::Kind::dataset), required("path", Param::Kind::text),
               option("compression", Param::Kind::text, Attr::text("")),
               option("shard_func", Param::Kind::function, {})};
  op.sink = true;
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = [](NodeDraft& draft) {
    const PlanNode& input = draft.input();
    check_snapshot_path("path", draft.node.args["path"]);
    if (input.cardinality == kInfinite) NodeDraft::fail("input", "never ends; cut it with take(n)");
    check_snapshot_arguments(input.spec, draft.node.args["compression"]);
    check_shard_func(draft);
    draft.node.spec = Spec::tensor(DType::int64, {});
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext& context) {
    const int64_t rows =
        node->function("shard_func") ? save_shards(node, context) : save_file(node, context);
    return std::vector<Tensor>{Tensor::scalar(rows)};
  };
  return op;
}

}  // namespace penstock
