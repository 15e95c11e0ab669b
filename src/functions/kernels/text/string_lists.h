// Ops that make a list of each string: [?] of one string, a ragged tensor of a tensor of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/op.h"

namespace penstock {

// The lists so far, side by side: an op fills those that its outputs need, in step.
struct ListParts {
  ChargedVector<BytesView> strings;  // of bytes outputs
  ChargedVector<int32_t> codes;      // int32
  ChargedVector<int64_t> offsets;    // int64
};

// What the op does to one string; made once at open, shared by threads. Throws Error.
class StringLists {
 public:
  virtual ~StringLists() = default;
  virtual void append(std::string_view text, ListParts* out) const = 0;
  // What strings that are no part of the text point into; null when there are none.
  virtual const BufferRef* kept() const { return nullptr; }
};

// The output leaf for an input: throws TypeError unless it is bytes.
LeafSpec infer_lists(const InferContext& context, DType dtype);
void string_lists_row(const RowCall& call);
bool string_lists_block(const BlockCall& call);

OpDef string_lists_op(std::string name, std::string doc, std::vector<Param> params,
                      std::vector<DType> outputs,
                      std::shared_ptr<const StringLists> (*make)(const Attrs&));

}  // namespace penstock
