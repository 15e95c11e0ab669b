#include "datasets/dealing.h"

#include <map>

#include "plan/noop.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const PlanNode& node, const std::string& what) {
  throw Error(Code::failed_precondition, what, node.op->name);
}

}  // namespace

std::optional<Dealing> dealing_of(const PlanNode& node) {
  static const std::map<std::string, Dealing, std::less<>> table = {
      {"map", Dealing::same},
      {"prefetch", Dealing::same},
      {"with_options", Dealing::same},
      {"filter", Dealing::ordered},
      {"ignore_errors", Dealing::ordered},
      {"replace_errors", Dealing::ordered},
      {"batch", Dealing::ordered},
      {"padded_batch", Dealing::ordered},
      {"ragged_batch", Dealing::ordered},
      {"sparse_batch", Dealing::ordered},
      {"bucket_by_sequence_length", Dealing::listed},
      {"pack_sequences", Dealing::listed},
      {"shuffle", Dealing::drawn},
      {"flat_map", Dealing::opened},
      {"interleave", Dealing::opened},
      {"repeat", Dealing::repeated},
      {"shard", Dealing::shard},
  };
  if (changes_nothing(node)) return Dealing::same;
  const auto it = table.find(node.op->name);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

std::vector<int64_t> first_numbers(const PlanNode& node) {
  if (node.is("shuffle") || node.is("ignore_errors") || node.is("replace_errors")) return {0, 0};
  return *dealing_of(node) == Dealing::listed ? std::vector<int64_t>{0} : std::vector<int64_t>{};
}

std::vector<PlanPtr> stages_to_shard(const PlanPtr& plan) {
  std::vector<PlanPtr> out;
  bool opened = false;
  for (PlanPtr node = plan;; node = node->inputs[0]) {
    out.push_back(node);
    if (node->is("shard")) return out;
    if (node->inputs.empty()) {
      refuse(*plan, "the pipeline has no stage `shard` whose elements could be dealt to other "
                    "ranks");
    }
    if (!dealing_of(*node)) {
      refuse(*node, "what this stage holds or counts cannot be dealt to other ranks: put it before "
                    "`shard`, or go on with as many ranks as there were");
    }
    if (opened && (*dealing_of(*node) == Dealing::opened || node->is("repeat"))) {
      refuse(*node, "it stands between `shard` and a stage that opens datasets, which cannot be "
                    "dealt to other ranks then: put it before `shard`, or go on with as many "
                    "ranks as there were");
    }
    opened |= *dealing_of(*node) == Dealing::opened;
  }
}

}  // namespace penstock
