#include "plan/builtin_names.h"

#include "plan/node.h"
#include "plan/static_forms.h"

namespace penstock {

std::string plain_op_name(const std::string& name) {
  for (const std::string_view reduction :
       {"sum", "mean", "min", "max", "any", "all", "prod", "std", "variance", "logsumexp"}) {
    if (name == reduction) return "reduce_" + name;
  }
  return name;
}

bool is_special_call(const std::string& name) {
  for (const std::string_view special :
       {"map_structure", "repeated", "feature", "split", "ragged", "sparse", "apply"}) {
    if (name == special) return true;
  }
  return find_static_form(name) != nullptr;
}

std::string no_such_call(const std::string& name, bool on_dataset,
                         const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const OperatorDef* o : OperatorRegistry::instance().all()) {
    if (!o->internal) known.push_back(o->name);
  }
  if (on_dataset) {
    if (const std::string hint = did_you_mean(name, known); !hint.empty())
      return "there is no stage `" + name + "`" + hint;
  }
  for (const OpDef* o : OpRegistry::instance().all()) known.push_back(o->name);
  known.insert(known.end(), names.begin(), names.end());
  return "there is no op `" + name + "`" + did_you_mean(name, known);
}

}  // namespace penstock
