// Fields of a JSON object as tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "functions/attr.h"

namespace penstock {

struct JsonField {
  std::string key;  // bounded: written in the pipeline; in the output; where it begins with /, a
                    // JSON pointer
  DType dtype = DType::bytes;
  bool sequence = false;  // [?, ...dims]: an array of any length
  Dims dims;
  bool has_fallback = false;
  Tensor fallback;
};

// The fields in their order; throws TypeError (attribute "fields").
std::vector<JsonField> read_json_fields(const Attr& fields);

// One tensor for each field. Throws INVALID_ARGUMENT when the text is no JSON object or a field is
// missing (or null) without a default, of another type, or of another shape.
std::vector<Tensor> parse_json_fields(std::string_view text, const std::vector<JsonField>& fields);

}  // namespace penstock
