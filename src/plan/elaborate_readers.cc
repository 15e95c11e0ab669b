// Readers of several files: in parallel, and over a dataset of their names.

#include <algorithm>

#include "plan/elaborator.h"

namespace penstock {

// A reader asked for n parallel reads gives the records of n files in turn, as the peer's does:
// that is the order of an interleave, so it is one.
PlanPtr Elaborator::parallel_reads(const OperatorDef& def, Attrs args, int64_t reads, Span span) {
  const Attr names = args[def.files_param];
  if (names.has_capture())
    fail(span, "num_parallel_reads needs constant file names; use interleave");
  FunctionBuilder builder(Spec::tensor(DType::bytes, {}));
  args.set(def.files_param, Attr::capture(0, LeafSpec::tensor(DType::bytes, {})));
  args.set("num_parallel_reads", Attr());
  const PlanPtr reader = make_node(def, {}, std::move(args), {}, span);
  const LeafSpec leaf = LeafSpec::dataset(reader->spec);
  const ValueId dataset = builder.add_dataset(reader, {0}, leaf);
  Attrs files, order;
  const bool one = names.is_tensor() && names.tensor().dims().rank() == 0;
  files.set("tensors", one ? Attr::of(names.tensor().reshaped({1})) : names);
  order.set("cycle_length", Attr::integer(reads));
  return make_node("interleave", {make_node("from_tensor_slices", {}, std::move(files), {}, span)},
                   std::move(order), {{"f", builder.finish(Spec::of(leaf), {dataset})}}, span);
}

// The argument that gives a reader its file names as a dataset, or null.
const Argument* Elaborator::names_dataset(const OperatorDef& def,
                                          const std::vector<Argument>& arguments) const {
  if (def.files_param.empty() || def.lists_files) return nullptr;
  for (const Argument& a : arguments) {
    if (a.key.empty() || a.key == def.files_param) return is_dataset(a.sym) ? &a : nullptr;
  }
  return nullptr;
}

// load(names, reader_func=f) is f of a dataset of datasets, one for each file. The files are those
// that the names stand for now.
Sym Elaborator::load_by(const OperatorDef& def, std::vector<Argument> arguments, Span span) {
  const auto reader = std::ranges::find(arguments, def.reader_param, &Argument::key);
  const Argument by = std::move(*reader);
  arguments.erase(reader);
  if (by.sym.kind != Sym::Kind::function)
    fail(by.span, def.name + ": expected a function: files -> ...");
  const PlanPtr all = stage_call(def, std::move(arguments), span).plan;
  if (all->op != &def || !all->arg(def.files_param).is_tensor())
    fail(by.span, def.name + ": " + def.reader_param + " needs constant file names");
  // The names, or the files that patterns among them stand for when the pipeline is opened.
  const Attr given = all->arg(def.files_param);
  const Tensor list =
      given.tensor().dims().rank() == 0 ? given.tensor().reshaped({1}) : given.tensor();
  bool patterns = false;
  for (int64_t i = 0; i < list.entries_count(); ++i)
    patterns |= bytes_at(list, i).find_first_of("*?[") != std::string_view::npos;
  Attrs names, one;
  names.set(patterns ? "file_pattern" : "tensors", Attr::of(list));
  one.set(def.files_param, Attr::capture(0, LeafSpec::tensor(DType::bytes, {})));
  one.set("like", Attr::text(bytes_at(list, 0)));
  const PlanPtr file = make_node(def, {}, std::move(one), {}, span);
  FunctionBuilder builder(Spec::tensor(DType::bytes, {}));
  const LeafSpec leaf = LeafSpec::dataset(file->spec);
  const ValueId dataset = builder.add_dataset(file, {0}, leaf);
  Sym files;
  files.kind = Sym::Kind::dataset;
  files.plan = make_node(
      "map", {make_node(patterns ? "files" : "from_tensor_slices", {}, std::move(names), {}, span)},
      {}, {{"f", builder.finish(Spec::of(leaf), {dataset})}}, span);
  const Sym out = closure_call(*by.sym.closure, {{by.span, {}, files}}, by.span);
  if (!is_dataset(out)) fail(by.span, def.name + ": " + def.reader_param + " gives no dataset");
  return as_dataset(out, by.span);
}

// `list_files(...) | text_line()` is flat_map(f -> text_line(f)), and an interleave where it is
// asked for parallel reads.
Sym Elaborator::read_named_files(const OperatorDef& def, std::vector<Argument> arguments,
                                 const Argument& names, Span span) {
  stages_.push_back(def.name);
  const Sym files = as_dataset(names.sym, names.span);
  const Spec spec = files.plan->spec;
  if (!spec.is_leaf() || !spec.leaf.is_tensor() || spec.leaf.dtype != DType::bytes)
    fail(names.span, "an element is " + spec.text() + ", expected a file name");
  Attrs order;
  const auto reads = std::ranges::find(arguments, "num_parallel_reads", &Argument::key);
  if (reads != arguments.end()) {
    if (reads->sym.kind != Sym::Kind::none && reads->sym.kind != Sym::Kind::automatic) {
      const Attr n = attribute(reads->sym, Param::Kind::integer, reads->span, false);
      if (n.as_int() > 1) order.set("cycle_length", n);
    }
    arguments.erase(reads);
  }
  stages_.pop_back();
  Scope* const outer = scope_;
  Scope* const pipelines = template_scope();
  scopes_.push_back(std::make_unique<Scope>());
  Scope* const inner = scopes_.back().get();
  inner->parent = pipelines;
  inner->builder = std::make_unique<FunctionBuilder>(spec);
  scope_ = inner;
  size_t next = 0;
  for (Argument& a : arguments) {
    if (!a.key.empty() && a.key != def.files_param) continue;
    a.sym = from_spec(spec, {0}, &next);
    break;
  }
  const Sym reader = stage_call(def, std::move(arguments), span);
  std::vector<ValueId> ids;
  const Spec output = flatten(reader, span, &ids);
  FunctionPtr f = inner->builder->finish(output, std::move(ids));
  scope_ = outer;
  Sym out;
  out.kind = Sym::Kind::dataset;
  out.scope = f->captures.empty() ? files.scope : pipelines;
  const char* stage = order.has("cycle_length") ? "interleave" : "flat_map";
  out.plan = make_node(stage, {files.plan}, std::move(order), {{"f", std::move(f)}}, span);
  return out;
}

}  // namespace penstock
