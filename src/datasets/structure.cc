#include "datasets/structure.h"

#include "data/leaf_of.h"

namespace penstock {
namespace {

void collect(const Attr& a, std::vector<Tensor>* out) {
  if (a.is_tensor()) out->push_back(a.tensor());
  for (const Attr& item : a.items()) collect(item, out);
}

}  // namespace

Spec structure_spec(const Attr& a) {
  switch (a.kind()) {
    case Attr::Kind::tensor: return Spec::of(leaf_of(a.tensor()));
    case Attr::Kind::capture: return Spec::of(a.capture_type());
    case Attr::Kind::none: return Spec();
    case Attr::Kind::tuple:
    case Attr::Kind::list:
    case Attr::Kind::dict: {
      std::vector<Spec> items;
      for (const Attr& item : a.items()) items.push_back(structure_spec(item));
      return a.kind() == Attr::Kind::dict ? Spec::dict(a.keys(), std::move(items))
                                          : Spec::tuple(std::move(items));
    }
    default: break;
  }
  throw Error(Code::invalid_argument, "expected tensors, tuples and dicts");
}

std::vector<Tensor> structure_leaves(const Attr& structure) {
  std::vector<Tensor> out;
  collect(structure, &out);
  return out;
}

}  // namespace penstock
