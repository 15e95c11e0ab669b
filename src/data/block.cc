#include "data/block.h"

#include <algorithm>

namespace penstock {
namespace {

class NoObjects final : public ObjectRows {
 public:
  explicit NoObjects(int64_t rows) : rows_(rows) {}
  int64_t rows() const override { return rows_; }
  ObjectPtr row(int64_t) const override { return nullptr; }

 private:
  int64_t rows_;
};

}  // namespace

Origin Origin::of(RowIds lineages, RowIds epochs) {
  Origin out;
  const bool one = std::ranges::adjacent_find(epochs, std::not_equal_to{}) == epochs.end();
  if (one) {
    out.epoch_ = epochs.empty() ? 0 : epochs[0];
    epochs.clear();
  }
  out.ids_ = make_recycled<const Ids>(Ids{std::move(lineages), std::move(epochs)});
  return out;
}

Origin Origin::slice(int64_t begin) const {
  Origin out = *this;
  if (!picks_) out.lineage_ += stride_ * static_cast<uint64_t>(begin);
  out.first_ += begin;
  return out;
}

Origin Origin::pick(std::shared_ptr<const RowIndices> indices) const {
  if (ids_ || picks_) return gather(*indices);
  Origin out = *this;
  out.first_ = 0;
  out.picks_ = std::move(indices);
  return out;
}

Origin Origin::gather(std::span<const int32_t> indices) const {
  RowIds lineages, epochs;
  lineages.reserve(indices.size());
  for (const int32_t i : indices) lineages.push_back(lineage(i));
  if (ids_ && !ids_->epochs.empty()) {
    for (const int32_t i : indices) epochs.push_back(epoch(i));
  } else if (!indices.empty()) {
    epochs.push_back(epoch_);
  }
  return of(std::move(lineages), std::move(epochs));
}

Origin Origin::with_epoch(uint64_t epoch) const {
  Origin out = *this;
  out.epoch_ = epoch;
  if (ids_ && !ids_->epochs.empty()) out.ids_ = make_recycled<const Ids>(Ids{ids_->lineages, {}});
  return out;
}

Origin Origin::grouped(int64_t n, int64_t groups) const {
  if (!ids_ && !picks_) return Origin(lineage_, stride_ * static_cast<uint64_t>(n), epoch_);
  RowIndices firsts;
  for (int64_t i = 0; i < groups; ++i) firsts.push_back(static_cast<int32_t>(i * n));
  return gather(firsts);
}

void Block::clear() {
  rows = 0;
  columns.clear();
  errors.clear();
  mark.reset();
}

Block Block::slice(int64_t begin, int64_t count) const {
  Block out;
  out.rows = count;
  out.seq = seq;
  out.columns.reserve(columns.size());
  for (const Column& c : columns) out.columns.push_back(c.slice(begin, count));
  out.origin = origin.slice(begin);
  for (const RowError& e : errors) {
    if (e.row >= begin && e.row < begin + count) out.errors.push_back({e.row - begin, e.error});
  }
  if (begin + count == rows) out.mark = mark;
  return out;
}

Block Block::gather(std::span<const int32_t> indices) const {
  Block out = gather_values(indices);
  out.origin = origin.gather(indices);
  return out;
}

Block Block::pick(std::shared_ptr<const RowIndices> indices) const {
  Block out = gather_values(*indices);
  out.origin = origin.pick(std::move(indices));
  return out;
}

Block Block::gather_values(std::span<const int32_t> indices) const {
  Block out;
  out.rows = static_cast<int64_t>(indices.size());
  out.seq = seq;
  out.columns.reserve(columns.size());
  for (const Column& c : columns) out.columns.push_back(c.gather(indices));
  if (!errors.empty()) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (const ErrorPtr* e = error_at(indices[i]))
        out.errors.push_back({static_cast<int64_t>(i), *e});
    }
  }
  return out;
}

void Block::truncate(int64_t count) {
  if (count < rows) *this = slice(0, count);
}

void Block::drop_front(int64_t count) {
  if (count > 0) *this = slice(count, rows - count);
}

const ErrorPtr* Block::error_at(int64_t row) const {
  const auto it = std::ranges::lower_bound(errors, row, {}, &RowError::row);
  return it != errors.end() && it->row == row ? &it->error : nullptr;
}

int64_t Block::payload_bytes() const {
  int64_t bytes = 0;
  for (const Column& c : columns) bytes += c.payload_bytes();
  return bytes;
}

Block error_block(ErrorPtr error, size_t columns, const Origin& origin) {
  Block out;
  out.rows = 1;
  out.origin = origin;
  for (size_t i = 0; i < columns; ++i)
    out.columns.push_back(Column::object(std::make_shared<NoObjects>(1)));
  out.errors.push_back({0, std::move(error)});
  return out;
}

void BlockBuilder::materialise() {
  if (!has_single_) return;
  has_single_ = false;
  for (int64_t i = 0; i < rows_; ++i) {
    lineages_.push_back(single_.lineage(i));
    epochs_.push_back(single_.epoch(i));
  }
}

void BlockBuilder::append(const Block& block) {
  if (block.rows == 0) return;
  if (rows_ == 0) {
    single_ = block.origin;
    has_single_ = true;
  } else {
    materialise();
    for (int64_t i = 0; i < block.rows; ++i) {
      lineages_.push_back(block.origin.lineage(i));
      epochs_.push_back(block.origin.epoch(i));
    }
  }
  for (size_t c = 0; c < columns_.size(); ++c) columns_[c].append(block.columns[c]);
  for (const RowError& e : block.errors) errors_.push_back({rows_ + e.row, e.error});
  rows_ += block.rows;
}

void BlockBuilder::append_row(const Block& block, int64_t row) { append(block.slice(row, 1)); }

Block BlockBuilder::finish() {
  Block out;
  out.rows = rows_;
  for (ColumnBuilder& c : columns_) out.columns.push_back(c.take(rows_));
  out.origin = has_single_ ? single_ : Origin::of(std::move(lineages_), std::move(epochs_));
  out.errors = std::move(errors_);
  lineages_.clear();
  epochs_.clear();
  errors_.clear();
  has_single_ = false;
  rows_ = 0;
  return out;
}

}  // namespace penstock
