// Axes, sizes and shapes as arguments, at build and at run time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/op.h"

namespace penstock {

[[noreturn]] void fail_row(std::string_view op, const std::string& what);

// The shape that integer input i describes: exact where it is a constant (negative sizes are
// unknown ones), of its length where only that is known, else of unknown rank. Throws TypeError
// when the input can be no shape.
Shape shape_from_input(const InferContext& context, int i);
// The sizes in a row's shape tensor; -1 passes only with `allow_unknown`.
Dims read_dims(std::string_view op, const Tensor& tensor, bool allow_unknown = false);
// Entries of an integer tensor.
ChargedVector<int64_t> read_ints(const Tensor& tensor);

// Throws TypeError unless input i holds integers (of rank `rank` unless -1).
const LeafSpec& infer_integers(const InferContext& context, int i, int rank);

// An integer, or a list of them, as a list.
std::vector<int64_t> attr_ints(const Attr& attr);
// The same at build: throws TypeError.
std::vector<int64_t> infer_ints(const InferContext& context, std::string_view attr);
// An axis counted from the front: throws TypeError naming attribute `attr`.
int infer_axis(const InferContext& context, std::string_view attr, int64_t axis, int rank);
// The same for a row.
int row_axis(std::string_view op, int64_t axis, int rank);

// String entries copied from `from` stay alive with the slot's tensor.
void share_strings(OutputSlot* slot, const Tensor& from);
void share_strings(BufferRef* keeper, const BufferRef& from, DType dtype);

// `n` copies of one entry.
void fill_entries(std::byte* out, const std::byte* value, int64_t entry_bytes, int64_t n);

// Refuses results whose byte count would overflow or be absurd.
void check_size(std::string_view op, const Dims& dims, DType dtype);

}  // namespace penstock
