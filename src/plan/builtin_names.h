// Names that calls go by, besides those of the registries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct OperatorDef;
struct Param;

// The op behind a plain name: `sum` is reduce_sum.
std::string plain_op_name(const std::string& name);
// What a parameter is called in text: `weights` for `weights_dataset`, which takes a dataset where
// `weights` takes a tensor.
std::string spelled_name(const OperatorDef& op, const Param& param);
// Returns true for calls that exist only while a plan is built (elaborate_special.cc).
bool is_special_form(std::string_view name);
// Returns true for these, for static forms, and for names that stand for several ops.
bool is_special_call(const std::string& name);
// "there is no stage `mpa` (did you mean map?)": what fits a dataset on the left comes first.
// `names` are further ones that may be meant.
std::string no_such_call(const std::string& name, bool on_dataset,
                         const std::vector<std::string>& names);
// Returns "`True` is not defined; write `true`": why a name means nothing, and what may be meant.
std::string undefined_name(const std::string& name, const std::vector<std::string>& names);
// Returns true for names of stages, ops, dtypes and what is_special_call() knows.
bool is_call(const std::string& name);
// Returns what to write for the member of a module or an object, `lower` for tf.strings.lower and
// x.lower; "" if nothing is known.
std::string member_call(const std::string& name);

}  // namespace penstock
