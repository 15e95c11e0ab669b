// The text ops by file; add_text_ops calls each once.
#pragma once

namespace penstock {

class OpRegistry;

void add_string_ops(OpRegistry* registry);
void add_substr_op(OpRegistry* registry);
void add_join_text_ops(OpRegistry* registry);
void add_case_ops(OpRegistry* registry);
void add_normalize_op(OpRegistry* registry);
void add_as_string_op(OpRegistry* registry);
void add_to_number_op(OpRegistry* registry);
void add_format_op(OpRegistry* registry);
void add_split_ops(OpRegistry* registry);
void add_regex_ops(OpRegistry* registry);
void add_unicode_ops(OpRegistry* registry);
void add_unicode_encode_op(OpRegistry* registry);
void add_hash_ops(OpRegistry* registry);
void add_ngrams_op(OpRegistry* registry);
void add_lookup_ops(OpRegistry* registry);
void add_tokenize_ops(OpRegistry* registry);

}  // namespace penstock
