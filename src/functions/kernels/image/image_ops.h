// What the image ops share: which tensors are images, and the parts of the family.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "functions/kernels/image/jpeg.h"
#include "functions/op.h"

namespace penstock {

// An image [height, width, channels], or `count` of one size in a tensor of rank 4.
struct Images {
  int64_t count = 1;
  ImageSize size;
  bool batch = false;

  // The tensor's shape when each image has this height and width.
  Dims dims(int64_t height, int64_t width) const;
};

// Throws Error when the rank is neither 3 nor 4.
Images images_in(std::string_view op, const Tensor& tensor);
// The type of input i when it may be an image, or several; throws TypeError.
const LeafSpec& infer_image(const InferContext& context, int i);
// Another height and width (-1: unknown) for images of this shape.
Shape with_image_size(const Shape& shape, int64_t height, int64_t width);

// Throws TypeError unless input i may be `count` integers; `names` says what they are.
void check_integers(const InferContext& context, int i, int64_t count, std::string_view names);
// Entries of an input that check_integers passed; throws Error when their number differs.
void read_integers(std::string_view op, const Tensor& tensor, std::span<int64_t> out);

// "224x160".
std::string side_text(int64_t height, int64_t width);
// Refuses sides below 1 or too long for the kernels.
void check_output_size(std::string_view op, int64_t height, int64_t width);

// convert_image_dtype's rule for `count` entries of number dtypes: integers span [0, 1] of floats.
void convert_image_entries(DType from_dtype, const std::byte* from, int64_t count, DType to_dtype,
                           std::byte* to);
// Any number dtype, entry by entry.
Tensor to_float32(const Tensor& tensor);

// Throws TypeError unless input i may be one number.
void check_number(const InferContext& context, int i);
// Throws TypeError unless input i may be the bytes of one file.
void check_contents(const InferContext& context, int i);
// The type of input 0, an image, as the output's.
Spec infer_same_image(const InferContext& context);
// The draws of a random op for this row.
RandomStream row_stream(const RowCall& call);

// An op of the group "image" whose rows are large and may fail (a rank known only at run time).
OpDef image_op(std::string name, std::vector<Param> params, std::string doc,
               Spec (*infer)(const InferContext&), RowKernel row, double cost_ns);
// The same, random: with the option `seed`.
OpDef random_image_op(std::string name, std::vector<Param> params, std::string doc,
                      Spec (*infer)(const InferContext&), RowKernel row, double cost_ns);
// max_pixels, an option of every decoding op.
Param max_pixels_option();

void add_jpeg_ops(OpRegistry* registry);
void add_decode_ops(OpRegistry* registry);
void add_decode_crop_resize_op(OpRegistry* registry);
void add_image_shape_ops(OpRegistry* registry);
void add_encode_ops(OpRegistry* registry);
void add_crop_ops(OpRegistry* registry);
void add_resize_ops(OpRegistry* registry);
void add_pillow_resize_op(OpRegistry* registry);
void add_image_normalize_op(OpRegistry* registry);
void add_convert_image_op(OpRegistry* registry);
void add_place_ops(OpRegistry* registry);
void add_rot90_op(OpRegistry* registry);
void add_crop_and_resize_op(OpRegistry* registry);
void add_patches_op(OpRegistry* registry);
void add_color_space_ops(OpRegistry* registry);
void add_adjust_ops(OpRegistry* registry);
void add_standardize_ops(OpRegistry* registry);
void add_affine_ops(OpRegistry* registry);
void add_tone_ops(OpRegistry* registry);
void add_blur_ops(OpRegistry* registry);
void add_erase_ops(OpRegistry* registry);
void add_random_resized_crop_ops(OpRegistry* registry);
void add_box_ops(OpRegistry* registry);
void add_match_anchors_op(OpRegistry* registry);
void add_box_motion_ops(OpRegistry* registry);
void add_draw_boxes_op(OpRegistry* registry);
void add_random_image_ops(OpRegistry* registry);

}  // namespace penstock
