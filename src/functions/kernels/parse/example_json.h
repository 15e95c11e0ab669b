// tf.train.Example in protobuf's JSON form.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// The serialized Example; throws INVALID_ARGUMENT when the text is no JSON or no Example.
std::string example_from_json(std::string_view json);

}  // namespace penstock
