#include "api/element.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "api/spec.h"
#include "data/optional.h"
#include "data/ragged.h"

namespace penstock {
namespace {

// Bytes between strings and how they lie in memory differ: compared by what they hold.
bool same_arrays(const std::vector<Array>& a, const std::vector<Array>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Array& x, const Array& y) { return x.same(y); });
}

Dims dims_for(const std::vector<int64_t>& shape, size_t count) {
  for (const int64_t size : shape) {
    if (size < 0)
      throw Error(Code::invalid_argument, "Array: a size is negative: " + std::to_string(size));
  }
  const Dims dims(std::span<const int64_t>(shape.data(), shape.size()));
  if (dims.entries() != static_cast<int64_t>(count)) {
    throw Error(Code::invalid_argument,
                "Array: " + std::to_string(count) + " values given for shape " + dims.text());
  }
  return dims;
}

}  // namespace

std::string_view type_name(Type type) { return dtype_name(to_dtype(type)); }

Array ArrayAccess::of(Tensor tensor) {
  if (tensor.object()) {
    throw Error(
        Code::unimplemented,
        "a ragged or sparse tensor or a nested dataset is no array; unbatch or map it first");
  }
  static_assert(kMaxRank <= Array::kMostRank);
  Array out;
  out.type_ = to_type(tensor.dtype());
  out.rank_ = static_cast<uint32_t>(tensor.dims().rank());
  std::ranges::copy(tensor.dims().sizes(), out.sizes_.begin());
  out.entries_ = tensor.entries_count();
  out.data_ = tensor.data();
  out.owner_.buffer_ = shared(tensor.buffer());
  return out;
}

Tensor ArrayAccess::tensor(const Array& array) {
  return {to_dtype(array.type_), Dims(array.shape()), as_buffer(array.owner_.buffer_),
          const_cast<std::byte*>(array.data_)};
}

// A reference is one pointer, which SharedBytes keeps as bits: its header is not the user's.
void* ArrayAccess::shared(const BufferRef& buffer) {
  static_assert(sizeof(BufferRef) == sizeof(void*) && alignof(BufferRef) == alignof(void*));
  void* bits = nullptr;
  ::new (static_cast<void*>(&bits)) BufferRef(buffer);
  return bits;
}

const BufferRef& ArrayAccess::as_buffer(void* const& bits) {
  return *std::launder(reinterpret_cast<const BufferRef*>(&bits));
}

void ArrayAccess::release(void** bits) {
  std::launder(reinterpret_cast<BufferRef*>(bits))->~BufferRef();
}

SharedBytes::SharedBytes(const SharedBytes& other)
    : buffer_(ArrayAccess::shared(ArrayAccess::as_buffer(other.buffer_))) {}

SharedBytes::~SharedBytes() { ArrayAccess::release(&buffer_); }

Array Array::make(Type type, std::vector<int64_t> shape, const void* values, size_t count) {
  Tensor tensor = Tensor::make(to_dtype(type), dims_for(shape, count));
  if (count > 0)
    std::memcpy(tensor.mutable_data(), values, static_cast<size_t>(tensor.data_bytes()));
  return ArrayAccess::of(std::move(tensor));
}

Array Array::text(std::string_view value) { return ArrayAccess::of(Tensor::of_bytes(value)); }

Array Array::texts(std::span<const std::string> values) {
  return texts(values, {static_cast<int64_t>(values.size())});
}

Array Array::texts(std::span<const std::string> values, std::vector<int64_t> shape) {
  const Dims dims = dims_for(shape, values.size());
  const std::vector<std::string_view> views(values.begin(), values.end());
  return ArrayAccess::of(Tensor::of_strings(views).reshaped(dims));
}

void Array::check_type(Type wanted) const {
  if (type_ == wanted) return;
  throw Error(Code::invalid_argument, "Array: is " + std::string(type_name(type_)) +
                                          ", asked for " + std::string(type_name(wanted)));
}

void Array::check_single() const {
  if (entries_ != 1)
    throw Error(Code::invalid_argument,
                "Array: has " + std::to_string(entries_) + " entries, asked for one");
}

std::string_view Array::text() const {
  check_type(Type::bytes);
  check_single();
  return reinterpret_cast<const BytesView*>(data_)->view();
}

std::vector<std::string_view> Array::texts() const {
  check_type(Type::bytes);
  std::vector<std::string_view> out;
  out.reserve(static_cast<size_t>(entries_));
  for (int64_t i = 0; i < entries_; ++i)
    out.push_back(reinterpret_cast<const BytesView*>(data_)[i].view());
  return out;
}

bool Array::same(const Array& other) const {
  return ArrayAccess::tensor(*this).same(ArrayAccess::tensor(other));
}

ElementNode::ElementNode(const Spec& what, size_t* next_leaf)
    : spec(what), kind(to_element_spec(what).kind), leaf(*next_leaf) {
  if (spec.is_leaf()) ++*next_leaf;
  items.reserve(spec.items.size());
  for (const Spec& item : spec.items) items.emplace_back(item, next_leaf);
}

ElementLayout::ElementLayout(Spec whole)
    : spec(std::move(whole)),
      root(spec, &leaves),
      has_datasets(std::ranges::any_of(spec.leaves(), [](const LeafSpec& leaf) {
        return leaf.kind == LeafSpec::Kind::dataset;
      })) {}

Element ElementAccess::of(std::shared_ptr<const ElementRows> rows, int64_t row) {
  Element out;
  out.node_ = &rows->layout->root;
  out.rows_ = std::move(rows);
  out.row_ = row;
  return out;
}

std::shared_ptr<const DatasetValue> ElementAccess::dataset(const Element& element,
                                                           std::shared_ptr<const void>* owner) {
  element.check_kind(Element::Kind::dataset, "a nested dataset");
  *owner = element.rows_->owner;
  const Tensor row = element.rows_->block.columns[element.node_->leaf].row(element.row_);
  auto out = std::dynamic_pointer_cast<const DatasetValue>(row.object());
  if (!out) {
    throw Error(Code::unimplemented,
                "Element: a batch of datasets is not one dataset; unbatch it first");
  }
  return out;
}

Element ElementAccess::of(const Spec& spec, const std::vector<Tensor>& leaves) {
  auto rows = std::make_shared<ElementRows>();
  rows->layout = std::make_shared<const ElementLayout>(spec);
  rows->block.rows = 1;
  for (const Tensor& leaf : leaves) rows->block.columns.push_back(Column::constant(leaf, 1));
  return of(std::move(rows), 0);
}

Element::Kind Element::kind() const { return node_ ? node_->kind : Kind::none; }

bool Element::has_value() const {
  return kind() != Kind::optional ||
         as_optional(rows_->block.columns[node_->leaf].row(row_))->has_value();
}

size_t Element::size() const { return node_ ? node_->items.size() : 0; }

std::vector<std::string> Element::keys() const {
  return kind() == Kind::dict ? node_->spec.keys : std::vector<std::string>();
}

Element Element::operator[](size_t i) const {
  if (i >= size()) {
    throw Error(Code::out_of_range, "Element: part " + std::to_string(i) + " of " +
                                        std::to_string(size()) + ": " + spec().text());
  }
  Element out = *this;
  out.node_ = &node_->items[i];
  return out;
}

Element Element::operator[](std::string_view key) const {
  const int i = kind() == Kind::dict ? node_->spec.find(key) : -1;
  if (i < 0)
    throw Error(Code::not_found,
                "Element: there is no field `" + std::string(key) + "`: " + spec().text());
  return (*this)[static_cast<size_t>(i)];
}

Array Element::array() const {
  if (kind() == Kind::optional) {
    const Tensor row = rows_->block.columns[node_->leaf].row(row_);
    const OptionalTensor* optional = as_optional(row);
    if (!optional->has_value())
      throw Error(Code::failed_precondition,
                  "Element: the optional value is missing: " + spec().text());
    return ArrayAccess::of(optional->value());
  }
  check_kind(Kind::tensor, "a tensor");
  return ArrayAccess::of(rows_->block.columns[node_->leaf].row(row_));
}

RaggedArray Element::ragged() const {
  check_kind(Kind::ragged, "a ragged tensor");
  const Tensor row = rows_->block.columns[node_->leaf].row(row_);
  const RaggedTensor* ragged = as_ragged(row);
  RaggedArray out{{}, ArrayAccess::of(ragged->values())};
  for (const Tensor& split : ragged->splits()) out.splits.push_back(ArrayAccess::of(split));
  return out;
}

SparseArray Element::sparse() const {
  check_kind(Kind::sparse, "a sparse tensor");
  const Tensor row = rows_->block.columns[node_->leaf].row(row_);
  const SparseTensor* sparse = as_sparse(row);
  return {ArrayAccess::of(sparse->indices()), ArrayAccess::of(sparse->values()),
          ArrayAccess::of(sparse->shape())};
}

void Element::check_kind(Kind wanted, const char* what) const {
  if (kind() != wanted)
    throw Error(Code::invalid_argument,
                "Element: is not " + std::string(what) + ": " + spec().text());
}

std::vector<Array> Element::arrays() const {
  if (kind() == Kind::tensor) return {array()};
  if (kind() == Kind::optional)
    return has_value() ? std::vector<Array>{array()} : std::vector<Array>();
  std::vector<Array> out;
  if (kind() == Kind::ragged) {
    RaggedArray all = ragged();
    out = std::move(all.splits);
    out.push_back(std::move(all.values));
  } else if (kind() == Kind::sparse) {
    SparseArray all = sparse();
    out = {std::move(all.indices), std::move(all.values), std::move(all.shape)};
  }
  for (size_t i = 0; i < size(); ++i) {
    for (Array& a : (*this)[i].arrays()) out.push_back(std::move(a));
  }
  return out;
}

bool Element::same(const Element& other) const {
  if (kind() == Kind::dataset || kind() != other.kind() || size() != other.size()) return false;
  if (size() == 0) return same_arrays(arrays(), other.arrays());
  if (keys() != other.keys()) return false;
  for (size_t i = 0; i < size(); ++i) {
    if (!(*this)[i].same(other[i])) return false;
  }
  return true;
}

ElementSpec Element::spec() const { return node_ ? to_element_spec(node_->spec) : ElementSpec(); }

}  // namespace penstock
