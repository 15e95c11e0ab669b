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
void add_concat_ops(OpRegistry* registry);
void add_split_tensor_ops(OpRegistry* registry);
void add_repeat_ops(OpRegistry* registry);
void add_pad_op(OpRegistry* registry);
void add_one_hot_ops(OpRegistry* registry);
void add_depth_ops(OpRegistry* registry);
void add_bits_cast_ops(OpRegistry* registry);
void add_unique_ops(OpRegistry* registry);
void add_index_ops(OpRegistry* registry);
void add_segment_ops(OpRegistry* registry);
void add_product_ops(OpRegistry* registry);
void add_sort_ops(OpRegistry* registry);
void add_search_ops(OpRegistry* registry);
void add_softmax_ops(OpRegistry* registry);
void add_spread_reduction_ops(OpRegistry* registry);
void add_float_test_ops(OpRegistry* registry);
void add_bit_ops(OpRegistry* registry);
void add_division_ops(OpRegistry* registry);
void add_make_ops(OpRegistry* registry);
void add_load_array_op(OpRegistry* registry);
void add_pick_ops(OpRegistry* registry);
void add_subscript_ops(OpRegistry* registry);
void add_assert_ops(OpRegistry* registry);
void add_control_ops(OpRegistry* registry);
void add_philox_ops(OpRegistry* registry);
void add_random_ops(OpRegistry* registry);
void add_shuffle_op(OpRegistry* registry);
void add_text_ops(OpRegistry* registry);
void add_parse_ops(OpRegistry* registry);
void add_ragged_ops(OpRegistry* registry);
void add_optional_ops(OpRegistry* registry);
void add_image_ops(OpRegistry* registry);
void add_audio_ops(OpRegistry* registry);

}  // namespace penstock
