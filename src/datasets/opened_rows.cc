#include "datasets/opened_rows.h"

#include "base/error.h"

namespace penstock {
namespace {

thread_local const PlanNode* noted_node = nullptr;
thread_local OpenedRows* noted_rows = nullptr;

}  // namespace

ScopedOpenedRows::ScopedOpenedRows(const PlanNode* node, OpenedRows* rows) {
  PENSTOCK_CHECK(!noted_node);
  noted_node = node;
  noted_rows = rows;
}

ScopedOpenedRows::~ScopedOpenedRows() {
  noted_node = nullptr;
  noted_rows = nullptr;
}

OpenedRows* ScopedOpenedRows::of(const PlanNode* node) {
  return node == noted_node ? noted_rows : nullptr;
}

}  // namespace penstock
