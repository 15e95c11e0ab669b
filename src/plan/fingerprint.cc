// Fingerprints: hashes from the leaves up.
//
// A value of a function is hashed as the expression that makes it, so neither the order of nodes
// nor the numbering of values and environments leaves a trace. Captures are hashed as what they
// capture.

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data/optional.h"
#include "data/ragged.h"
#include "functions/kernels/text/model_file.h"
#include "plan/canonical.h"
#include "plan/static_forms.h"
#include "plan/user_code.h"

namespace penstock {
namespace {

// Bytes of the three hashes side by side.
class Bytes {
 public:
  void add(std::string_view text) {
    integer(static_cast<int64_t>(text.size()));
    for (std::string& s : streams_) s += text;
  }
  void integer(int64_t value) { raw(&value, sizeof value); }
  void raw(const void* data, size_t size) {
    for (std::string& s : streams_) s.append(static_cast<const char*>(data), size);
  }
  void add(const CanonicalHashes& h) {
    append(&identity(), h.identity);
    append(&sharing(), h.sharing);
    append(&all(), h.all);
  }
  std::string& identity() { return streams_[0]; }
  std::string& sharing() { return streams_[1]; }
  std::string& all() { return streams_[2]; }
  // Appends what `part` holds to the hashes that it belongs to.
  void add_argument(const Bytes& part, bool seed, bool performance) {
    streams_[2] += part.streams_[2];
    if (performance) return;
    streams_[0] += part.streams_[0];
    if (!seed) streams_[1] += part.streams_[1];
  }
  CanonicalHashes hash() const { return {hash(streams_[0]), hash(streams_[1]), hash(streams_[2])}; }

 private:
  static void append(std::string* to, const Hash128& h) {
    to->append(reinterpret_cast<const char*>(h.data()), sizeof h);
  }
  static Hash128 hash(const std::string& s) {
    const XXH128_hash_t h = XXH3_128bits(s.data(), s.size());
    return {h.high64, h.low64};
  }
  std::array<std::string, 3> streams_;
};

using Environment = std::vector<CanonicalHashes>;

// Tensor::same holds NaN equal to NaN.
template <typename T>
T canonical_entry(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

void write(const Tensor& t, Bytes* out) {
  if (const RaggedTensor* ragged = as_ragged(t)) {
    out->add("ragged");
    for (const Tensor& splits : ragged->splits()) write(splits, out);
    return write(ragged->values(), out);
  }
  if (const SparseTensor* sparse = as_sparse(t)) {
    out->add("sparse");
    for (const Tensor* part : {&sparse->indices(), &sparse->values(), &sparse->shape()})
      write(*part, out);
    return;
  }
  if (const OptionalTensor* optional = as_optional(t)) {
    out->add(optional->has_value() ? "optional" : "missing");
    if (optional->has_value()) return write(optional->value(), out);
    return out->add(LeafSpec::tensor(optional->dtype(), optional->shape()).text());
  }
  out->integer(static_cast<int64_t>(t.dtype()));
  out->integer(t.dims().rank());
  for (const int64_t size : t.dims().sizes()) out->integer(size);
  visit_dtype(t.dtype(), [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < t.entries_count(); ++i) {
      if constexpr (std::is_same_v<T, BytesView>) {
        out->add(t.entry<T>(i).view());
      } else {
        const T value = canonical_entry(t.entry<T>(i));
        out->raw(&value, sizeof value);
      }
    }
  });
}

CanonicalHashes constant_hash(const Tensor& value) {
  Bytes out;
  out.add("constant");
  write(value, &out);
  return out.hash();
}

// What the files of a table or model hold; one that cannot be read is refused when it is opened.
void write_contents(const Attr& form, Bytes* out) {
  for (size_t i = 1; i < form.items().size(); ++i) {
    const std::string& key = form.keys()[i];
    if (key != "file" && key != "vocab" && key != "merges") continue;
    try {
      out->add(read_model_file(form.items()[i].as_string()).bytes);
    } catch (const Error&) {
      out->add("unreadable");
    }
  }
}

void write_data(const OpDef& op, const Attrs& attrs, Bytes* out) {
  try {
    out->add(op.data_identity(attrs));
  } catch (const Error&) {
    out->add("unreadable");
  }
}

void write(const Attr& attr, const Environment& environment, Bytes* out) {
  if (static_form_of(attr)) write_contents(attr, out);
  if (attr.is_capture() || attr.is_tensor()) {
    out->add("value");
    const auto i = static_cast<size_t>(attr.capture_index());
    PENSTOCK_CHECK(attr.is_tensor() || i < environment.size());
    out->add(attr.is_tensor() ? constant_hash(attr.tensor()) : environment[i]);
    return;
  }
  out->integer(static_cast<int64_t>(attr.kind()));
  if (attr.kind() == Attr::Kind::dtype) out->add(dtype_name(attr.as_dtype()));
  out->integer(static_cast<int64_t>(attr.items().size()));
  for (const std::string& key : attr.keys()) out->add(key);
  for (const Attr& item : attr.items()) write(item, environment, out);
}

// Arguments by name: the order in which they were set means nothing.
void write(const Attrs& attrs, const std::vector<Param>& params, const Environment& environment,
           Bytes* out) {
  std::vector<const std::pair<std::string, Attr>*> sorted;
  for (const auto& item : attrs) sorted.push_back(&item);
  std::ranges::sort(sorted, {}, [](const auto* item) { return item->first; });
  for (const auto* item : sorted) {
    const auto param = std::ranges::find(params, item->first, &Param::name);
    Bytes argument;
    argument.add(item->first);
    write(item->second, environment, &argument);
    out->add_argument(argument, item->first == "seed", param != params.end() && param->performance);
  }
}

// Code of users is more than its name.
void write_code(const void* op, Bytes* out) {
  if (const std::optional<UserCode> code = user_code_of(op)) out->add(code->identity);
}

void write_structure(const Spec& spec, Bytes* out) {
  out->integer(static_cast<int64_t>(spec.kind));
  out->integer(static_cast<int64_t>(spec.items.size()));
  for (const std::string& key : spec.keys) out->add(key);
  for (const Spec& item : spec.items) write_structure(item, out);
}

CanonicalHashes plan_hash(const PlanNode& root, const Environment& environment, int depth);
CanonicalHashes function_hash(const Function& f, const Environment& environment, int depth);

Environment picked(const Environment& values, std::span<const ValueId> ids) {
  Environment out;
  for (const ValueId id : ids) out.push_back(values[static_cast<size_t>(id)]);
  return out;
}

// The hash of what the node gives, the same for all its outputs.
CanonicalHashes node_hash(const Function& f, const FunctionNode& node, const Environment& values,
                          int depth) {
  if (node.kind == FunctionNode::Kind::constant) return constant_hash(node.constant);
  Bytes out;
  out.integer(static_cast<int64_t>(node.kind));
  switch (node.kind) {
    case FunctionNode::Kind::dataset: {
      out.add(plan_hash(*node.dataset, picked(values, node.inputs), depth + 1));
      break;
    }
    case FunctionNode::Kind::conditional: {
      out.add(values[static_cast<size_t>(node.inputs[0])]);
      const Environment captured = picked(values, std::span(node.inputs).subspan(1));
      for (const FunctionPtr& body : node.bodies)
        out.add(function_hash(*body, captured, depth + 1));
      break;
    }
    default: {
      out.add(node.op->name);
      write_code(node.op, &out);
      write(node.attrs, node.op->params, {}, &out);
      if (node.op->data_identity) write_data(*node.op, node.attrs, &out);
      out.integer(static_cast<int64_t>(node.inputs.size()));
      for (const ValueId id : node.inputs) out.add(values[static_cast<size_t>(id)]);
      for (const FunctionPtr& body : node.bodies)
        out.add(function_hash(*body, picked(values, node.inputs), depth + 1));
      // Two calls of such an op are never one.
      if (node.op->effects == Effects::stateful) out.integer(&node - f.nodes.data());
    }
  }
  return out.hash();
}

CanonicalHashes function_hash(const Function& f, const Environment& environment, int depth) {
  Environment values(f.values.size());
  for (int i = 0; i < f.input_count(); ++i) {
    Bytes input;
    input.add("input");
    input.integer(depth);
    input.integer(i);
    values[static_cast<size_t>(i)] = input.hash();
  }
  for (size_t i = 0; i < f.captures.size(); ++i) {
    const auto source = static_cast<size_t>(f.capture_sources[i]);
    PENSTOCK_CHECK(source < environment.size());
    values[static_cast<size_t>(f.input_count()) + i] = environment[source];
  }
  // Without seeds two draws look like one drawn twice; their number tells them apart.
  std::vector<Hash128> draws;
  for (const FunctionNode& node : f.nodes) {
    const CanonicalHashes made = node_hash(f, node, values, depth);
    if (node.op && node.op->effects == Effects::random) draws.push_back(made.identity);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Bytes output;
      output.add(made);
      output.integer(static_cast<int64_t>(i));
      values[static_cast<size_t>(node.outputs[i])] =
          node.outputs.size() == 1 ? made : output.hash();
    }
  }
  std::ranges::sort(draws);
  const auto repeated = std::ranges::unique(draws);
  Bytes out;
  out.integer(static_cast<int64_t>(draws.size() - repeated.size()));
  write_structure(f.output, &out);
  for (const ValueId id : f.results) out.add(values[static_cast<size_t>(id)]);
  return out.hash();
}

std::vector<CanonicalHashes> plan_hashes(const PlanNode& root, const Environment& environment,
                                         int depth) {
  std::unordered_map<const PlanNode*, CanonicalHashes> made;
  std::vector<CanonicalHashes> all;
  for (const PlanNode* node : topological(root)) {
    Bytes out;
    out.add(node->op->name);
    write_code(node->op, &out);
    out.integer(static_cast<int64_t>(node->inputs.size()));
    for (const PlanPtr& input : node->inputs) out.add(made.at(input.get()));
    write(node->args, node->op->params, environment, &out);
    for (const auto& [name, f] : node->functions) {
      out.add(name);
      out.add(function_hash(*f, environment, depth + 1));
    }
    made[node] = out.hash();
    all.push_back(made[node]);
  }
  return all;
}

CanonicalHashes plan_hash(const PlanNode& root, const Environment& environment, int depth) {
  return plan_hashes(root, environment, depth).back();
}

}  // namespace

CanonicalHashes canonical_hashes(const PlanNode& root) { return plan_hash(root, {}, 0); }

std::vector<CanonicalHashes> all_canonical_hashes(const PlanNode& root) {
  return plan_hashes(root, {}, 0);
}

std::string hex(const Hash128& h) {
  std::string out;
  for (const uint64_t half : h) {
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(half >> shift) & 15];
  }
  return out;
}

bool equivalent(const PlanNode& a, const PlanNode& b) {
  return &a == &b || canonical_hashes(a).all == canonical_hashes(b).all;
}

Fingerprints fingerprint(const PlanNode& root) {
  const CanonicalHashes hashes = canonical_hashes(root);
  return {hex(hashes.identity), hex(hashes.sharing)};
}

}  // namespace penstock
