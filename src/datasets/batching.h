// What batch and its kin share: consecutive elements gathered into batches of a fixed size.
#pragma once

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

// Batches of `size` rows of `input`, whose elements have the leaves given. An error takes no slot:
// it leaves before the batch that is being filled, which goes on with the next element.
CursorPtr open_batching(CursorPtr input, int64_t size, bool drop_remainder,
                        std::vector<LeafSpec> leaves);

// The leaf of a batch of `rows` (-1: any number) of that leaf. Fails for optional values.
LeafSpec batched_leaf(const LeafSpec& leaf, int64_t rows);
// How many batches of `size` (-1: not known yet) the input makes.
int64_t batch_count(int64_t cardinality, int64_t size, bool drop_remainder);
// An argument that must be positive when it is opened; throws INVALID_ARGUMENT.
int64_t open_positive(const OpenContext& context, const PlanNode& node, std::string_view param);
// The argument batch_size when it is opened; throws INVALID_ARGUMENT.
int64_t open_batch_size(const OpenContext& context, const PlanNode& node);
// The argument batch_size in infer, -1 where it is captured.
int64_t known_batch_size(const NodeDraft& draft);

}  // namespace penstock
