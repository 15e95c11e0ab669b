#include "functions/result_rows.h"

#include <cstring>

namespace penstock {
namespace {

class ObjectList final : public ObjectRows {
 public:
  explicit ObjectList(std::vector<ObjectPtr> rows) : rows_(std::move(rows)) {}
  int64_t rows() const override { return static_cast<int64_t>(rows_.size()); }
  ObjectPtr row(int64_t i) const override { return rows_[static_cast<size_t>(i)]; }

 private:
  std::vector<ObjectPtr> rows_;
};

}  // namespace

ResultRows::ResultRows(const LeafSpec& type, int64_t rows, const Column* place) : type_(type) {
  // Large rows without a place keep the buffers they have, which may be an input's.
  constexpr int64_t kLargeBytes = 64 << 10;
  const bool is_flat = type.is_tensor() && type.shape.is_static() && type.dtype != DType::bytes;
  if (is_flat && (place || type.shape.dims().entries() * dtype_size(type.dtype) < kLargeBytes)) {
    dense_ = place ? *place : Column::dense(type.dtype, type.shape.dims(), rows);
  } else {
    rows_.reserve(static_cast<size_t>(rows));
  }
}

void ResultRows::add(int64_t row, Tensor value) {
  if (!type_.is_tensor()) {
    objects_.push_back(value.object());
  } else if (dense_.rows() > 0) {
    auto* to = dense_.mutable_data() + row * dense_.row_bytes();
    if (value.data() != to && dense_.row_bytes() > 0)
      std::memcpy(to, value.data(), static_cast<size_t>(dense_.row_bytes()));
  } else {
    rows_.push_back(std::move(value));
  }
}

void ResultRows::add_failed(int64_t row) {
  if (!type_.is_tensor()) {
    objects_.push_back(nullptr);
  } else if (dense_.rows() > 0) {
    if (dense_.row_bytes() > 0)
      std::memset(dense_.mutable_data() + row * dense_.row_bytes(), 0,
                  static_cast<size_t>(dense_.row_bytes()));
  } else {
    rows_.emplace_back();
  }
}

Column ResultRows::finish() {
  if (!type_.is_tensor()) return Column::object(std::make_shared<ObjectList>(std::move(objects_)));
  if (dense_.rows() > 0) return std::move(dense_);
  if (type_.is_tensor() && type_.dtype == DType::bytes &&
      type_.shape.is_static()) {  // views side by side
    const Dims dims = type_.shape.dims();
    Column out = Column::dense(DType::bytes, dims, static_cast<int64_t>(rows_.size()));
    auto* to = out.mutable_entries<BytesView>();
    const int64_t n = dims.entries();
    for (const Tensor& row : rows_) {
      const bool whole = row.entries_count() == n && row.data();
      for (int64_t i = 0; i < n; ++i) *to++ = whole ? row.entry<BytesView>(i) : BytesView{};
      out.mutable_buffer().keep(row.buffer());
    }
    return out;
  }
  return Column::variable(type_.dtype, std::move(rows_));
}

}  // namespace penstock
