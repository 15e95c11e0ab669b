#include "datasets/pending_rows.h"

#include <algorithm>
#include <exception>

#include "datasets/stacking.h"

namespace penstock {

PendingRows::PendingRows(std::vector<LeafSpec> leaves)
    : leaves_(std::move(leaves)), shapes_(leaves_), columns_(leaves_.size()) {}

void PendingRows::add(const Block& in, int64_t n) {
  if (in.errors.empty()) return add_good(in, n);
  int64_t from = 0;
  for (const RowError& e : in.errors) {
    if (e.row > from) add_good(in.slice(from, e.row - from), n);
    errors_.push_back({settled(), e.error, in.origin.slice(e.row)});
    from = e.row + 1;
  }
  if (from < in.rows) add_good(in.slice(from, in.rows - from), n);
}

void PendingRows::add_good(const Block& rows, int64_t n) {
  if (!shapes_.may_differ()) return append(rows);
  for (int64_t at = 0; at < rows.rows;) {
    if (vote_.empty()) {
      if (rows_ % n == 0) current_ = shapes_.of(rows, at);
      const int64_t run = shapes_.run(rows, at, current_);
      if (run > 0) append(run == rows.rows ? rows : rows.slice(at, run));
      at += run;
      if (at == rows.rows || rows_ % n == 0) continue;
      vote_.add(current_, rows_ % n);
    }
    append(rows.slice(at, 1));
    vote_.add(shapes_.of(rows, at));
    ++at;
    if (vote_.is_decided(n)) settle();
  }
}

void PendingRows::settle() {
  if (vote_.empty()) return;
  const int64_t rows = vote_.rows();
  current_ = vote_.winner();
  const ShapeVote::Verdict verdict = vote_.decide();
  try {
    const Block candidates = take_back(rows);
    for (const RowError& misfit : verdict.misfits)
      errors_.push_back({rows_, misfit.error, candidates.origin.slice(misfit.row)});
    append(candidates.gather(verdict.kept));
  } catch (const Error&) {  // no memory: some components may have lost their rows
    for (ColumnBuilder& column : columns_) column.clear();
    origins_.clear();
    rows_ = 0;
    for (Failure& f : errors_) f.rows_before = 0;
    throw;
  }
}

void PendingRows::append(const Block& rows) {
  for (size_t c = 0; c < columns_.size(); ++c) columns_[c].append(rows.columns[c]);
  origins_.push_back({rows_, rows.origin});
  rows_ += rows.rows;
}

// The last rows, which are pending no longer.
Block PendingRows::take_back(int64_t rows) {
  const int64_t stay = rows_ - rows;
  Block out;
  out.rows = rows;
  for (ColumnBuilder& column : columns_) {
    const Column before = stay > 0 ? column.take(stay) : Column();
    out.columns.push_back(column.take(rows));
    if (stay > 0) column.append(before);
  }
  RowIds lineages, epochs;
  size_t piece = 0;
  for (int64_t row = stay; row < rows_; ++row) {
    while (piece + 1 < origins_.size() && origins_[piece + 1].first_row <= row) ++piece;
    lineages.push_back(origins_[piece].origin.lineage(row - origins_[piece].first_row));
    epochs.push_back(origins_[piece].origin.epoch(row - origins_[piece].first_row));
  }
  out.origin = Origin::of(std::move(lineages), std::move(epochs));
  while (!origins_.empty() && origins_.back().first_row >= stay) origins_.pop_back();
  rows_ = stay;
  return out;
}

Block PendingRows::take_error() {
  Block out = error_block(errors_.front().error, leaves_.size(), errors_.front().origin);
  errors_.erase(errors_.begin());
  return out;
}

int64_t PendingRows::without_copy(int64_t count, int64_t n) const {
  constexpr int64_t kWorthSplitting = 8 << 10;
  int64_t bytes = 0, piece = count * n;
  for (const ColumnBuilder& column : columns_) {
    const Column& first = column.pieces().front();
    if (first.kind() != Column::Kind::dense || first.rows() >= count * n) continue;
    bytes += count * n * first.row_bytes();
    piece = std::min(piece, first.rows());
  }
  return bytes < kWorthSplitting ? count : std::max<int64_t>(1, piece / n);
}

void PendingRows::take(int64_t count, int64_t n, Block* out) {
  out->clear();
  out->rows = count;
  out->origin = batch_origins(count, n);
  std::exception_ptr failure;
  for (size_t c = 0; c < columns_.size(); ++c) {
    try {
      Column column = columns_[c].take(count * n);
      if (failure) continue;
      out->columns.push_back(stack_rows(column, leaves_[c], count, n, &out->errors));
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  rows_ -= count * n;
  for (Failure& f : errors_) f.rows_before -= count * n;
  if (failure) std::rethrow_exception(failure);
}

// Lineage and epoch of the first row of each batch; forgets the rows.
Origin PendingRows::batch_origins(int64_t count, int64_t n) {
  if (origins_.size() == 1 || (origins_.size() > 1 && origins_[1].first_row >= count * n)) {
    const Origin out = origins_[0].origin.slice(-origins_[0].first_row).grouped(n, count);
    forget(count * n);
    return out;
  }
  RowIds lineages, epochs;
  size_t piece = 0;
  for (int64_t b = 0; b < count; ++b) {
    while (piece + 1 < origins_.size() && origins_[piece + 1].first_row <= b * n) ++piece;
    lineages.push_back(origins_[piece].origin.lineage(b * n - origins_[piece].first_row));
    epochs.push_back(origins_[piece].origin.epoch(b * n - origins_[piece].first_row));
  }
  forget(count * n);
  return Origin::of(std::move(lineages), std::move(epochs));
}

void PendingRows::forget(int64_t rows) {
  while (origins_.size() > 1 && origins_[1].first_row <= rows) origins_.erase(origins_.begin());
  for (Piece& p : origins_) p.first_row -= rows;
  if (rows_ == rows) origins_.clear();
}

}  // namespace penstock
