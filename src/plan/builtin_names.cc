#include "plan/builtin_names.h"

#include <algorithm>

#include "plan/habits.h"
#include "plan/node.h"
#include "plan/spelling.h"
#include "plan/static_forms.h"

namespace penstock {

std::string plain_op_name(const std::string& name) {
  const std::string_view op = op_written(name, Form::plain);
  return op.empty() ? name : std::string(op);
}

std::string spelled_name(const OperatorDef& op, const Param& param) {
  constexpr std::string_view kSuffix = "_dataset";
  if (param.kind != Param::Kind::dataset || !param.name.ends_with(kSuffix)) return param.name;
  const std::string plain = param.name.substr(0, param.name.size() - kSuffix.size());
  const bool twin = std::ranges::any_of(
      op.params, [&](const Param& p) { return p.kind == Param::Kind::tensor && p.name == plain; });
  return twin ? plain : param.name;
}

bool is_special_call(const std::string& name) {
  return is_special_form(name) || !op_written(name, Form::of_others).empty() ||
         find_static_form(name) != nullptr;
}

namespace {

std::vector<std::string> known_stages() {
  std::vector<std::string> out;
  for (const OperatorDef* o : OperatorRegistry::instance().all()) {
    if (!o->internal) out.push_back(o->name);
  }
  return out;
}

// Other libraries sort ops into modules: of strings_lower and to_lower `lower` is left. Returns the
// longest end of `name` after an underscore that is known, or "".
std::string known_ending(const std::string& name, const std::vector<std::string>& known) {
  constexpr size_t kShortest = 3;
  for (size_t at = name.find('_'); at != std::string::npos; at = name.find('_', at + 1)) {
    const std::string ending = name.substr(at + 1);
    if (ending.size() >= kShortest && std::ranges::find(known, ending) != known.end())
      return ending;
  }
  return "";
}

}  // namespace

bool is_call(const std::string& name) {
  const OperatorDef* stage = OperatorRegistry::instance().find(name);
  return (stage && !stage->internal) || OpRegistry::instance().find(plain_op_name(name)) ||
         is_special_call(name) || parse_dtype(name);
}

std::string no_such_call(const std::string& name, bool on_dataset,
                         const std::vector<std::string>& names) {
  std::vector<std::string> known = known_stages();
  const std::string missing = "there is no stage `" + name + "`";
  if (const std::string_view call = call_for(name); !call.empty())
    return "there is no " + std::string(on_dataset ? "stage" : "op") + " `" + name + "`; write " +
           std::string(call);
  if (on_dataset) {
    if (const std::string hint = did_you_mean(name, known); !hint.empty()) return missing + hint;
  }
  for (const OpDef* o : OpRegistry::instance().all()) known.push_back(o->name);
  known.insert(known.end(), names.begin(), names.end());
  const std::string ending = known_ending(name, known);
  return "there is no op `" + name + "`" +
         (ending.empty() ? did_you_mean(name, known) : " (did you mean " + ending + "?)");
}

std::string undefined_name(const std::string& name, const std::vector<std::string>& names) {
  std::string what = "`" + name + "` is not defined";
  if (const std::string_view word = word_for(name); !word.empty())
    return what + "; write `" + std::string(word) + "`";
  if (const std::string hint = did_you_mean(name, names); !hint.empty()) return what + hint;
  if (is_foreign_module(name)) return what + "; there are no modules: leave `" + name + ".` out";
  return what;
}

std::string member_call(const std::string& name) {
  if (is_call(name)) return "`" + name + "`";
  if (const std::string_view call = call_for(name); !call.empty()) return std::string(call);
  if (const std::string_view word = word_for(name); !word.empty())
    return "`" + std::string(word) + "`";
  return "";
}

}  // namespace penstock
