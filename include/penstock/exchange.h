// Arrays of other libraries, and arrays for them in the two forms that they agree on: DLPack
// (NumPy, PyTorch, JAX) and the Arrow C data interface (pyarrow, DuckDB, Polars).
//
// Numbers are shared, not copied: the result keeps the array's bytes alive until it is released,
// and nobody may write to them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "penstock/tensor.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif

namespace penstock {

// DLTensor and DLManagedTensor of dlpack.h (version 0.8), member for member.
struct DlTensor {
  void* data;
  int32_t device_type;  // 1: main memory
  int32_t device_id;
  int32_t ndim;
  uint8_t dtype_code;  // 0: int, 1: uint, 2: float, 4: bfloat, 6: bool
  uint8_t dtype_bits;
  uint16_t dtype_lanes;
  int64_t* shape;
  int64_t* strides;  // null: row-major
  uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DlManagedTensor* self);
};

// Returns the array as DLPack; the caller, or whom it is handed to, calls `deleter` once. Throws
// INVALID_ARGUMENT for strings.
DlManagedTensor* to_dlpack(const Array& array);

// Fills both with the array, items along axis 0; further axes are nested fixed-size lists. The
// caller calls both `release`s. Strings (as large_binary) and booleans (as bits) are copied. Throws
// INVALID_ARGUMENT for bfloat16, which Arrow lacks, and for a scalar.
void to_arrow(const Array& array, ArrowSchema* schema, ArrowArray* out);

// Returns an array of the numbers at `data`, in row-major order and aligned to their size. They
// must stay as they are until `release` is called: once, by any thread, when the last copy of the
// array and of what is made of it is gone. It is called at once if this throws. Throws
// INVALID_ARGUMENT for strings, sizes below 0, more than 8 axes, and data that is not aligned.
Array from_memory(Type type, std::span<const int64_t> shape, const void* data,
                  std::function<void()> release);

}  // namespace penstock
