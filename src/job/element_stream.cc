#include "job/element_stream.h"

#include <utility>

#include "runtime/checkpoint.h"

namespace penstock {

ElementStream::ElementStream(const PlanPtr& plan, const RunOptions& options,
                             std::shared_ptr<PipelineState> state, std::vector<Tensor> environment)
    : plan_(plan), options_(options), state_(std::move(state)) {
  iterator_.emplace(plan_, options_, state_, std::move(environment));
}

bool ElementStream::next(int64_t most, std::vector<Tensor>* element, ErrorPtr* error) {
  if (row_ == block_.rows) {
    row_ = 0;
    block_.clear();
    before_ = iterator_->position();
    if (!iterator_->next(&block_, most)) return false;
  }
  element->clear();
  const ErrorPtr* e = block_.error_at(row_);
  *error = e ? *e : nullptr;
  if (!e) {
    for (const Column& c : block_.columns) element->push_back(c.row(row_));
  }
  ++row_;
  return true;
}

void ElementStream::restart() {
  const std::string place =
      write_position(row_ == block_.rows ? iterator_->position()
                                         : StreamPosition{before_.mark, before_.rows + row_});
  const uint64_t number = iterator_->number();
  block_.clear();
  row_ = 0;
  iterator_.reset();
  iterator_.emplace(plan_, options_, state_, std::vector<Tensor>(),
                    ResumePoint{number, read_position(place)});
}

ElementsByIndex::ElementsByIndex(const PlanPtr& plan, const RunOptions& options,
                                 RunObserver* observer)
    : plan_(plan), options_(options), observer_(observer) {
  if (!not_indexable(*plan)) access_.emplace(plan, options);
}

std::vector<Tensor> ElementsByIndex::get(int64_t index) {
  check_index(*plan_, index);
  std::vector<Tensor> element;
  // If the number of rows differs from the promised one, running up to the index shows where.
  if (access_ && access_->rows() == plan_->cardinality) {
    const Block row = access_->at({&index, 1});
    if (const ErrorPtr* e = row.error_at(0)) throw Error(**e);
    for (const Column& c : row.columns) element.push_back(c.row(0));
    return element;
  }
  ElementStream elements(plan_, options_, std::make_shared<PipelineState>());
  const Observed observed(observer_, &elements.iterator());
  ErrorPtr error, first;  // the first one: reason why there may be fewer elements than expected
  for (int64_t i = 0; i <= index; ++i) {
    if (!elements.next(index + 1 - i, &element, &error)) {
      if (first) throw Error(*first);
      check_index(index, i);
    }
    if (error && !first) first = error;
  }
  if (error) throw Error(*error);
  for (Tensor& t : element) t = t.copy();  // outlives the run
  return element;
}

}  // namespace penstock
