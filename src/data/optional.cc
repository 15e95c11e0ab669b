#include "data/optional.h"

namespace penstock {
namespace {

class OptionalRows final : public ObjectRows {
 public:
  OptionalRows(Column values, Shape shape, std::vector<uint8_t> present)
      : values_(std::move(values)), shape_(std::move(shape)), present_(std::move(present)) {}
  int64_t rows() const override { return static_cast<int64_t>(present_.size()); }
  ObjectPtr row(int64_t i) const override {
    if (!present_[static_cast<size_t>(i)])
      return std::make_shared<const OptionalTensor>(values_.dtype(), shape_);
    return std::make_shared<const OptionalTensor>(shape_, values_.row(i));
  }

 private:
  Column values_;
  Shape shape_;
  std::vector<uint8_t> present_;
};

}  // namespace

Tensor make_optional(Tensor value) {
  Shape shape(value.dims());
  return Tensor(std::make_shared<const OptionalTensor>(std::move(shape), std::move(value)));
}

Tensor make_missing(DType dtype, Shape shape) {
  return Tensor(std::make_shared<const OptionalTensor>(dtype, std::move(shape)));
}

const OptionalTensor* as_optional(const Tensor& tensor) {
  return dynamic_cast<const OptionalTensor*>(tensor.object().get());
}

LeafSpec optional_leaf(DType dtype, Shape shape) {
  return {LeafSpec::Kind::optional, dtype, std::move(shape), 0, nullptr};
}

Column optional_column(Column values, Shape shape, std::vector<uint8_t> present) {
  return Column::object(
      std::make_shared<OptionalRows>(std::move(values), std::move(shape), std::move(present)));
}

}  // namespace penstock
