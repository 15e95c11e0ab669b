// JSON to plan: every index is checked, every type is inferred again.

#include <algorithm>
#include <map>

#include "data/object_list.h"
#include "plan/json_form.h"
#include "plan/json_read.h"

namespace penstock {
namespace {

using json_form::checked;
using json_form::EnvironmentTypes;
using json_form::fits;
using json_form::In;
using json_form::Where;

class PlanReader {
 public:
  explicit PlanReader(const EnvironmentTypes& environment) : environment_(environment) {}

  PlanPtr read(const In& in, const Where& where) {
    read_earlier(in, where);
    std::vector<std::pair<const In*, Where>> chain;
    PlanPtr out;
    for (const In* at = &in;;) {
      const Where here =
          chain.empty()
              ? where
              : Where{where.path + "(" + std::to_string(chain.size()) + " down)", where.depth};
      if (const In* ref = json_form::optional_member(json_form::object(*at, here), "ref")) {
        out = shared(*ref, here["ref"]);
        break;
      }
      chain.emplace_back(at, here);
      const In& inputs = json_form::array(json_form::member(*at, "inputs", here), here["inputs"]);
      if (inputs.empty()) break;
      at = &inputs[0];
    }
    for (size_t i = chain.size(); i-- > 0;)
      out = one(*chain[i].first, std::move(out), chain[i].second);
    return out;
  }

 private:
  // Parts of a deep plan, which the rest refers to.
  void read_earlier(const In& in, const Where& where) {
    const In* earlier = json_form::optional_member(json_form::object(in, where), "earlier");
    if (!earlier) return;
    json_form::array(*earlier, where["earlier"]);
    for (size_t i = 0; i < earlier->size(); ++i) read((*earlier)[i], where["earlier"][i]);
  }

  PlanPtr shared(const In& ref, const Where& where) {
    const int64_t id = json_form::integer(ref, where, 0, INT64_MAX);
    const auto found = nodes_.find(id);
    if (found == nodes_.end())
      where.fail("there is no node with this id before: " + std::to_string(id));
    return found->second;
  }

  PlanPtr one(const In& in, PlanPtr first, const Where& where) {
    const std::string& name = json_form::text(json_form::member(in, "op", where), where["op"]);
    const OperatorDef* op = OperatorRegistry::instance().find(name);
    if (!op) where["op"].fail("there is no operator `" + name + "`");
    NodeDraft draft;
    draft.node.op = op;
    const In& inputs = in["inputs"];
    for (size_t i = 0; i < inputs.size(); ++i) {
      PlanPtr input = i == 0 ? std::move(first) : read(inputs[i], where["inputs"][i]);
      if (input->op->sink)
        where["inputs"][i].fail("`" + input->op->name + "` gives a value, expected a dataset");
      draft.node.inputs.push_back(std::move(input));
    }
    read_args(in, &draft, where);
    read_functions(in, &draft, where);
    PlanPtr out = checked(where, [&] {
      return make_node(*op, std::move(draft.node.inputs), std::move(draft.node.args),
                       std::move(draft.node.functions));
    });
    if (const In* id = json_form::optional_member(in, "id")) {
      nodes_[json_form::integer(*id, where["id"], 0, INT64_MAX)] = out;
    }
    return out;
  }

  void read_args(const In& in, NodeDraft* draft, const Where& where) {
    const OperatorDef& op = *draft->node.op;
    const Where here = where["args"];
    const In& args = json_form::object(json_form::member(in, "args", where), here);
    size_t known = 0, datasets = 0;
    bool tree = false;
    for (const Param& p : op.params) {
      datasets += p.kind == Param::Kind::dataset ? 1 : 0;
      tree |= p.kind == Param::Kind::datasets;
      if (p.kind == Param::Kind::dataset || p.kind == Param::Kind::function) continue;
      const In* given = json_form::optional_member(args, p.name.c_str());
      known += given ? 1 : 0;
      if (p.kind == Param::Kind::datasets) {
        draft->node.args.set(p.name, {});
        continue;
      }
      if (!given && p.required) here.fail("`" + p.name + "` is missing");
      Attr value =
          given ? json_form::attr_from_json(*given, environment_, here[p.name]) : p.fallback;
      json_form::check_attr(value, p, here[p.name]);
      if (p.name == op.stands_for && !is_dataset_capture(value))
        here[p.name].fail("must be a captured dataset");
      draft->node.args.set(p.name, std::move(value));
    }
    const size_t inputs = draft->node.inputs.size();
    if (tree) {
      ++known;
      read_structure(args, inputs - std::min(inputs, datasets), draft, here);
    } else if (inputs > datasets || (inputs == 0 && datasets > 0)) {
      where.fail("takes " + std::to_string(datasets) + " datasets, " + std::to_string(inputs) +
                 " given");
    }
    if (const In* given = json_form::optional_member(args, "structure");
        given && !tree && !draft->node.args.has("structure")) {
      here.fail("there is no argument `structure`");
    }
    if (known < args.size()) here.fail("holds arguments that `" + op.name + "` does not have");
    if (inputs < datasets) require_datasets(op, inputs, where);
  }

  static bool is_dataset_capture(const Attr& attr) {
    return attr.is_capture() && is_dataset(attr.capture_type());
  }

  static void require_datasets(const OperatorDef& op, size_t given, const Where& where) {
    size_t needed = 0;
    for (const Param& p : op.params) needed += p.kind == Param::Kind::dataset && p.required ? 1 : 0;
    if (given < needed)
      where.fail("takes " + std::to_string(needed) + " datasets, " + std::to_string(given) +
                 " given");
  }

  // Its leaves are the indices of the inputs, each once, in order.
  static void read_structure(const In& args, size_t inputs, NodeDraft* draft, const Where& where) {
    Attr structure = json_form::attr_from_json(json_form::member(args, "structure", where), {},
                                               where["structure"]);
    int64_t next = -1;
    const std::function<void(const Attr&)> walk = [&](const Attr& attr) {
      if (attr.kind() == Attr::Kind::tuple || attr.kind() == Attr::Kind::dict ||
          attr.kind() == Attr::Kind::list) {
        for (const Attr& item : attr.items()) walk(item);
        return;
      }
      const bool index = attr.is_tensor() && attr.tensor().dims().rank() == 0 &&
                         attr.tensor().dtype() == DType::int64;
      if (!index || (next >= 0 && attr.as_int() != next))
        where["structure"].fail("must hold the indices of the inputs in order");
      if (next < 0) next = attr.as_int();
      ++next;
    };
    walk(structure);
    const auto count = static_cast<int64_t>(draft->node.inputs.size());
    const bool all = structure.kind() == Attr::Kind::tuple ||
                     structure.kind() == Attr::Kind::dict || structure.kind() == Attr::Kind::list ||
                     structure.is_tensor();
    const int64_t leaves = next < 0 ? 0 : next;
    if (!all || leaves > count || leaves < static_cast<int64_t>(inputs)) {
      where["structure"].fail("does not go with " + std::to_string(count) + " inputs");
    }
    draft->node.args.set("structure", std::move(structure));
  }

  void read_functions(const In& in, NodeDraft* draft, const Where& where) {
    static const In none = In::object();
    const Where here = where["functions"];
    const In* found = json_form::optional_member(in, "functions");
    const In& functions = json_form::object(found ? *found : none, here);
    size_t known = 0;
    for (const Param& p : draft->node.op->params) {
      if (p.kind != Param::Kind::function) continue;
      const In* given = json_form::optional_member(functions, p.name.c_str());
      if (!given) {
        if (p.required) here.fail("`" + p.name + "` is missing");
        continue;
      }
      ++known;
      FunctionPtr f = json_form::read_function(*given, environment_, here[p.name]);
      if (draft->node.op->function_input) {
        const Spec expected =
            checked(here[p.name], [&] { return draft->node.op->function_input(*draft, p.name); });
        if (!fits(expected, f->input)) {
          here[p.name].fail("takes " + f->input.text() + ", is called with " + expected.text());
        }
      }
      draft->node.functions.emplace_back(p.name, std::move(f));
    }
    if (known < functions.size())
      here.fail("holds functions that `" + draft->node.op->name + "` does not have");
  }

  const EnvironmentTypes& environment_;
  std::map<int64_t, PlanPtr> nodes_;
};

}  // namespace

PlanPtr json_form::read_plan(const In& in, const EnvironmentTypes& environment,
                             const Where& where) {
  return PlanReader(environment).read(in, where);
}

PlanPtr plan_from_json(const nlohmann::json& form) {
  const Where where{"plan", 0};
  const int64_t version =
      json_form::integer(json_form::member(form, "penstock", where), where, 0, INT64_MAX);
  if (version != 1) where.fail("this form is of version " + std::to_string(version) + ", not 1");
  const EnvironmentTypes nothing;
  return json_form::read_plan(json_form::member(form, "plan", where), nothing, where);
}

}  // namespace penstock
