#include "data/spec.h"

#include "data/ragged.h"

namespace penstock {
namespace {

bool plain_key(std::string_view key) {
  if (key.empty() || (key[0] >= '0' && key[0] <= '9')) return false;
  for (const char c : key) {
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
      return false;
  }
  return true;
}

void collect_paths(const Spec& spec, const std::string& prefix, std::vector<std::string>* out) {
  if (spec.is_leaf()) out->push_back(prefix);
  for (size_t i = 0; i < spec.items.size(); ++i) {
    const std::string name = spec.kind == Spec::Kind::dict ? spec.keys[i] : std::to_string(i);
    collect_paths(spec.items[i], prefix.empty() ? name : prefix + "/" + name, out);
  }
}

Spec replace_leaves(const Spec& spec, const std::vector<LeafSpec>& leaves, size_t* next) {
  Spec out = spec;
  if (spec.is_leaf()) out.leaf = leaves[(*next)++];
  for (Spec& item : out.items) item = replace_leaves(item, leaves, next);
  return out;
}

}  // namespace

LeafSpec LeafSpec::dataset(Spec element) {
  LeafSpec out;
  out.kind = Kind::dataset;
  out.element = std::make_shared<const Spec>(std::move(element));
  return out;
}

bool LeafSpec::operator==(const LeafSpec& other) const {
  if (kind != other.kind) return false;
  if (kind == Kind::dataset) return *element == *other.element && shape == other.shape;
  return dtype == other.dtype && shape == other.shape && ragged_rank == other.ragged_rank;
}

std::string LeafSpec::text() const {
  if (kind == Kind::dataset)
    return "dataset" + (shape.is_scalar() ? "" : shape.text()) + " of " + element->text();
  std::string out(dtype_name(dtype));
  if (!shape.is_scalar()) out += shape.text();
  if (kind == Kind::ragged) out = "ragged " + out;
  if (kind == Kind::sparse) out = "sparse " + out;
  if (kind == Kind::optional) out = "optional " + out;
  return out;
}

Spec Spec::of(LeafSpec leaf) {
  Spec out;
  out.kind = Kind::leaf;
  out.leaf = std::move(leaf);
  return out;
}

Spec Spec::tuple(std::vector<Spec> items) {
  Spec out;
  out.kind = Kind::tuple;
  out.items = std::move(items);
  return out;
}

Spec Spec::dict(std::vector<std::string> keys, std::vector<Spec> items) {
  Spec out;
  out.kind = Kind::dict;
  out.keys = std::move(keys);
  out.items = std::move(items);
  return out;
}

int Spec::leaf_count() const {
  int n = is_leaf() ? 1 : 0;
  for (const Spec& item : items) n += item.leaf_count();
  return n;
}

void Spec::collect(std::vector<LeafSpec>* out) const {
  if (is_leaf()) out->push_back(leaf);
  for (const Spec& item : items) item.collect(out);
}

std::vector<LeafSpec> Spec::leaves() const {
  std::vector<LeafSpec> out;
  collect(&out);
  return out;
}

Spec Spec::with_leaves(const std::vector<LeafSpec>& leaves) const {
  size_t next = 0;
  return replace_leaves(*this, leaves, &next);
}

std::vector<std::string> Spec::paths() const {
  std::vector<std::string> out;
  collect_paths(*this, "", &out);
  return out;
}

int Spec::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return static_cast<int>(i);
  }
  return -1;
}

bool Spec::operator==(const Spec& other) const {
  return kind == other.kind && keys == other.keys && items == other.items &&
         (kind != Kind::leaf || leaf == other.leaf);
}

bool Spec::same_structure(const Spec& other) const {
  if (kind != other.kind || keys != other.keys || items.size() != other.items.size()) return false;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].same_structure(other.items[i])) return false;
  }
  return true;
}

std::string Spec::text() const {
  switch (kind) {
    case Kind::none: return "none";
    case Kind::leaf: return leaf.text();
    case Kind::tuple: {
      std::string out = "(";
      for (size_t i = 0; i < items.size(); ++i) out += (i ? ", " : "") + items[i].text();
      return out + (items.size() == 1 ? ",)" : ")");
    }
    case Kind::dict: break;
  }
  std::string out = "{";
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string key = plain_key(keys[i]) ? keys[i] : '"' + keys[i] + '"';
    out += (i ? ", " : "") + key + ": " + items[i].text();
  }
  return out + "}";
}

Spec join_specs(const Spec& a, const Spec& b, bool* ok) {
  *ok = a.same_structure(b);
  if (!*ok) return a;
  std::vector<LeafSpec> left = a.leaves();
  const std::vector<LeafSpec> right = b.leaves();
  for (size_t i = 0; i < left.size(); ++i) {
    LeafSpec& l = left[i];
    LeafSpec r = right[i];
    // Rows of ragged tensors and dense tensors have the same values: together they are rows of
    // ragged tensors.
    if (l.kind != r.kind && is_dense(l) && is_dense(r)) l.kind = r.kind = LeafSpec::Kind::ragged;
    if (l.kind != r.kind || l.ragged_rank != r.ragged_rank ||
        (l.kind != LeafSpec::Kind::dataset && l.dtype != r.dtype)) {
      *ok = false;
      return a;
    }
    if (l.kind == LeafSpec::Kind::dataset) {
      bool inner = false;
      const Shape shape = Shape::join(l.shape, r.shape);
      l = LeafSpec::dataset(join_specs(*l.element, *r.element, &inner));
      l.shape = shape;
      // A dataset and a batch of datasets cannot be joined.
      *ok = *ok && inner && shape.has_rank();
    } else {
      l.shape = Shape::join(l.shape, r.shape);
    }
  }
  return a.with_leaves(left);
}

}  // namespace penstock
