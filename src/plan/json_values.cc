// Specs and arguments.

#include <algorithm>
#include <cmath>

#include "plan/json_parts.h"
#include "plan/utf8.h"

namespace penstock::json_form {

Out leaf_to_json(const LeafSpec& leaf) {
  Out shape;
  if (leaf.shape.has_rank()) {
    shape = Out::array();
    for (const int64_t size : leaf.shape.sizes()) shape.push_back(size < 0 ? Out() : Out(size));
  }
  if (leaf.kind == LeafSpec::Kind::dataset) {
    Out out{{"dataset", spec_to_json(*leaf.element)}};
    if (!leaf.shape.is_scalar()) out["shape"] = std::move(shape);
    return out;
  }
  Out out{{"dtype", std::string(dtype_name(leaf.dtype))}, {"shape", std::move(shape)}};
  if (leaf.kind == LeafSpec::Kind::ragged) out["ragged_rank"] = leaf.ragged_rank;
  if (leaf.kind == LeafSpec::Kind::sparse) out["sparse"] = true;
  if (leaf.kind == LeafSpec::Kind::optional) out["optional"] = true;
  return out;
}

namespace {

Shape shape_from_json(const In& shape, const Where& where) {
  if (shape.is_null()) return Shape::unknown_rank();
  if (array(shape, where).size() > kMaxRank + 1) where.fail("the rank is above 8");
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < shape.size(); ++i) {
    sizes.push_back(shape[i].is_null() ? Shape::kUnknown
                                       : integer(shape[i], where[i], 0, INT64_MAX));
  }
  return Shape(std::move(sizes));
}

}  // namespace

LeafSpec leaf_from_json(const In& in, const Where& where) {
  if (const In* element = optional_member(object(in, where), "dataset")) {
    LeafSpec out = LeafSpec::dataset(spec_from_json(*element, where["dataset"]));
    if (const In* shape = optional_member(in, "shape"))
      out.shape = shape_from_json(*shape, where["shape"]);
    return out;
  }
  const DType dtype = dtype_from_json(member(in, "dtype", where), where["dtype"]);
  LeafSpec out =
      LeafSpec::tensor(dtype, shape_from_json(member(in, "shape", where), where["shape"]));
  if (const In* rank = optional_member(in, "ragged_rank")) {
    out.kind = LeafSpec::Kind::ragged;
    out.ragged_rank = static_cast<int>(integer(*rank, where["ragged_rank"], 0, kMaxRank));
  }
  if (optional_member(in, "sparse")) out.kind = LeafSpec::Kind::sparse;
  if (optional_member(in, "optional")) out.kind = LeafSpec::Kind::optional;
  return out;
}

Out spec_to_json(const Spec& spec) {
  if (spec.kind == Spec::Kind::none) return nullptr;
  if (spec.is_leaf()) return leaf_to_json(spec.leaf);
  Out items = Out::array();
  for (size_t i = 0; i < spec.items.size(); ++i) {
    Out item = spec_to_json(spec.items[i]);
    items.push_back(spec.kind == Spec::Kind::tuple
                        ? std::move(item)
                        : Out::array({bytes_to_json(spec.keys[i]), std::move(item)}));
  }
  return Out{{spec.kind == Spec::Kind::tuple ? "tuple" : "dict", std::move(items)}};
}

namespace {

// [[key, value], ...] with distinct keys.
template <typename Read>
void read_pairs(const In& in, const Where& where, std::vector<std::string>* keys,
                const Read& read) {
  array(in, where);
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].is_array() || in[i].size() != 2) where[i].fail("expected [key, value]");
    std::string key = bytes_from_json(in[i][0], where[i]);
    if (std::ranges::find(*keys, key) != keys->end())
      where[i].fail("this key is there already: " + key);
    keys->push_back(std::move(key));
    read(in[i][1], where[i]);
  }
}

}  // namespace

Spec spec_from_json(const In& in, const Where& where) {
  if (in.is_null()) return Spec();
  std::vector<Spec> items;
  if (const In* tuple = optional_member(object(in, where), "tuple")) {
    array(*tuple, where["tuple"]);
    for (size_t i = 0; i < tuple->size(); ++i)
      items.push_back(spec_from_json((*tuple)[i], where["tuple"][i]));
    return Spec::tuple(std::move(items));
  }
  if (const In* dict = optional_member(in, "dict")) {
    std::vector<std::string> keys;
    read_pairs(*dict, where["dict"], &keys, [&](const In& value, const Where& place) {
      items.push_back(spec_from_json(value, place));
    });
    return Spec::dict(std::move(keys), std::move(items));
  }
  return Spec::of(leaf_from_json(in, where));
}

// int64, float64, bool and string scalars stand for themselves.
Out attr_to_json(const Attr& attr) {
  switch (attr.kind()) {
    case Attr::Kind::none: return nullptr;
    case Attr::Kind::automatic: return Out{{"auto", true}};
    case Attr::Kind::dtype: return Out{{"type", std::string(dtype_name(attr.as_dtype()))}};
    case Attr::Kind::capture: return Out{{"capture", attr.capture_index()}};
    case Attr::Kind::tensor: {
      const Tensor& t = attr.tensor();
      const bool scalar = t.dims().rank() == 0 && !t.object();
      if (scalar && t.dtype() == DType::int64) return t.entry<int64_t>();
      if (scalar && t.dtype() == DType::boolean) return t.entry<bool>();
      if (scalar && t.dtype() == DType::float64 && std::isfinite(t.entry<double>()))
        return t.entry<double>();
      if (scalar && t.dtype() == DType::bytes && is_utf8(bytes_at(t)))
        return std::string(bytes_at(t));
      return tensor_to_json(t);
    }
    default: break;
  }
  Out items = Out::array();
  for (size_t i = 0; i < attr.items().size(); ++i) {
    Out item = attr_to_json(attr.items()[i]);
    items.push_back(attr.kind() == Attr::Kind::dict
                        ? Out::array({bytes_to_json(attr.keys()[i]), std::move(item)})
                        : std::move(item));
  }
  if (attr.kind() == Attr::Kind::list) return items;
  return Out{{attr.kind() == Attr::Kind::tuple ? "tuple" : "dict", std::move(items)}};
}

Attr attr_from_json(const In& in, const EnvironmentTypes& environment, const Where& where) {
  if (in.is_null()) return {};
  if (in.is_boolean()) return Attr::boolean(in.get<bool>());
  if (in.is_string()) return Attr::text(in.get_ref<const std::string&>());
  if (in.is_number_float()) return Attr::floating(in.get<double>());
  if (in.is_number()) return Attr::integer(integer(in, where, INT64_MIN, INT64_MAX));
  std::vector<Attr> items;
  auto read_items = [&](const In& from, const Where& place) {
    array(from, place);
    for (size_t i = 0; i < from.size(); ++i)
      items.push_back(attr_from_json(from[i], environment, place[i]));
  };
  if (in.is_array()) {
    read_items(in, where);
    return Attr::list(std::move(items));
  }
  if (const In* tuple = optional_member(object(in, where), "tuple")) {
    read_items(*tuple, where["tuple"]);
    return Attr::tuple(std::move(items));
  }
  if (const In* dict = optional_member(in, "dict")) {
    std::vector<std::string> keys;
    read_pairs(*dict, where["dict"], &keys, [&](const In& value, const Where& place) {
      items.push_back(attr_from_json(value, environment, place));
    });
    return Attr::dict(std::move(keys), std::move(items));
  }
  if (const In* capture = optional_member(in, "capture")) {
    const int64_t i = integer(*capture, where["capture"], 0, INT32_MAX);
    if (i >= static_cast<int64_t>(environment.size()))
      where.fail("there is no captured value " + std::to_string(i));
    return Attr::capture(static_cast<int>(i), environment[static_cast<size_t>(i)]);
  }
  if (const In* type = optional_member(in, "type"))
    return Attr::of(dtype_from_json(*type, where["type"]));
  if (optional_member(in, "auto")) return Attr::automatic();
  return Attr::of(tensor_from_json(in, where));
}

namespace {

bool is_scalar(const Attr& attr, bool (*good)(DType)) {
  return attr.is_tensor() && attr.tensor().dims().rank() == 0 && good(attr.tensor().dtype());
}

bool is_tensor_tree(const Attr& attr) {
  if (attr.is_tensor() || attr.is_capture() || attr.is_none()) return true;
  const bool inner = attr.kind() == Attr::Kind::tuple || attr.kind() == Attr::Kind::dict ||
                     attr.kind() == Attr::Kind::list;
  return inner && std::ranges::all_of(attr.items(), is_tensor_tree);
}

bool is_size(const Attr& attr) { return attr.is_none() || is_scalar(attr, is_integer); }

}  // namespace

void check_attr(const Attr& attr, const Param& param, const Where& where) {
  if (attr == param.fallback && !param.required) return;
  if (attr.is_auto()) {
    if (!param.performance) where.fail("`" + param.name + "` changes the data and is never auto");
    return;
  }
  if (attr.is_none() && !param.required) return;
  auto expect = [&](bool good, const char* what) {
    if (!good) where.fail("`" + param.name + "` must be " + what);
  };
  switch (param.kind) {
    case Param::Kind::tensor: expect(attr.is_tensor() || attr.is_capture(), "a tensor"); break;
    case Param::Kind::structure: expect(is_tensor_tree(attr), "a tree of tensors"); break;
    case Param::Kind::integer: expect(is_scalar(attr, is_integer), "an integer"); break;
    case Param::Kind::floating: expect(is_scalar(attr, is_number), "a number"); break;
    case Param::Kind::boolean:
      expect(is_scalar(attr, [](DType d) { return d == DType::boolean; }), "true or false");
      break;
    case Param::Kind::text:
      expect(is_scalar(attr, [](DType d) { return d == DType::bytes; }), "a string");
      break;
    case Param::Kind::dtype: expect(attr.kind() == Attr::Kind::dtype, "a dtype"); break;
    case Param::Kind::shape:
      expect(attr.is_none() ||
                 (attr.kind() == Attr::Kind::list && std::ranges::all_of(attr.items(), is_size)),
             "a list of sizes");
      break;
    default: break;
  }
}

}  // namespace penstock::json_form
