// Names that calls go by, besides those of the registries.
#pragma once

#include <string>
#include <vector>

namespace penstock {

// The op behind a plain name: `sum` is reduce_sum.
std::string plain_op_name(const std::string& name);
// What exists only while a plan is built, and `split`, which goes by what it splits.
bool is_special_call(const std::string& name);
// "there is no stage `mpa` (did you mean map?)": what fits a dataset on the left comes first.
// `names` are further ones that may be meant.
std::string no_such_call(const std::string& name, bool on_dataset,
                         const std::vector<std::string>& names);

}  // namespace penstock
