// JSON to function: values by their numbers, types inferred again.

#include <algorithm>

#include "plan/json_read.h"
#include "plan/spelling.h"

namespace penstock::json_form {

bool fits(const Spec& inside, const Spec& outside) {
  bool ok = false;
  const Spec joined = join_specs(outside, inside, &ok);
  return ok && joined == outside;
}

namespace {

class FunctionReader {
 public:
  FunctionReader(const In& in, const EnvironmentTypes& environment, const Where& where)
      : in_(object(in, where)),
        environment_(environment),
        where_(where),
        builder_(spec_from_json(member(in, "input", where), where["input"]),
                 static_cast<int>(integer(member(in, "arity", where), where["arity"], 0, 1000))),
        values_(array(member(in, "values", where), where["values"])) {}

  FunctionPtr read() {
    for (int i = 0; i < builder_.input().leaf_count(); ++i) define(i);
    const In& captures = array(member(in_, "captures", where_), where_["captures"]);
    for (size_t i = 0; i < captures.size(); ++i) {
      const int64_t source = integer(captures[i], where_["captures"][i], 0, INT32_MAX);
      if (source >= static_cast<int64_t>(environment_.size())) {
        where_["captures"][i].fail("there is no captured value " + std::to_string(source));
      }
      define(builder_.add_capture(environment_[static_cast<size_t>(source)],
                                  static_cast<int>(source), ""));
    }
    const In& nodes = array(member(in_, "nodes", where_), where_["nodes"]);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Where here = where_["nodes"][i];
      for (const ValueId id : read_node(object(nodes[i], here), here)) define(id);
    }
    if (ids_.size() != values_.size()) {
      where_["values"].fail("the function has " + std::to_string(ids_.size()) + " values, " +
                            std::to_string(values_.size()) + " given");
    }
    return finish();
  }

 private:
  // The next value of the JSON is `id`; its type must go with what was inferred.
  void define(ValueId id) {
    const size_t i = ids_.size();
    ids_.push_back(id);
    if (i >= values_.size())
      where_["values"].fail("there are more values in the function: " + std::to_string(i + 1));
    const Where here = where_["values"][i];
    const LeafSpec given = leaf_from_json(member(values_[i], "type", here), here["type"]);
    if (!fits(Spec::of(builder_.type(id)), Spec::of(given))) {
      here.fail("is " + builder_.type(id).text() + ", not " + given.text());
    }
    if (const In* name = optional_member(values_[i], "name"))
      builder_.name(id, text(*name, here["name"]));
  }

  std::vector<ValueId> ids(const In& in, const Where& where) {
    std::vector<ValueId> out;
    array(in, where);
    for (size_t i = 0; i < in.size(); ++i) out.push_back(id(in[i], where[i]));
    return out;
  }

  // Only values that are there already: nodes are in topological order.
  ValueId id(const In& in, const Where& where) {
    const int64_t i = integer(in, where, 0, INT32_MAX);
    if (i >= static_cast<int64_t>(ids_.size()))
      where.fail("there is no value " + std::to_string(i) + " before");
    return ids_[static_cast<size_t>(i)];
  }

  std::vector<ValueId> read_node(const In& in, const Where& where) {
    if (const In* constant = optional_member(in, "constant")) {
      return {builder_.add_constant(tensor_from_json(*constant, where["constant"]))};
    }
    std::vector<ValueId> inputs = ids(member(in, "inputs", where), where["inputs"]);
    if (const In* plan = optional_member(in, "dataset")) {
      const EnvironmentTypes types = types_of(inputs);
      PlanPtr dataset = read_plan(*plan, types, where["dataset"]);
      const LeafSpec type = LeafSpec::dataset(dataset->spec);
      return {builder_.add_dataset(std::move(dataset), std::move(inputs), type)};
    }
    if (const In* condition = optional_member(in, "if"))
      return read_conditional(in, *condition, inputs, where);
    return read_op(in, std::move(inputs), where);
  }

  EnvironmentTypes types_of(const std::vector<ValueId>& values) const {
    EnvironmentTypes out;
    for (const ValueId v : values) out.push_back(builder_.type(v));
    return out;
  }

  std::vector<ValueId> read_conditional(const In& in, const In& condition,
                                        const std::vector<ValueId>& captured, const Where& where) {
    const ValueId c = id(condition, where["if"]);
    const LeafSpec& type = builder_.type(c);
    if (!type.is_tensor() || type.dtype != DType::boolean ||
        (type.shape.has_rank() && type.shape.rank() > 0)) {
      where["if"].fail("is " + type.text() + ", expected a scalar bool");
    }
    const EnvironmentTypes types = types_of(captured);
    FunctionPtr sides[2];
    for (const int i : {0, 1}) {
      const char* key = i == 0 ? "then" : "else";
      sides[i] = read_function(member(in, key, where), types, where[key]);
      if (sides[i]->input.leaf_count() > 0) where[key].fail("takes arguments");
    }
    bool ok = false;
    const Spec joined = join_specs(sides[0]->output, sides[1]->output, &ok);
    if (!ok)
      where.fail("the sides differ: " + sides[0]->output.text() + " and " +
                 sides[1]->output.text());
    return builder_.add_conditional(c, sides[0], sides[1], captured, joined.leaves());
  }

  std::vector<ValueId> read_op(const In& in, std::vector<ValueId> inputs, const Where& where) {
    const std::string& name = text(member(in, "op", where), where["op"]);
    const OpDef* op = OpRegistry::instance().find(name);
    if (!op) where["op"].fail("there is no op `" + name + "`");
    check_input_count(*op, inputs.size(), where);
    Attrs attrs = read_attrs(in, *op, where["attrs"]);
    if (takes_pieces(*op)) check_pieces(attrs["pieces"], inputs.size(), where["attrs"]);
    std::vector<FunctionPtr> bodies;
    if (const In* given = optional_member(in, "bodies")) {
      const EnvironmentTypes types = types_of(inputs);
      array(*given, where["bodies"]);
      for (size_t i = 0; i < given->size(); ++i)
        bodies.push_back(read_function((*given)[i], types, where["bodies"][i]));
    }
    const auto wanted = std::ranges::count(op->params, Param::Kind::function, &Param::kind);
    if (static_cast<int64_t>(bodies.size()) > wanted)
      where.fail("there are more bodies than `" + name + "` takes");
    std::vector<ValueId> outputs;
    checked(where, [&] {
      return builder_.add_op(*op, std::move(inputs), std::move(attrs), &outputs, std::move(bodies));
    });
    return outputs;
  }

  static bool takes_pieces(const OpDef& op) { return spelling_of(op.name).form == Form::subscript; }

  static void check_input_count(const OpDef& op, size_t given, const Where& where) {
    size_t least = 0, most = 0;
    for (const Param& p : op.params) {
      if (p.kind == Param::Kind::tensors || p.kind == Param::Kind::structure) most = 100'000;
      if (p.kind != Param::Kind::tensor) continue;
      least += p.required || !p.fallback.is_none() ? 1 : 0;
      ++most;
    }
    if (takes_pieces(op)) most = 100'000;  // its dynamic pieces; check_pieces counts them
    if (given < least || given > most)
      where["inputs"].fail("`" + op.name + "` does not take " + std::to_string(given) + " tensors");
  }

  static Attrs read_attrs(const In& in, const OpDef& op, const Where& where) {
    static const In none = In::object();
    const In* found = optional_member(in, "attrs");
    const In& given = object(found ? *found : none, where);
    Attrs out;
    size_t known = 0;
    for (const Param& p : op.params) {
      const bool dynamic = p.kind == Param::Kind::tensor || p.kind == Param::Kind::tensors ||
                           p.kind == Param::Kind::function || p.kind == Param::Kind::structure;
      if (dynamic) continue;
      const In* attr = optional_member(given, p.name.c_str());
      known += attr ? 1 : 0;
      Attr value = attr ? attr_from_json(*attr, {}, where[p.name]) : p.fallback;
      if (!attr && p.required) where.fail("`" + p.name + "` is missing");
      check_attr(value, p, where[p.name]);
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
      if (items[0] == Attr::text("ellipsis") || items[0] == Attr::text("newaxis"))
        return items.size() == 1;
      if (items[0] == Attr::text("index")) return items.size() == 2 && is_part(items[1]);
      if (items[0] != Attr::text("slice") || items.size() != 4) return false;
      return std::ranges::all_of(items.begin() + 1, items.end(),
                                 [&](const Attr& i) { return i.is_none() || is_part(i); });
    };
    const bool good =
        pieces.kind() == Attr::Kind::list && std::ranges::all_of(pieces.items(), is_piece);
    if (!good || dynamic != inputs)
      where["pieces"].fail("are no subscripts of " + std::to_string(inputs) + " tensors");
  }

  FunctionPtr finish() {
    Spec output = spec_from_json(member(in_, "output", where_), where_["output"]);
    std::vector<ValueId> results = ids(member(in_, "results", where_), where_["results"]);
    if (output.leaf_count() != static_cast<int>(results.size()))
      where_["results"].fail("there must be one for each leaf of `output`");
    if (!fits(output.with_leaves(types_of(results)), output)) {
      where_["output"].fail("is " + output.with_leaves(types_of(results)).text() + ", not " +
                            output.text());
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

}  // namespace

FunctionPtr read_function(const In& in, const EnvironmentTypes& environment, const Where& where) {
  return FunctionReader(in, environment, where).read();
}

}  // namespace penstock::json_form
