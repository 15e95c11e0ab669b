#include "datasets/runs.h"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

// Rows of `c` can be copied as bytes into a dense column like `like`.
bool flat(const Column& c) {
  return c.kind() == Column::Kind::dense || c.kind() == Column::Kind::constant;
}

// Often one string or one number.
void copy_rows(std::byte* to, const std::byte* from, size_t bytes) {
  switch (bytes) {
    case 0: return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    default: std::memcpy(to, from, bytes);
  }
}

bool all_errors(const Block& block) {
  return static_cast<int64_t>(block.errors.size()) == block.rows;
}

}  // namespace

void RunJoiner::add(const Source& source, int64_t begin, int64_t rows, bool again) {
  if (rows == 0) return;
  rows_ += rows;
  if (!runs_.empty() && runs_.back().block == source.get() &&
      runs_.back().begin + runs_.back().rows == begin) {
    runs_.back().rows += rows;
    return;
  }
  runs_.push_back({source.get(), begin, rows});
  if (!again && std::ranges::find(sources_, source) == sources_.end()) sources_.push_back(source);
}

Block RunJoiner::finish(size_t columns) {
  Block out;
  if (runs_.size() == 1) {
    const Run& run = runs_[0];
    out = run.begin == 0 && run.rows == run.block->rows ? *run.block
                                                        : run.block->slice(run.begin, run.rows);
  } else {
    out.rows = rows_;
    for (size_t c = 0; c < columns; ++c) out.columns.push_back(join(c));
    RowIds lineages, epochs;
    lineages.reserve(static_cast<size_t>(rows_));
    epochs.reserve(static_cast<size_t>(rows_));
    for (const Run& run : runs_) {
      for (const RowError& e : run.block->errors) {
        if (e.row < run.begin || e.row >= run.begin + run.rows) continue;
        out.errors.push_back({static_cast<int64_t>(lineages.size()) + e.row - run.begin, e.error});
      }
      for (int64_t i = run.begin; i < run.begin + run.rows; ++i) {
        lineages.push_back(run.block->origin.lineage(i));
        epochs.push_back(run.block->origin.epoch(i));
      }
    }
    out.origin = Origin::of(std::move(lineages), std::move(epochs));
  }
  runs_.clear();
  sources_.clear();
  rows_ = 0;
  return out;
}

Column RunJoiner::join(size_t column) const {
  const Column* like = nullptr;  // blocks of nothing but errors have no values to agree with
  bool uniform = true;
  for (const Source& s : sources_) {
    if (all_errors(*s)) continue;
    const Column& c = s->columns[column];
    if (!like) like = &c;
    uniform &= flat(c) && c.row_dims() == like->row_dims() && c.dtype() == like->dtype();
  }
  if (!like || !uniform) {
    ColumnBuilder pieces;
    for (const Run& run : runs_)
      pieces.append(run.block->columns[column].slice(run.begin, run.rows));
    return pieces.take(rows_);
  }
  Column out = Column::dense(like->dtype(), like->row_dims(), rows_);
  if (like->dtype() == DType::bytes) {
    for (const Source& s : sources_) out.mutable_buffer().keep(s->columns[column].buffer());
  }
  const auto bytes = static_cast<size_t>(out.row_bytes());
  std::byte* to = out.mutable_data();
  for (const Run& run : runs_) {
    const Column& c = run.block->columns[column];
    const auto n = static_cast<size_t>(run.rows);
    if (all_errors(*run.block)) {
      std::memset(to, 0, n * bytes);
    } else if (c.kind() == Column::Kind::dense) {
      copy_rows(to, c.row_data(run.begin), n * bytes);
    } else {
      for (size_t i = 0; i < n && bytes > 0; ++i) std::memcpy(to + i * bytes, c.data(), bytes);
    }
    to += n * bytes;
  }
  return out;
}

}  // namespace penstock
