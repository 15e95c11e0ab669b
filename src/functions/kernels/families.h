// The built-in ops by family; OpRegistry calls each once.
#pragma once

namespace penstock {

class OpRegistry;

void add_arithmetic_ops(OpRegistry* registry);
void add_comparison_ops(OpRegistry* registry);
void add_cast_ops(OpRegistry* registry);
void add_unary_math_ops(OpRegistry* registry);
void add_reduction_ops(OpRegistry* registry);
void add_scan_ops(OpRegistry* registry);
void add_shape_ops(OpRegistry* registry);
void add_join_ops(OpRegistry* registry);
void add_make_ops(OpRegistry* registry);
void add_pick_ops(OpRegistry* registry);
void add_subscript_ops(OpRegistry* registry);
void add_assert_ops(OpRegistry* registry);
void add_random_ops(OpRegistry* registry);
void add_string_ops(OpRegistry* registry);
void add_number_text_ops(OpRegistry* registry);
void add_split_ops(OpRegistry* registry);
void add_parse_ops(OpRegistry* registry);
void add_image_ops(OpRegistry* registry);
void add_audio_ops(OpRegistry* registry);

}  // namespace penstock
