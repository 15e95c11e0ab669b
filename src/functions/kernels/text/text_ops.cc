#include "functions/kernels/text/text_ops.h"

#include "functions/kernels/families.h"

namespace penstock {

void add_text_ops(OpRegistry* registry) {
  add_string_ops(registry);
  add_substr_op(registry);
  add_join_text_ops(registry);
  add_case_ops(registry);
  add_normalize_op(registry);
  add_as_string_op(registry);
  add_to_number_op(registry);
  add_format_op(registry);
  add_split_ops(registry);
  add_regex_ops(registry);
  add_unicode_ops(registry);
  add_unicode_encode_op(registry);
  add_hash_ops(registry);
  add_ngrams_op(registry);
  add_lookup_ops(registry);
  add_tokenize_ops(registry);
}

}  // namespace penstock
