#include "api/spec.h"

#include "api/element.h"
#include "data/optional.h"
#include "data/ragged.h"

namespace penstock {
namespace {

using Kind = ElementSpec::Kind;

Kind kind_of(const LeafSpec& leaf) {
  if (is_dense(leaf)) return Kind::tensor;
  switch (leaf.kind) {
    case LeafSpec::Kind::tensor: return Kind::tensor;
    case LeafSpec::Kind::ragged: return Kind::ragged;
    case LeafSpec::Kind::sparse: return Kind::sparse;
    case LeafSpec::Kind::dataset: return Kind::dataset;
    case LeafSpec::Kind::optional: break;
  }
  return Kind::optional;
}

ElementSpec of_leaf(const LeafSpec& leaf) {
  ElementSpec out;
  out.kind = kind_of(leaf);
  out.shape = leaf.shape.has_rank() ? std::optional(leaf.shape.sizes()) : std::nullopt;
  if (out.kind == Kind::dataset) {
    out.parts = {to_element_spec(*leaf.element)};
  } else {
    out.type = to_type(leaf.dtype);
    out.ragged_rank = leaf.ragged_rank;
  }
  return out;
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(Code::invalid_argument, "ElementSpec: " + what);
}

Spec to_leaf(const ElementSpec& spec, const std::vector<Spec>& parts) {
  Shape shape = spec.shape ? Shape(*spec.shape) : Shape::unknown_rank();
  const DType dtype = to_dtype(spec.type);
  switch (spec.kind) {
    case Kind::ragged: return Spec::of(ragged_leaf(dtype, std::move(shape), spec.ragged_rank));
    case Kind::sparse: return Spec::of(sparse_leaf(dtype, std::move(shape)));
    case Kind::optional: return Spec::of(optional_leaf(dtype, std::move(shape)));
    case Kind::dataset: {
      LeafSpec leaf = LeafSpec::dataset(parts[0]);
      leaf.shape = std::move(shape);
      return Spec::of(std::move(leaf));
    }
    default: return Spec::tensor(dtype, std::move(shape));
  }
}

}  // namespace

ElementSpec to_element_spec(const Spec& spec) {
  if (spec.is_leaf()) return of_leaf(spec.leaf);
  ElementSpec out;
  out.kind = spec.kind == Spec::Kind::tuple  ? Kind::tuple
             : spec.kind == Spec::Kind::dict ? Kind::dict
                                             : Kind::none;
  out.keys = spec.keys;
  for (const Spec& item : spec.items) out.parts.push_back(to_element_spec(item));
  return out;
}

Spec from_element_spec(const ElementSpec& spec) {
  if (spec.keys.size() != (spec.kind == Kind::dict ? spec.parts.size() : 0))
    fail("a dict has as many keys as parts, others have none: " + std::to_string(spec.keys.size()) +
         " keys");
  const bool is_tree = spec.kind == Kind::tuple || spec.kind == Kind::dict;
  const size_t wanted = spec.kind == Kind::dataset ? 1 : 0;
  if (!is_tree && spec.parts.size() != wanted)
    fail("has " + std::to_string(spec.parts.size()) + " parts, expected " + std::to_string(wanted));
  std::vector<Spec> parts;
  for (const ElementSpec& part : spec.parts) parts.push_back(from_element_spec(part));
  if (spec.kind == Kind::tuple) return Spec::tuple(std::move(parts));
  if (spec.kind == Kind::dict) return Spec::dict(spec.keys, std::move(parts));
  return spec.kind == Kind::none ? Spec() : to_leaf(spec, parts);
}

std::string ElementSpec::text() const { return from_element_spec(*this).text(); }

}  // namespace penstock
