// The leaves of the JSON form: tensors, arguments, specs. json_form.h is the way in.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "data/spec.h"
#include "functions/attr.h"

namespace penstock::json_form {

using Out = nlohmann::ordered_json;
using In = nlohmann::json;

inline constexpr int kDeepest = 200;

// A place in the JSON, for messages and for the depth of nesting.
struct Where {
  std::string path;
  int depth = 0;
  Where operator[](std::string_view key) const;
  Where operator[](size_t index) const;
  [[noreturn]] void fail(const std::string& what) const;
};

// Checked access; `null` where a member is missing is an error except in `optional_member`.
const In& member(const In& in, const char* key, const Where& where);
const In* optional_member(const In& in, const char* key);
int64_t integer(const In& in, const Where& where, int64_t least, int64_t most);
const std::string& text(const In& in, const Where& where);
const In& array(const In& in, const Where& where);
const In& object(const In& in, const Where& where);

// Strings and keys: {"b64": ...} where they are not UTF-8.
Out bytes_to_json(std::string_view value);
std::string bytes_from_json(const In& in, const Where& where);
DType dtype_from_json(const In& in, const Where& where);

Out tensor_to_json(const Tensor& tensor);
Tensor tensor_from_json(const In& in, const Where& where);

Out leaf_to_json(const LeafSpec& leaf);
LeafSpec leaf_from_json(const In& in, const Where& where);
Out spec_to_json(const Spec& spec);
Spec spec_from_json(const In& in, const Where& where);

// A capture takes its type from the environment of the pipeline that it stands in.
using EnvironmentTypes = std::vector<LeafSpec>;
Out attr_to_json(const Attr& attr);
Attr attr_from_json(const In& in, const EnvironmentTypes& environment, const Where& where);
// Refuses what the elaborator would never give for the parameter.
void check_attr(const Attr& attr, const Param& param, const Where& where);

}  // namespace penstock::json_form
