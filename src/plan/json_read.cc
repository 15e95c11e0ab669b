// JSON to plan: every index is checked, every type is inferred again.

#include <algorithm>
#include <map>

#include "plan/json_form.h"
#include "plan/json_parts.h"

namespace penstock {
namespace {

using json_form::EnvironmentTypes;
using json_form::In;
using json_form::Where;

FunctionPtr read_function(const In& in, const EnvironmentTypes& environment, const Where& where);

// What infer throws, as an error that says where.
template <typename F>
auto checked(const Where& where, const F& f) {
  try {
    return f();
  } catch (const ArgumentError& e) {
    where.fail((e.param.empty() ? "" : e.param + ": ") + e.message);
  } catch (const TypeError& e) {
    const std::string subject = e.input >= 0 ? "input " + std::to_string(e.input) + ": " : e.attr.empty() ? "" : e.attr + ": ";
    where.fail(subject + e.message);
  } catch (const Error& e) {
    if (e.message().starts_with("plan")) throw;  // said where already
    where.fail(e.message());
  }
}

// True when everything of type `inside` may be used as `outside`.
bool fits(const Spec& inside, const Spec& outside) {
  bool ok = false;
  const Spec joined = join_specs(outside, inside, &ok);
  return ok && joined == outside;
}

class PlanReader {
 public:
  explicit PlanReader(const EnvironmentTypes& environment) : environment_(environment) {}

  PlanPtr read(const In& in, const Where& where) {
    std::vector<std::pair<const In*, Where>> chain;
    PlanPtr out;
    for (const In* at = &in;;) {
      const Where here = chain.empty() ? where : Where{where.path + "(" + std::to_string(chain.size()) + " down)", where.depth};
      if (const In* ref = json_form::optional_member(json_form::object(*at, here), "ref")) {
        out = shared(*ref, here["ref"]);
        break;
      }
      chain.emplace_back(at, here);
      const In& inputs = json_form::array(json_form::member(*at, "inputs", here), here["inputs"]);
      if (inputs.empty()) break;
      at = &inputs[0];
    }
    for (size_t i = chain.size(); i-- > 0;) out = one(*chain[i].first, std::move(out), chain[i].second);
    return out;
  }

 private:
  PlanPtr shared(const In& ref, const Where& where) {
    const int64_t id = json_form::integer(ref, where, 0, INT64_MAX);
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) where.fail("there is no node with this id before: " + std::to_string(id));
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
      if (input->op->sink) where["inputs"][i].fail("`" + input->op->name + "` gives a value, expected a dataset");
      draft.node.inputs.push_back(std::move(input));
    }
    read_args(in, &draft, where);
    read_functions(in, &draft, where);
    PlanPtr out = checked(where, [&] {
      return make_node(*op, std::move(draft.node.inputs), std::move(draft.node.args), std::move(draft.node.functions));
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
      Attr value = given ? json_form::attr_from_json(*given, environment_, here[p.name]) : p.fallback;
      json_form::check_attr(value, p, here[p.name]);
      if (op.name == "dataset_of" && !is_dataset_capture(value)) here[p.name].fail("must be a captured dataset");
      draft->node.args.set(p.name, std::move(value));
    }
    const size_t inputs = draft->node.inputs.size();
    if (tree) {
      ++known;
      read_structure(args, inputs - std::min(inputs, datasets), draft, here);
    } else if (inputs > datasets || (inputs == 0 && datasets > 0)) {
      where.fail("takes " + std::to_string(datasets) + " datasets, " + std::to_string(inputs) + " given");
    }
    if (const In* given = json_form::optional_member(args, "structure"); given && !tree && !draft->node.args.has("structure")) {
      here.fail("there is no argument `structure`");
    }
    if (known < args.size()) here.fail("holds arguments that `" + op.name + "` does not have");
    if (inputs < datasets) require_datasets(op, inputs, where);
  }

  static bool is_dataset_capture(const Attr& attr) {
    return attr.is_capture() && attr.capture_type().kind == LeafSpec::Kind::dataset;
  }

  static void require_datasets(const OperatorDef& op, size_t given, const Where& where) {
    size_t needed = 0;
    for (const Param& p : op.params) needed += p.kind == Param::Kind::dataset && p.required ? 1 : 0;
    if (given < needed) where.fail("takes " + std::to_string(needed) + " datasets, " + std::to_string(given) + " given");
  }

  // Its leaves are the indices of the inputs, each once, in order.
  static void read_structure(const In& args, size_t inputs, NodeDraft* draft, const Where& where) {
    Attr structure = json_form::attr_from_json(json_form::member(args, "structure", where), {}, where["structure"]);
    int64_t next = -1;
    const std::function<void(const Attr&)> walk = [&](const Attr& attr) {
      if (attr.kind() == Attr::Kind::tuple || attr.kind() == Attr::Kind::dict) {
        for (const Attr& item : attr.items()) walk(item);
        return;
      }
      const bool index = attr.is_tensor() && attr.tensor().dims().rank() == 0 && attr.tensor().dtype() == DType::int64;
      if (!index || (next >= 0 && attr.as_int() != next)) where["structure"].fail("must hold the indices of the inputs in order");
      if (next < 0) next = attr.as_int();
      ++next;
    };
    walk(structure);
    const auto count = static_cast<int64_t>(draft->node.inputs.size());
    const bool all = structure.kind() == Attr::Kind::tuple || structure.kind() == Attr::Kind::dict;
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
      FunctionPtr f = read_function(*given, environment_, here[p.name]);
      if (draft->node.op->function_input) {
        const Spec expected = checked(here[p.name], [&] { return draft->node.op->function_input(*draft, p.name); });
        if (!fits(expected, f->input)) {
          here[p.name].fail("takes " + f->input.text() + ", is called with " + expected.text());
        }
      }
      draft->node.functions.emplace_back(p.name, std::move(f));
    }
    if (known < functions.size()) here.fail("holds functions that `" + draft->node.op->name + "` does not have");
  }

  const EnvironmentTypes& environment_;
  std::map<int64_t, PlanPtr> nodes_;
};

class FunctionReader {
 public:
  FunctionReader(const In& in, const EnvironmentTypes& environment, const Where& where)
      : in_(json_form::object(in, where)), environment_(environment), where_(where),
        builder_(json_form::spec_from_json(json_form::member(in, "input", where), where["input"]),
                 static_cast<int>(json_form::integer(json_form::member(in, "arity", where), where["arity"], 0, 1000))),
        values_(json_form::array(json_form::member(in, "values", where), where["values"])) {}

  FunctionPtr read() {
    for (int i = 0; i < builder_.input().leaf_count(); ++i) define(i);
    const In& captures = json_form::array(json_form::member(in_, "captures", where_), where_["captures"]);
    for (size_t i = 0; i < captures.size(); ++i) {
      const int64_t source = json_form::integer(captures[i], where_["captures"][i], 0, INT32_MAX);
      if (source >= static_cast<int64_t>(environment_.size())) {
        where_["captures"][i].fail("there is no captured value " + std::to_string(source));
      }
      define(builder_.add_capture(environment_[static_cast<size_t>(source)], static_cast<int>(source), ""));
    }
    const In& nodes = json_form::array(json_form::member(in_, "nodes", where_), where_["nodes"]);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Where here = where_["nodes"][i];
      for (const ValueId id : read_node(json_form::object(nodes[i], here), here)) define(id);
    }
    if (ids_.size() != values_.size()) {
      where_["values"].fail("the function has " + std::to_string(ids_.size()) + " values, " + std::to_string(values_.size()) + " given");
    }
    return finish();
  }

 private:
  // The next value of the JSON is `id`; its type must go with what was inferred.
  void define(ValueId id) {
    const size_t i = ids_.size();
    ids_.push_back(id);
    if (i >= values_.size()) where_["values"].fail("there are more values in the function: " + std::to_string(i + 1));
    const Where here = where_["values"][i];
    const LeafSpec given = json_form::leaf_from_json(json_form::member(values_[i], "type", here), here["type"]);
    if (!fits(Spec::of(builder_.type(id)), Spec::of(given))) {
      here.fail("is " + builder_.type(id).text() + ", not " + given.text());
    }
    if (const In* name = json_form::optional_member(values_[i], "name")) builder_.name(id, json_form::text(*name, here["name"]));
  }

  std::vector<ValueId> ids(const In& in, const Where& where) {
    std::vector<ValueId> out;
    json_form::array(in, where);
    for (size_t i = 0; i < in.size(); ++i) out.push_back(id(in[i], where[i]));
    return out;
  }

  // Only values that are there already: nodes are in topological order.
  ValueId id(const In& in, const Where& where) {
    const int64_t i = json_form::integer(in, where, 0, INT32_MAX);
    if (i >= static_cast<int64_t>(ids_.size())) where.fail("there is no value " + std::to_string(i) + " before");
    return ids_[static_cast<size_t>(i)];
  }

  std::vector<ValueId> read_node(const In& in, const Where& where) {
    if (const In* constant = json_form::optional_member(in, "constant")) {
      return {builder_.add_constant(json_form::tensor_from_json(*constant, where["constant"]))};
    }
    std::vector<ValueId> inputs = ids(json_form::member(in, "inputs", where), where["inputs"]);
    if (const In* plan = json_form::optional_member(in, "dataset")) {
      const EnvironmentTypes types = types_of(inputs);
      PlanPtr dataset = PlanReader(types).read(*plan, where["dataset"]);
      if (dataset->op->sink) where["dataset"].fail("gives a value, expected a dataset");
      const LeafSpec type = LeafSpec::dataset(dataset->spec);
      return {builder_.add_dataset(std::move(dataset), std::move(inputs), type)};
    }
    if (const In* condition = json_form::optional_member(in, "if")) return read_conditional(in, *condition, inputs, where);
    return read_op(in, std::move(inputs), where);
  }

  EnvironmentTypes types_of(const std::vector<ValueId>& values) const {
    EnvironmentTypes out;
    for (const ValueId v : values) out.push_back(builder_.type(v));
    return out;
  }

  std::vector<ValueId> read_conditional(const In& in, const In& condition, const std::vector<ValueId>& captured, const Where& where) {
    const ValueId c = id(condition, where["if"]);
    const LeafSpec& type = builder_.type(c);
    if (!type.is_tensor() || type.dtype != DType::boolean || (type.shape.has_rank() && type.shape.rank() > 0)) {
      where["if"].fail("is " + type.text() + ", expected a scalar bool");
    }
    const EnvironmentTypes types = types_of(captured);
    FunctionPtr sides[2];
    for (const int i : {0, 1}) {
      const char* key = i == 0 ? "then" : "else";
      sides[i] = read_function(json_form::member(in, key, where), types, where[key]);
      if (sides[i]->input.leaf_count() > 0) where[key].fail("takes arguments");
    }
    bool ok = false;
    const Spec joined = join_specs(sides[0]->output, sides[1]->output, &ok);
    if (!ok) where.fail("the sides differ: " + sides[0]->output.text() + " and " + sides[1]->output.text());
    return builder_.add_conditional(c, sides[0], sides[1], captured, joined.leaves());
  }

  std::vector<ValueId> read_op(const In& in, std::vector<ValueId> inputs, const Where& where) {
    const std::string& name = json_form::text(json_form::member(in, "op", where), where["op"]);
    const OpDef* op = OpRegistry::instance().find(name);
    if (!op) where["op"].fail("there is no op `" + name + "`");
    check_input_count(*op, inputs.size(), where);
    Attrs attrs = read_attrs(in, *op, where["attrs"]);
    if (name == "subscript") check_pieces(attrs["pieces"], inputs.size(), where["attrs"]);
    std::vector<FunctionPtr> bodies;
    if (const In* given = json_form::optional_member(in, "bodies")) {
      const EnvironmentTypes types = types_of(inputs);
      json_form::array(*given, where["bodies"]);
      for (size_t i = 0; i < given->size(); ++i) bodies.push_back(read_function((*given)[i], types, where["bodies"][i]));
    }
    const auto wanted = std::ranges::count(op->params, Param::Kind::function, &Param::kind);
    if (static_cast<int64_t>(bodies.size()) > wanted) where.fail("there are more bodies than `" + name + "` takes");
    std::vector<ValueId> outputs;
    checked(where, [&] { return builder_.add_op(*op, std::move(inputs), std::move(attrs), &outputs, std::move(bodies)); });
    return outputs;
  }

  static void check_input_count(const OpDef& op, size_t given, const Where& where) {
    size_t least = 0, most = 0;
    for (const Param& p : op.params) {
      if (p.kind == Param::Kind::tensors) most = 100'000;
      if (p.kind != Param::Kind::tensor) continue;
      least += p.required || !p.fallback.is_none() ? 1 : 0;
      ++most;
    }
    if (op.name == "subscript") most = 100'000;  // its dynamic pieces; check_pieces counts them
    if (given < least || given > most) where["inputs"].fail("`" + op.name + "` does not take " + std::to_string(given) + " tensors");
  }

  static Attrs read_attrs(const In& in, const OpDef& op, const Where& where) {
    static const In none = In::object();
    const In* found = json_form::optional_member(in, "attrs");
    const In& given = json_form::object(found ? *found : none, where);
    Attrs out;
    size_t known = 0;
    for (const Param& p : op.params) {
      const bool dynamic = p.kind == Param::Kind::tensor || p.kind == Param::Kind::tensors || p.kind == Param::Kind::function;
      if (dynamic) continue;
      const In* attr = json_form::optional_member(given, p.name.c_str());
      known += attr ? 1 : 0;
      Attr value = attr ? json_form::attr_from_json(*attr, {}, where[p.name]) : p.fallback;
      if (!attr && p.required) where.fail("`" + p.name + "` is missing");
      json_form::check_attr(value, p, where[p.name]);
      out.set(p.name, std::move(value));
    }
    if (known < given.size()) where.fail("holds attributes that `" + op.name + "` does not have");
    return out;
  }

  // The one attribute that text cannot give in any other form.
  static void check_pieces(const Attr& pieces, size_t inputs, const Where& where) {
    size_t dynamic = 1;
    auto is_part = [&](const Attr& a) {
      if (a.is_tensor() && a == Attr::text("dynamic")) return ++dynamic, true;
      return a.is_tensor() && a.tensor().dims().rank() == 0 && a.tensor().dtype() == DType::int64;
    };
    auto is_piece = [&](const Attr& a) {
      if (a.kind() != Attr::Kind::tuple || a.items().empty()) return false;
      const auto& items = a.items();
      if (items[0] == Attr::text("ellipsis") || items[0] == Attr::text("newaxis")) return items.size() == 1;
      if (items[0] == Attr::text("index")) return items.size() == 2 && is_part(items[1]);
      if (items[0] != Attr::text("slice") || items.size() != 4) return false;
      return std::ranges::all_of(items.begin() + 1, items.end(), [&](const Attr& i) { return i.is_none() || is_part(i); });
    };
    const bool good = pieces.kind() == Attr::Kind::list && std::ranges::all_of(pieces.items(), is_piece);
    if (!good || dynamic != inputs) where["pieces"].fail("are no subscripts of " + std::to_string(inputs) + " tensors");
  }

  FunctionPtr finish() {
    Spec output = json_form::spec_from_json(json_form::member(in_, "output", where_), where_["output"]);
    std::vector<ValueId> results = ids(json_form::member(in_, "results", where_), where_["results"]);
    if (output.leaf_count() != static_cast<int>(results.size())) where_["results"].fail("there must be one for each leaf of `output`");
    if (!fits(output.with_leaves(types_of(results)), output)) {
      where_["output"].fail("is " + output.with_leaves(types_of(results)).text() + ", not " + output.text());
    }
    return builder_.finish(std::move(output), std::move(results));
  }

  const In& in_;
  const EnvironmentTypes& environment_;
  const Where where_;
  FunctionBuilder builder_;
  const In& values_;
  std::vector<ValueId> ids_;  // of the builder, for each value of the JSON
};

FunctionPtr read_function(const In& in, const EnvironmentTypes& environment, const Where& where) {
  return FunctionReader(in, environment, where).read();
}

}  // namespace

PlanPtr plan_from_json(const nlohmann::json& form) {
  const Where where{"plan", 0};
  const int64_t version = json_form::integer(json_form::member(form, "penstock", where), where, 0, INT64_MAX);
  if (version != 1) where.fail("this form is of version " + std::to_string(version) + ", not 1");
  const EnvironmentTypes nothing;
  return PlanReader(nothing).read(json_form::member(form, "plan", where), where);
}

}  // namespace penstock
