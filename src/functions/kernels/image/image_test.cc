#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include "base/error.h"
#include "data/tensor.h"
#include "functions/error_of.h"
#include "functions/kernels/image/bounding_box.h"
#include "functions/kernels/image/pixels.h"
#include "functions/kernels/image/resize.h"

namespace penstock {
namespace {

using Random = std::minstd_rand;

// Runs `check` once for each instruction set of this machine.
void on_each_target(const std::function<void()>& check) {
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().DeInit();
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

template <class T>
std::vector<T> noise(ImageSize size, uint32_t seed) {
  Random random(seed + 1);
  std::vector<T> pixels(static_cast<size_t>(size.elements()));
  for (T& value : pixels) {
    const float unit = sizeof(T) == 1 ? 100.0f : 77.0f;
    value = static_cast<T>(static_cast<float>(random() % 25500) / unit);
  }
  return pixels;
}

// TensorFlow's ResizeBilinear, value by value.
template <class T>
std::vector<float> plain_bilinear(const std::vector<T>& src, ImageSize size, int64_t height,
                                  int64_t width) {
  std::vector<float> out;
  const float y_scale = static_cast<float>(size.height) / static_cast<float>(height);
  const float x_scale = static_cast<float>(size.width) / static_cast<float>(width);
  for (int64_t i = 0; i < height * width * size.channels; ++i) {
    const int64_t c = i % size.channels, x = i / size.channels % width;
    const int64_t y = i / size.channels / width;
    const float y_at = (static_cast<float>(y) + 0.5f) * y_scale - 0.5f;
    const float x_at = (static_cast<float>(x) + 0.5f) * x_scale - 0.5f;
    const float y_lerp = y_at - std::floor(y_at), x_lerp = x_at - std::floor(x_at);
    const auto at = [&](float row, float column) {
      const int64_t r = std::clamp<int64_t>(static_cast<int64_t>(row), 0, size.height - 1);
      const int64_t l = std::clamp<int64_t>(static_cast<int64_t>(column), 0, size.width - 1);
      return static_cast<float>(src[static_cast<size_t>((r * size.width + l) * size.channels + c)]);
    };
    const auto across = [&](float row) {
      const float left = at(row, std::floor(x_at)), right = at(row, std::ceil(x_at));
      return left + (right - left) * x_lerp;
    };
    const float top = across(std::floor(y_at)), bottom = across(std::ceil(y_at));
    out.push_back(top + (bottom - top) * y_lerp);
  }
  return out;
}

// A triangle filter in double precision, summed in two dimensions at once.
template <class T>
double exact_filtered(const std::vector<T>& src, ImageSize size, int64_t height, int64_t width,
                      int64_t y, int64_t x, int64_t c) {
  const auto weight = [](int64_t in, int64_t out, int64_t i, int64_t source) {
    const double scale = static_cast<double>(in) / static_cast<double>(out);
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const double distance = std::fabs(static_cast<double>(source) + 0.5 - centre);
    return std::max(0.0, 1.0 - distance / std::max(scale, 1.0));
  };
  double sum = 0, total = 0;
  for (int64_t r = 0; r < size.height; ++r) {
    for (int64_t l = 0; l < size.width; ++l) {
      const double w = weight(size.height, height, y, r) * weight(size.width, width, x, l);
      total += w;
      sum += w * static_cast<double>(
                     src[static_cast<size_t>((r * size.width + l) * size.channels + c)]);
    }
  }
  return sum / total;
}

template <class T>
void check_bilinear(ImageSize size, int64_t height, int64_t width) {
  const auto src = noise<T>(size, 5);
  const auto want = plain_bilinear(src, size, height, width);
  std::vector<float> first;
  on_each_target([&] {
    std::vector<float> got(want.size());
    resize_bilinear(src.data(), size, height, width, false, got.data());
    CHECK(got == want);
    resize_bilinear(src.data(), size, height, width, true, got.data());
    if (first.empty()) first = got;
    CHECK(got == first);
  });
  for (int64_t i = 0; i < static_cast<int64_t>(first.size()); i += 13) {
    const int64_t c = i % size.channels, x = i / size.channels % width;
    const double exact = exact_filtered(src, size, height, width, i / size.channels / width, x, c);
    CHECK(first[static_cast<size_t>(i)] == doctest::Approx(exact).epsilon(2e-6));
  }
}

TEST_CASE("bilinear resize: TensorFlow's bits on each instruction set") {
  for (const int64_t channels : {1, 2, 3, 4, 5}) {
    for (const auto& [in, out] : {std::pair<ImageSize, ImageSize>{{17, 13, 0}, {8, 10, 0}},
                                  {{17, 13, 0}, {34, 26, 0}},
                                  {{17, 13, 0}, {17, 13, 0}},
                                  {{1, 1, 0}, {3, 5, 0}},
                                  {{2, 9, 0}, {1, 1, 0}},
                                  {{37, 50, 0}, {22, 7, 0}}}) {
      const ImageSize size{in.height, in.width, channels};
      check_bilinear<uint8_t>(size, out.height, out.width);
      check_bilinear<float>(size, out.height, out.width);
    }
  }
  uint8_t pixel[3] = {};
  float out[3];
  CHECK(has(error_of([&] { resize_bilinear(pixel, {1, 1, 3}, 0, 5, false, out); }),
            "INVALID_ARGUMENT resize: output size must be positive"));
}

TEST_CASE("nearest resize keeps the dtype") {
  const std::vector<uint8_t> src = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<uint8_t> small(4), large(36);
  resize_nearest(src.data(), {3, 3, 1}, 1, 2, 2, {}, small.data());
  CHECK(small == std::vector<uint8_t>{0, 2, 6, 8});
  resize_nearest(src.data(), {3, 3, 1}, 1, 6, 6, {}, large.data());
  for (size_t i = 0; i < 36; ++i) CHECK(large[i] == i / 12 * 3 + i % 6 / 2);
}

template <class T>
void check_pixels(ImageSize size) {
  const auto src = noise<T>(size, 9);
  const float subtract[] = {12.5f, 103.939f, 7.1f, 1.0f}, divide[] = {58.4f, 57.12f, 3.0f, 7.0f};
  on_each_target([&] {
    for (int kind = 0; kind < 16; ++kind) {
      const Epilogue epilogue{kind & 1 ? subtract : nullptr, kind & 2 ? divide : nullptr,
                              (kind & 4) != 0, (kind & 8) != 0};
      std::vector<float> got(src.size()), want(src.size());
      for (int64_t i = 0; i < size.elements(); ++i) {
        const int64_t c = i % size.channels, pixel = i / size.channels;
        const int64_t x = pixel % size.width, y = pixel / size.width;
        float value = static_cast<float>(src[static_cast<size_t>(i)]);
        if (epilogue.subtract != nullptr) value -= subtract[c];
        if (epilogue.divide != nullptr) value /= divide[c];
        const int64_t to = y * size.width + (epilogue.flip ? size.width - 1 - x : x);
        want[static_cast<size_t>(epilogue.to_chw ? c * size.height * size.width + to
                                                 : to * size.channels + c)] = value;
      }
      normalize_image(src.data(), size, epilogue, got.data());
      CHECK(got == want);
      // In aligned memory a large picture goes another way.
      Tensor aligned = Tensor::make(DType::float32, {size.elements()});
      normalize_image(src.data(), size, epilogue, aligned.mutable_entries<float>());
      CHECK(std::equal(want.begin(), want.end(), aligned.entries<float>()));
      if (kind < 4) {
        std::vector<float> plain(src.size());
        normalize(src.data(), size.height * size.width, static_cast<int>(size.channels),
                  epilogue.subtract, epilogue.divide, plain.data());
        CHECK(plain == want);
      }
    }
    std::vector<T> flipped(src.size()), planes(src.size()), in_place = src;
    flip_left_right(src.data(), size, sizeof(T), flipped.data());
    flip_left_right(in_place.data(), size, sizeof(T), in_place.data());
    transpose_hwc_to_chw(src.data(), size, planes.data());
    bool moved = true;
    for (int64_t i = 0; i < size.elements(); ++i) {
      const int64_t c = i % size.channels, pixel = i / size.channels;
      const int64_t x = pixel % size.width, y = pixel / size.width;
      const T value = src[static_cast<size_t>(i)];
      moved &=
          flipped[static_cast<size_t>((y * size.width + size.width - 1 - x) * size.channels + c)] ==
          value;
      moved &= planes[static_cast<size_t>(c * size.height * size.width + pixel)] == value;
    }
    CHECK(moved);
    CHECK(in_place == flipped);
  });
}

TEST_CASE("flip, transpose and normalise on each instruction set") {
  for (const int64_t channels : {1, 2, 3, 4}) {
    for (const int64_t width : {1, 5, 6, 16, 33, 70}) {
      check_pixels<uint8_t>({3, width, channels});
      check_pixels<float>({3, width, channels});
    }
  }
  check_pixels<uint8_t>({128, 176, 3});
  check_pixels<float>({128, 176, 3});
}

TEST_CASE("crop copies a window or refuses") {
  const auto src = noise<float>({4, 5, 2}, 1);
  std::vector<float> out(4);
  crop(src.data(), {4, 5, 2}, 4, 2, 3, 1, 2, out.data());
  CHECK(std::equal(out.begin(), out.end(), src.begin() + (2 * 5 + 3) * 2));
  CHECK(error_of([&] { crop(src.data(), {4, 5, 2}, 4, 2, 4, 1, 2, out.data()); }) ==
        "INVALID_ARGUMENT crop: window outside the image: y 2, x 4, size 1x2, image 4x5");
}

TEST_CASE("sample_distorted_bounding_box stays in its ranges") {
  std::mt19937 random(11);
  const auto words = [&]() -> uint32_t { return static_cast<uint32_t>(random()); };
  DistortedBox options;
  options.max_attempts = 10;
  options.use_image_if_no_bounding_boxes = true;
  std::vector<double> areas;
  bool last_row = false;
  for (int i = 0; i < 4000; ++i) {
    const Window window = sample_distorted_bounding_box(400, 500, {}, options, words);
    REQUIRE(window.y >= 0);
    REQUIRE(window.x >= 0);
    REQUIRE(window.y + window.height <= 400);
    REQUIRE(window.x + window.width <= 500);
    const double area = static_cast<double>(window.height * window.width) / 200000;
    REQUIRE(area >= 0.0999);  // the whole image is the object and a tenth of it must be covered
    last_row |= window.height < 400 && window.y + window.height == 400;
    areas.push_back(area);
  }
  CHECK(last_row);
  std::sort(areas.begin(), areas.end());
  CHECK(areas[1000] == doctest::Approx(0.203).epsilon(0.1));  // quartiles recorded from TensorFlow
  CHECK(areas[2000] == doctest::Approx(0.358).epsilon(0.1));
  CHECK(areas[3000] == doctest::Approx(0.558).epsilon(0.1));

  const float box[] = {0.4f, 0.4f, 0.6f, 0.6f};
  options.min_object_covered = 0.9f;
  for (int i = 0; i < 500; ++i) {
    const Window window = sample_distorted_bounding_box(400, 500, box, options, words);
    const int64_t rows =
        std::min<int64_t>(240, window.y + window.height) - std::max<int64_t>(160, window.y);
    const int64_t columns =
        std::min<int64_t>(300, window.x + window.width) - std::max<int64_t>(200, window.x);
    CHECK(rows * columns >= 7200);
  }
}

TEST_CASE("sample_distorted_bounding_box falls back and refuses") {
  std::mt19937 random(11);
  const auto words = [&]() -> uint32_t { return static_cast<uint32_t>(random()); };
  DistortedBox options;
  options.use_image_if_no_bounding_boxes = true;
  CHECK(sample_distorted_bounding_box(0, 500, {}, options, words) == Window{0, 0, 0, 500});
  CHECK(sample_distorted_bounding_box(1, 1, {}, options, words) == Window{0, 0, 1, 1});
  const float out_of_range[] = {0, 0, 1.2f, 1};
  CHECK(
      has(error_of([&] { sample_distorted_bounding_box(400, 500, out_of_range, options, words); }),
          "INVALID_ARGUMENT sample_distorted_bounding_box: box coordinates must be in [0, 1]"));
  DistortedBox wide = options;
  wide.aspect_ratio_range[0] = 3.0f;
  wide.aspect_ratio_range[1] = 5.0f;
  wide.area_range[0] = 0.5f;
  CHECK(sample_distorted_bounding_box(400, 100, {}, wide, words) == Window{0, 0, 400, 100});
  wide.aspect_ratio_range[0] = 0;
  CHECK(has(error_of([&] { sample_distorted_bounding_box(4, 4, {}, wide, words); }),
            "aspect_ratio_range must be positive"));
  options.use_image_if_no_bounding_boxes = false;
  CHECK(has(error_of([&] { sample_distorted_bounding_box(4, 4, {}, options, words); }),
            "no bounding boxes given"));
}

}  // namespace
}  // namespace penstock
