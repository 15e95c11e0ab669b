#include "report/element_json.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/base64.h"
#include "data/object_list.h"
#include "data/optional.h"
#include "data/ragged.h"
#include "plan/utf8.h"

namespace penstock {
namespace {

Json number(double value) {
  if (std::isnan(value)) return Json{{"float", "nan"}};
  if (std::isinf(value)) return Json{{"float", value > 0 ? "inf" : "-inf"}};
  return value;
}

// Returns whether the bytes are UTF-8 text; control characters are not text, including U+0080 to
// U+009F.
bool is_text(std::string_view value) {
  for (size_t i = 0; i < value.size();) {
    const size_t length = utf8_length_at(value, i);
    const auto byte = static_cast<unsigned char>(value[i]);
    if (length == 0 || byte == 0x7f) return false;
    if (byte < 32 && byte != '\t' && byte != '\n' && byte != '\r') return false;
    if (byte == 0xc2 && static_cast<unsigned char>(value[i + 1]) < 0xa0) return false;
    i += length;
  }
  return true;
}

Json entry(const Tensor& t, int64_t i) {
  return visit_dtype(t.dtype(), [&]<typename T>(TypeTag<T>) -> Json {
    if constexpr (std::is_same_v<T, BytesView>) {
      return string_to_json(t.entry<T>(i).view());
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      return number(static_cast<double>(to_float(t.entry<T>(i))));
    } else if constexpr (std::is_floating_point_v<T>) {
      return number(static_cast<double>(t.entry<T>(i)));
    } else {
      return t.entry<T>(i);
    }
  });
}

Json nested(const Tensor& t, int axis, int64_t* next) {
  if (axis == t.dims().rank()) return entry(t, (*next)++);
  Json out = Json::array();
  for (int64_t i = 0; i < t.dims()[axis]; ++i) out.push_back(nested(t, axis + 1, next));
  return out;
}

// Returns items [begin, end) of ragged axis `axis`; after the last axis, of the values.
Json ragged_items(const RaggedTensor& t, int axis, int64_t begin, int64_t end) {
  Json out = Json::array();
  for (int64_t i = begin; i < end; ++i) {
    if (axis == t.ragged_rank()) {
      int64_t next = 0;
      out.push_back(nested(t.values().item(i), 0, &next));
    } else {
      const auto* splits = t.splits()[static_cast<size_t>(axis)].entries<int64_t>();
      out.push_back(ragged_items(t, axis + 1, splits[i], splits[i + 1]));
    }
  }
  return out;
}

// Shows ragged axes whose size the type knows with that size.
Json ragged_to_json(const RaggedTensor& t, const Shape& type) {
  Json shape{t.rows()};
  for (int i = 1; i <= t.ragged_rank(); ++i) {
    const int64_t size = type.has_rank() && i < type.rank() ? type[i] : -1;
    shape.push_back(size < 0 ? Json() : Json(size));
  }
  const Dims inner = t.values().dims().without_front();
  for (const int64_t size : inner.sizes()) shape.push_back(size);
  return Json{{"ragged", ragged_items(t, 0, 0, t.rows())}, {"shape", shape}};
}

Json sparse_to_json(const SparseTensor& t) {
  const bool none = t.indices().dims()[0] == 0;
  return Json{{"sparse",
               {{"indices", none ? Json::array() : tensor_to_json(t.indices())},
                {"values", tensor_to_json(t.values())},
                {"dense_shape", tensor_to_json(t.shape())}}}};
}

Json shape_to_json(const Shape& shape) {
  if (!shape.has_rank()) return nullptr;
  Json out = Json::array();
  for (const int64_t size : shape.sizes()) out.push_back(size < 0 ? Json() : Json(size));
  return out;
}

// Shows a nested dataset, or the list that a batch of them is.
Json object_to_json(const Object& object, const ShowObject& show_object) {
  if (const auto* list = dynamic_cast<const ObjectList*>(&object)) {
    Json out = Json::array();
    for (const ObjectPtr& item : list->items()) out.push_back(object_to_json(*item, show_object));
    return out;
  }
  return show_object ? show_object(object) : Json{{"dataset", Json::array()}};
}

Json leaf_to_json(const LeafSpec& leaf, const std::string& path) {
  Json out{{"path", path}};
  if (leaf.kind == LeafSpec::Kind::optional) {
    out["kind"] = "optional";
    out["element"] = Json::array({leaf_to_json(LeafSpec::tensor(leaf.dtype, leaf.shape), "")});
    return out;
  }
  if (leaf.kind == LeafSpec::Kind::dataset) {
    out["kind"] = "dataset";
    out["element"] = spec_to_json(*leaf.element);
    if (!leaf.shape.is_scalar()) out["shape"] = shape_to_json(leaf.shape);
    return out;
  }
  out["dtype"] = leaf.dtype == DType::bytes ? "bytes" : std::string(dtype_name(leaf.dtype));
  out["shape"] = shape_to_json(leaf.shape);
  if (leaf.kind == LeafSpec::Kind::ragged) {
    out["kind"] = "ragged";
    out["ragged_rank"] = leaf.ragged_rank;
  }
  if (leaf.kind == LeafSpec::Kind::sparse) out["kind"] = "sparse";
  return out;
}

void collect(const Spec& spec, const std::string& path, Json* out) {
  if (spec.is_leaf()) {
    out->push_back(leaf_to_json(spec.leaf, path));
    return;
  }
  if (spec.kind == Spec::Kind::none) {
    out->push_back(Json{{"path", path}, {"kind", "none"}});
    return;
  }
  std::vector<size_t> order(spec.items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (spec.kind == Spec::Kind::dict)
    std::ranges::sort(order, {}, [&](size_t i) { return spec.keys[i]; });
  for (const size_t i : order) {
    const std::string name = spec.kind == Spec::Kind::dict ? spec.keys[i] : std::to_string(i);
    collect(spec.items[i], path.empty() ? name : path + "/" + name, out);
  }
}

}  // namespace

Json string_to_json(std::string_view value) {
  if (is_text(value)) return std::string(value);
  return Json{{"b64", to_base64(value)}};
}

Json tensor_to_json(const Tensor& t) {
  if (t.dims().rank() > 0 && t.entries_count() == 0) {
    Json shape = Json::array();
    for (const int64_t s : t.dims().sizes()) shape.push_back(s);
    return Json{{"empty", shape}};
  }
  int64_t next = 0;
  return nested(t, 0, &next);
}

Json element_to_json(const Spec& spec, const std::vector<Tensor>& leaves, size_t* next,
                     const ShowObject& show_object) {
  switch (spec.kind) {
    case Spec::Kind::none: return nullptr;
    case Spec::Kind::leaf: {
      const Tensor& t = leaves[(*next)++];
      if (!t.object()) return tensor_to_json(t);
      if (const RaggedTensor* ragged = as_ragged(t))
        return ragged_to_json(*ragged, spec.leaf.shape);
      if (const SparseTensor* sparse = as_sparse(t)) return sparse_to_json(*sparse);
      if (const OptionalTensor* optional = as_optional(t)) {
        return Json{
            {"optional", optional->has_value() ? tensor_to_json(optional->value()) : Json()}};
      }
      return object_to_json(*t.object(), show_object);
    }
    case Spec::Kind::tuple: {
      Json items = Json::array();
      for (const Spec& item : spec.items)
        items.push_back(element_to_json(item, leaves, next, show_object));
      return Json{{"tuple", items}};
    }
    case Spec::Kind::dict: break;
  }
  Json out = Json::object();
  for (size_t i = 0; i < spec.items.size(); ++i)
    out[spec.keys[i]] = element_to_json(spec.items[i], leaves, next, show_object);
  return out;
}

Json spec_to_json(const Spec& spec) {
  Json out = Json::array();
  collect(spec, "", &out);
  return out;
}

Json error_to_json(const Error& error) {
  return Json{{"code", code_name(error.code())}, {"message", error.what()}};
}

}  // namespace penstock
