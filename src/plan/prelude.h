// Functions of the language that are made of others; rewrites see their parts.
#pragma once

#include <string_view>

namespace penstock {

inline constexpr std::string_view kPrelude = R"pipe(
let random_resized_crop = (image, height, width, scale=[0.08, 1.0], ratio=[0.75, 1.3333333333333333], method="bilinear", antialias=false) ->
  let (begin, extent, _) = sample_distorted_bounding_box(shape(image), zeros([1, 0, 4]), min_object_covered=0.0,
      aspect_ratio_range=ratio, area_range=scale, max_attempts=10, use_image_if_no_bounding_boxes=true);
  resize(crop_to_bounding_box(image, begin[0], begin[1], extent[0], extent[1]), [height, width], method=method, antialias=antialias,
      keep_dtype=true)
)pipe";

}  // namespace penstock
