// Which rows of which inner dataset a flat_map or interleave gives: noted for the dealing to other
// ranks (datasets/descent.h).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "datasets/inner_rest.h"
#include "plan/node.h"

namespace penstock {

struct OpenedRows {
  struct Input {
    int64_t arrived = 0;   // its number, from where the stage's mark takes up the inputs
    StreamPosition start;  // where its dataset was opened
    bool ended = false;    // all of it has been given
  };
  struct Row {
    uint64_t input = 0;
    int64_t row = 0;  // of the dataset, from its start on; -1: it could not be opened
  };
  std::map<uint64_t, Input> inputs;  // by inner_key, those opened
  std::vector<Row> rows;             // given, in order
  InnerRests rests;                  // in the mark
  int64_t used = 0;                  // inputs
};

// Cursors of `node` that are opened in this thread while this lives note what they give. `rows`
// lives as long as they do.
class ScopedOpenedRows {
 public:
  ScopedOpenedRows(const PlanNode* node, OpenedRows* rows);
  ~ScopedOpenedRows();
  ScopedOpenedRows(const ScopedOpenedRows&) = delete;
  ScopedOpenedRows& operator=(const ScopedOpenedRows&) = delete;

  // Where the node notes it; null almost always.
  static OpenedRows* of(const PlanNode* node);
};

}  // namespace penstock
