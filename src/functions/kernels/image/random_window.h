// Random windows of a share of an image's area: the rule of torchvision's RandomResizedCrop.
#pragma once

#include "base/random.h"
#include "functions/attr.h"
#include "functions/kernels/image/bounding_box.h"

namespace penstock {

struct NumberPair {
  double low = 0, high = 0;
};

// A list of two numbers as a default, and read back: both positive and finite, in this order.
// Throws TypeError.
Attr number_pair(double low, double high);
NumberPair read_number_pair(const Attrs& attrs, const char* name);

// Ten times: a share of the area, uniform, and width / height, uniform in its logarithm; the first
// that fits, at a uniform place. Height 0 when none does.
Window draw_window(int64_t height, int64_t width, NumberPair scale, NumberPair ratio,
                   RandomStream* stream);
// The largest central window whose shape is within `ratio`.
Window central_window(int64_t height, int64_t width, NumberPair ratio);

}  // namespace penstock
