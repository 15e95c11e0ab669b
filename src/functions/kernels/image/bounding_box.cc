#include "functions/kernels/image/bounding_box.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "base/error.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Code::invalid_argument, "sample_distorted_bounding_box: " + what);
}

void check(int64_t height, int64_t width, std::span<const float> boxes,
           const DistortedBox& options) {
  // Written so that NaN fails too.
  const auto pair = [](const float(&range)[2]) {
    return std::to_string(range[0]) + ", " + std::to_string(range[1]);
  };
  const auto& aspect = options.aspect_ratio_range;
  const auto& area = options.area_range;
  if (height < 0 || width < 0 || height >= INT32_MAX || width >= INT32_MAX) {
    refuse("image size out of range: " + std::to_string(height) + "x" + std::to_string(width));
  }
  if (!(options.min_object_covered >= 0)) {
    refuse("min_object_covered must not be negative: " +
           std::to_string(options.min_object_covered));
  }
  const bool finite = std::isfinite(aspect[0]) && std::isfinite(aspect[1]);
  if (!(aspect[0] > 0 && aspect[1] > 0) || !finite) {
    refuse("aspect_ratio_range must be positive: " + pair(aspect));
  }
  if (!(area[0] > 0 && area[1] > 0 && area[0] <= 1 && area[1] <= 1)) {
    refuse("area_range must be in (0, 1]: " + pair(area));
  }
  if (options.max_attempts <= 0) {
    refuse("max_attempts must be positive: " + std::to_string(options.max_attempts));
  }
  if (boxes.size() % 4 != 0) {
    refuse("boxes must have 4 coordinates each: " + std::to_string(boxes.size()) + " values");
  }
  if (boxes.empty() && !options.use_image_if_no_bounding_boxes) {
    refuse("no bounding boxes given: use_image_if_no_bounding_boxes is false");
  }
  for (const float value : boxes) {
    if (!(value >= 0 && value <= 1)) {
      refuse("box coordinates must be in [0, 1]: " + std::to_string(value));
    }
  }
}

// Uniform in [0, 1) on a grid of 2^-23, as TensorFlow draws.
float uniform_float(RandomWords words) {
  return static_cast<float>(words() & 0x7fffffu) * 0x1p-23f;
}

// Uniform in [0, count), without bias; `count` > 0.
int64_t uniform_below(int64_t count, RandomWords words) {
  const auto n = static_cast<uint32_t>(count);
  for (;;) {
    const uint64_t product = uint64_t{words()} * n;
    if (static_cast<uint32_t>(product) >= (0u - n) % n) return static_cast<int64_t>(product >> 32);
  }
}

int64_t rounded(float value) { return std::lrintf(value); }
int64_t width_at(int64_t height, float aspect) {
  return rounded(static_cast<float>(height) * aspect);
}

// The largest height whose rounded width stays inside.
int64_t tallest(int64_t max_height, int64_t height, int64_t width, float aspect) {
  if (width_at(max_height, aspect) > width) {
    constexpr double tiny = 1e-7;
    max_height = static_cast<int64_t>((static_cast<double>(width) + 0.5 - tiny) /
                                      static_cast<double>(aspect));
    if (width_at(max_height, aspect) > width) --max_height;
  }
  return std::min(max_height, height);
}

std::optional<Window> random_window(int64_t height, int64_t width, const DistortedBox& options,
                                    float aspect, RandomWords words) {
  if (height <= 0 || width <= 0 || options.area_range[0] > options.area_range[1]) return {};
  const float rows = static_cast<float>(height), columns = static_cast<float>(width);
  const float min_area = options.area_range[0] * columns * rows;
  const float max_area = options.area_range[1] * columns * rows;
  const int64_t most = tallest(rounded(std::sqrt(max_area / aspect)), height, width, aspect);
  Window window;
  window.height = std::min(rounded(std::sqrt(min_area / aspect)), most);
  if (window.height < most) {
    window.height += uniform_below(most - window.height + 1, words);
  }
  // Rounding may have left the area just outside its range.
  float area = 0;
  const auto fit = [&](int64_t by) {
    window.height += by;
    window.width = width_at(window.height, aspect);
    area = static_cast<float>(window.width * window.height);
  };
  fit(0);
  if (area < min_area) fit(1);
  if (area > max_area) fit(-1);
  const bool good = area >= min_area && area <= max_area && window.width > 0 && window.height > 0 &&
                    window.width <= width && window.height <= height;
  if (!good) return {};
  window.y = uniform_below(height - window.height + 1, words);
  window.x = uniform_below(width - window.width + 1, words);
  return window;
}

// Whether `window` holds enough of the box [y0, y1) x [x0, x1); boxes below one pixel never count.
bool covers(const Window& window, int64_t y0, int64_t x0, int64_t y1, int64_t x1,
            float min_covered) {
  const float box = static_cast<float>((y1 - y0) * (x1 - x0));
  if (box < 1) return false;
  const int64_t rows = std::min(window.y + window.height, y1) - std::max(window.y, y0);
  const int64_t columns = std::min(window.x + window.width, x1) - std::max(window.x, x0);
  const float shared = rows < 0 || columns < 0 ? 0.0f : static_cast<float>(rows * columns);
  return shared / box >= min_covered;
}

bool covers_any(const Window& window, int64_t height, int64_t width, std::span<const float> boxes,
                float min_covered) {
  if (boxes.empty()) return covers(window, 0, 0, height, width, min_covered);
  const auto pixel = [](float place, int64_t side) {
    return static_cast<int64_t>(place * static_cast<float>(side));
  };
  for (size_t i = 0; i + 4 <= boxes.size(); i += 4) {
    if (covers(window, pixel(boxes[i], height), pixel(boxes[i + 1], width),
               pixel(boxes[i + 2], height), pixel(boxes[i + 3], width), min_covered)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Window sample_distorted_bounding_box(int64_t height, int64_t width, std::span<const float> boxes,
                                     const DistortedBox& options, RandomWords words) {
  check(height, width, boxes, options);
  const auto& range = options.aspect_ratio_range;
  for (int attempt = 0; attempt < options.max_attempts; ++attempt) {
    const float aspect = uniform_float(words) * (range[1] - range[0]) + range[0];
    const auto window = random_window(height, width, options, aspect, words);
    if (window && covers_any(*window, height, width, boxes, options.min_object_covered)) {
      return *window;
    }
  }
  return {0, 0, height, width};
}

}  // namespace penstock
