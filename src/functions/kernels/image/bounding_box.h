// Random windows that cover enough of given boxes: the sampling of TensorFlow's
// sample_distorted_bounding_box, for any source of random words.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace penstock {

struct Window {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
  bool operator==(const Window&) const = default;
};

struct DistortedBox {
  float min_object_covered = 0.1f;
  float aspect_ratio_range[2] = {0.75f, 1.33f};  // width / height; either order
  float area_range[2] = {0.05f, 1.0f};           // of the image's area, in (0, 1]
  int max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
};

// A reference to a callable `uint32_t()` that gives uniform words; it must outlive the call it is
// passed to.
class RandomWords {
 public:
  template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, RandomWords>)
  RandomWords(Callable&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object) -> uint32_t {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))();
        }) {}

  uint32_t operator()() const { return call_(object_); }

 private:
  void* object_;
  uint32_t (*call_)(void*);
};

// `boxes`: rows of [y_min, x_min, y_max, x_max], each in [0, 1]. Gives the whole image when no
// attempt fits. Positions are uniform over all that fit; TensorFlow never gives the last one.
// Draws about four words an attempt. Thread-safe. Errors: INVALID_ARGUMENT for options, boxes or
// sizes out of range, and for no boxes without use_image_if_no_bounding_boxes.
Window sample_distorted_bounding_box(int64_t height, int64_t width, std::span<const float> boxes,
                                     const DistortedBox& options, RandomWords words);

}  // namespace penstock
