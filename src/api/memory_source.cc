// from_memory is from_tensor_slices whose arrays are no part of the plan's arguments. A plan is
// printed, hashed and written into traces as often as somebody looks at it: arrays of gigabytes
// would be, too, and a memory-mapped file would be read for it. `identity` stands for them.

#include "api/memory_source.h"

#include <xxhash.h>

#include "plan/user_code.h"
#include "runtime/indexed.h"
#include "runtime/open.h"

namespace penstock {
namespace {

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

void add_contents(XXH3_state_t* hash, const Tensor& t) {
  const std::string type = LeafSpec::tensor(t.dtype(), Shape(t.dims())).text();
  XXH3_128bits_update(hash, type.data(), type.size());
  if (t.dtype() != DType::bytes) {
    const int64_t bytes = t.entries_count() * dtype_size(t.dtype());
    XXH3_128bits_update(hash, t.data(), static_cast<size_t>(bytes));
    return;
  }
  for (int64_t i = 0; i < t.entries_count(); ++i) {
    const std::string_view text = bytes_at(t, i);
    const auto size = static_cast<int64_t>(text.size());
    XXH3_128bits_update(hash, &size, sizeof size);
    XXH3_128bits_update(hash, text.data(), text.size());
  }
}

void add_contents(XXH3_state_t* hash, const Attr& attr) {
  if (attr.is_tensor()) return add_contents(hash, attr.tensor());
  for (const Attr& item : attr.items()) add_contents(hash, item);
}

// The same node of another operator: cursors and marks carry its name.
PlanPtr renamed(const PlanNode& slices, const OperatorDef* op) {
  auto out = std::make_shared<PlanNode>(slices);
  out->op = op;
  return out;
}

}  // namespace

std::string contents_identity(const PlanNode& slices) {
  const std::unique_ptr<XXH3_state_t, FreeState> hash(XXH3_createState());
  XXH3_128bits_reset(hash.get());
  add_contents(hash.get(), slices.arg("tensors"));
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(hash.get()));
  std::string out;
  for (const unsigned char byte : digest.digest) {
    for (const int half : {byte >> 4, byte & 15}) out += "0123456789abcdef"[half];
  }
  return out;
}

std::shared_ptr<const OperatorDef> memory_operator(const PlanPtr& slices,
                                                   const std::string& identity) {
  const auto forget = [](const OperatorDef* op) {
    forget_user_code(op);
    delete op;
  };
  const std::shared_ptr<OperatorDef> def(new OperatorDef, forget);
  def->name = "from_memory";
  def->doc = "The items of arrays in memory.";
  def->source = true;
  def->params = {optional("arrays", Param::Kind::text, Attr::text("")),
                 optional("identity", Param::Kind::text, Attr::text(""))};
  def->infer = [slices](NodeDraft& draft) {
    draft.node.spec = slices->spec;
    draft.node.cardinality = slices->cardinality;
  };
  def->open = [slices](const PlanPtr& node, OpenContext& context) {
    return slices->op->open(renamed(*slices, node->op), context);
  };
  def->open_indexed = [slices](const PlanPtr& node, const OpenContext& context) {
    return slices->op->open_indexed(renamed(*slices, node->op), context);
  };
  set_user_code(def.get(), {identity, true});
  return def;
}

}  // namespace penstock
