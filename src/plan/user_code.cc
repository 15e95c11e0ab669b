#include "plan/user_code.h"

#include <map>
#include <mutex>

#include "base/fork.h"

namespace penstock {
namespace {

struct AllUserCode {
  ForkMutex mutex;
  std::map<const void*, UserCode> of;
};

AllUserCode& all() {
  static auto* table = new AllUserCode;
  return *table;
}

std::string find_in_op(const void* op, const std::string& name) {
  const std::optional<UserCode> code = user_code_of(op);
  if (!code || code->portable) return {};
  return "`" + name + "` has no identity: another program cannot tell what its code gives; " +
         code->remedy;
}

std::string find_in_function(const Function& f) {
  for (const FunctionNode& node : f.nodes) {
    std::string found = node.op ? find_in_op(node.op, node.op->name) : std::string();
    if (found.empty() && node.dataset) found = find_unidentified_code(*node.dataset);
    for (const FunctionPtr& body : node.bodies) {
      if (found.empty()) found = find_in_function(*body);
    }
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

void set_user_code(const void* op, UserCode code) {
  const std::lock_guard lock(all().mutex);
  all().of[op] = std::move(code);
}

void forget_user_code(const void* op) {
  const std::lock_guard lock(all().mutex);
  all().of.erase(op);
}

std::optional<UserCode> user_code_of(const void* op) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().of.find(op);
  return found == all().of.end() ? std::nullopt : std::optional(found->second);
}

std::string find_unidentified_code_of_stage(const PlanNode& stage) {
  std::string found = find_in_op(stage.op, stage.op->name);
  for (const auto& [name, f] : stage.functions) {
    if (found.empty()) found = find_in_function(*f);
  }
  return found;
}

std::string find_unidentified_code(const PlanNode& root) {
  for (const PlanNode* node : topological(root)) {
    std::string found = find_unidentified_code_of_stage(*node);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace penstock
