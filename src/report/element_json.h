// Elements and specs as JSON, for programs: the encoding of docs/format/elements.md.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/block.h"
#include "data/spec.h"

namespace penstock {

using Json = nlohmann::ordered_json;

// Returns a string if the bytes are UTF-8 text, else {"b64": ...}.
Json string_to_json(std::string_view value);
Json tensor_to_json(const Tensor& tensor);
// Converts one element from its leaves, starting at leaves[*next]. `show_object` renders nested
// datasets; without it they are empty.
using ShowObject = std::function<Json(const Object&)>;
Json element_to_json(const Spec& spec, const std::vector<Tensor>& leaves, size_t* next,
                     const ShowObject& show_object = {});
// Returns one entry for each leaf, in the order of sorted dict keys.
Json spec_to_json(const Spec& spec);
Json error_to_json(const Error& error);

}  // namespace penstock
