// TensorFlow's TensorProto, as bytes.
#pragma once

#include <string>
#include <string_view>

#include "data/charged.h"
#include "data/tensor.h"

namespace penstock {

ChargedString write_tensor_proto(const Tensor& tensor);
// Throws INVALID_ARGUMENT when the bytes are no TensorProto or hold another dtype. Strings point
// into `bytes`. Missing values repeat the last one; without any they are zero.
Tensor read_tensor_proto(std::string_view bytes, DType dtype);

}  // namespace penstock
