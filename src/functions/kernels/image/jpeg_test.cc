#include "functions/kernels/image/jpeg.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "functions/error_of.h"
#include "functions/kernels/image/bounding_box.h"
#include "functions/kernels/image/jpeg_encode.h"
#include "functions/kernels/image/pixels.h"

namespace penstock {
namespace {

using Random = std::minstd_rand;

int64_t pick(Random& random, int64_t count) { return static_cast<int64_t>(random()) % count; }

// Gradients, noise and hard coloured edges, so that chroma differs from pixel to pixel.
std::vector<uint8_t> photo(ImageSize size, uint32_t seed) {
  Random random(seed + 1);
  std::vector<uint8_t> pixels(static_cast<size_t>(size.elements()));
  for (int64_t i = 0; i < size.elements(); ++i) {
    const int64_t c = i % size.channels, x = i / size.channels % size.width;
    const int64_t y = i / size.channels / size.width;
    int64_t value = (x * (2 + c) + y * (3 - c)) / 4 + pick(random, 25);
    if ((x / 11 + y / 7) % 3 == c) value += 120;
    pixels[static_cast<size_t>(i)] = static_cast<uint8_t>(value % 256);
  }
  return pixels;
}

struct Picture {
  ImageSize size;
  std::vector<uint8_t> pixels;
};

Picture decode(std::string_view file, int channels, bool by_library = false) {
  Picture picture;
  const JpegDecoding options{.channels = channels, .by_library = by_library};
  thread_jpeg_decoder().decode(file, options, [&](ImageSize size) {
    picture.size = size;
    picture.pixels.resize(static_cast<size_t>(size.elements()));
    return picture.pixels.data();
  });
  return picture;
}

Picture decode_window(std::string_view file, Window window, int channels, bool check_rest = false) {
  Picture picture;
  const JpegDecoding options{
      .channels = channels, .check_rest = check_rest, .who = check_rest ? "decode_jpeg" : nullptr};
  thread_jpeg_decoder().decode_window(file, window.y, window.x, window.height, window.width,
                                      options, [&](ImageSize size) {
                                        picture.size = size;
                                        picture.pixels.resize(static_cast<size_t>(size.elements()));
                                        return picture.pixels.data();
                                      });
  return picture;
}

std::vector<uint8_t> cropped(const Picture& picture, Window window) {
  std::vector<uint8_t> out(static_cast<size_t>(window.height * window.width) *
                           static_cast<size_t>(picture.size.channels));
  crop(picture.pixels.data(), picture.size, 1, window.y, window.x, window.height, window.width,
       out.data());
  return out;
}

Window random_window(ImageSize size, Random& random) {
  Window window;
  window.height = 1 + pick(random, size.height);
  window.width = 1 + pick(random, size.width);
  if (pick(random, 3) == 0) window.height = std::min<int64_t>(window.height, 3);
  if (pick(random, 3) == 0) window.width = std::min<int64_t>(window.width, 3);
  window.y = pick(random, size.height - window.height + 1);
  window.x = pick(random, size.width - window.width + 1);
  if (pick(random, 3) == 0) {  // block borders are where partial decoding goes wrong
    window.y = window.y / 8 * 8;
    window.x = window.x / 8 * 8;
  }
  return window;
}

TEST_CASE("a JPEG window equals the cropped image") {
  const ImageSize sides[] = {{1, 1, 3},   {9, 7, 3},   {16, 16, 3},  {33, 17, 3},
                             {17, 33, 3}, {40, 65, 3}, {97, 130, 3}, {375, 500, 3}};
  Random random(7);
  int64_t windows = 0, different = 0;
  for (ImageSize size : sides) {
    for (int kind = 0; kind < 20; ++kind) {
      size.channels = kind < 16 ? 3 : 1;
      const JpegEncoding encoding{.quality = 60 + kind,
                                  .chroma_columns = 1 + (kind & 1),
                                  .chroma_rows = 1 + (kind >> 1 & 1),
                                  .progressive = (kind >> 2 & 1) != 0,
                                  .restart_rows = kind >> 3 & 1};
      const std::string file =
          encode_jpeg(photo(size, static_cast<uint32_t>(kind)).data(), size, encoding);
      REQUIRE(jpeg_shape(file) == size);
      for (const int channels : {0, 1, 3}) {
        const Picture whole = decode(file, channels, true);
        REQUIRE(whole.size.channels == (channels == 0 ? size.channels : channels));
        REQUIRE(decode(file, channels).pixels == whole.pixels);
        for (int i = 0; i < (size.width > 200 ? 12 : 40); ++i, ++windows) {
          const Window window = random_window(size, random);
          const Picture part = decode_window(file, window, channels);
          REQUIRE(part.size == ImageSize{window.height, window.width, whole.size.channels});
          if (part.pixels == cropped(whole, window)) continue;
          ++different;
          MESSAGE("differs: kind " << kind << " image " << size.height << "x" << size.width
                                   << " channels " << channels << " window " << window.y << ","
                                   << window.x << " " << window.height << "x" << window.width);
        }
      }
    }
  }
  CHECK(windows > 10000);
  CHECK(different == 0);
}

TEST_CASE("damaged JPEG files are to us what they are to libjpeg") {
  Random random(11);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    const ImageSize size{16 + pick(random, 60), 16 + pick(random, 60), i % 5 == 0 ? 1 : 3};
    const JpegEncoding encoding{.quality = 50 + i % 50,
                                .chroma_columns = 1 + (i & 1),
                                .chroma_rows = 1 + (i >> 1 & 1),
                                .restart_rows = i >> 2 & 1};
    std::string file = encode_jpeg(photo(size, static_cast<uint32_t>(i)).data(), size, encoding);
    const auto from = static_cast<int64_t>(file.find("\xff\xda"));
    for (int k = 0; k < 1 + i % 3; ++k) {
      const int64_t at = from + pick(random, static_cast<int64_t>(file.size()) - from);
      file[static_cast<size_t>(at)] = static_cast<char>(random());
    }
    std::vector<uint8_t> ours, theirs;
    const std::string error = error_of([&] { ours = decode(file, 0).pixels; });
    CHECK(error == error_of([&] { theirs = decode(file, 0, true).pixels; }));
    CHECK(ours == theirs);
    // Their windows, too, where the rest is checked.
    const Window window = random_window(size, random);
    Picture part;
    CHECK(error == error_of([&] { part = decode_window(file, window, 0, true); }));
    if (error.empty()) CHECK(part.pixels == cropped({size, theirs}, window));
    refused += error.empty() ? 0 : 1;
  }
  CHECK(refused > 20);
  CHECK(refused < 400);
}

TEST_CASE("a JPEG without tables does not get those of the picture before it") {
  const ImageSize size{40, 48, 3};
  const std::string whole = encode_jpeg(photo(size, 1).data(), size, JpegEncoding{.quality = 60});
  std::string bare = whole;  // without its quantisation tables
  for (size_t at; (at = bare.find("\xff\xdb")) != std::string::npos;) {
    const auto high = static_cast<uint8_t>(bare[at + 2]), low = static_cast<uint8_t>(bare[at + 3]);
    bare.erase(at, 2 + static_cast<size_t>(high * 256 + low));
  }
  for (const bool by_library : {false, true}) {
    for (int i = 0; i < 100; ++i) decode(whole, 3, by_library);
    const std::string error = error_of([&] { decode(bare, 3, by_library); });
    CHECK(error.find("Quantization table 0x00 was not defined") != std::string::npos);
  }
}

TEST_CASE("JPEG round trip stays close") {
  const ImageSize size{61, 83, 3};
  std::vector<uint8_t> pixels(static_cast<size_t>(size.elements()));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i / 3 % 83 * 3);
  const Picture back = decode(encode_jpeg(pixels.data(), size, 95, true), 3);
  double sum = 0;
  for (size_t i = 0; i < pixels.size(); ++i) sum += std::abs(pixels[i] - back.pixels[i]);
  CHECK(sum / static_cast<double>(pixels.size()) < 2.0);
  CHECK(has(error_of([&] { encode_jpeg(pixels.data(), {0, 5, 3}, 95, true); }),
            "INVALID_ARGUMENT encode_jpeg: image size out of range: 0x5"));
}

TEST_CASE("JPEG files that are none or lie") {
  const ImageSize size{64, 97, 3};
  const std::string file = encode_jpeg(photo(size, 3).data(), size, 90, true);
  const auto fails = [](std::string_view bytes) { return error_of([&] { decode(bytes, 3); }); };
  CHECK(fails("") == "INVALID_ARGUMENT decode_jpeg: input is empty");
  CHECK(fails("\x89PNG\r\n") ==
        "INVALID_ARGUMENT decode_jpeg: not a JPEG file: starts with 89 50 4e 47 (PNG)");
  CHECK(has(fails(file.substr(0, 3)), "cut"));
  for (const double part : {0.3, 0.5, 0.9, 0.999}) {
    const std::string cut =
        file.substr(0, static_cast<size_t>(static_cast<double>(file.size()) * part));
    CHECK(has(fails(cut), "DATA_LOSS decode_jpeg: JPEG file is cut: ends after"));
    CHECK(has(error_of([&] { decode_window(cut, {0, 0, 8, 8}, 3); }), "DATA_LOSS"));
    CHECK(jpeg_shape(cut.size() > 700 ? cut : file) == size);
  }
  CHECK(fails(file + "trailing") == "");

  const size_t frame = file.find("\xff\xc0");
  std::string taller = file;
  taller[frame + 6] = char(128);
  CHECK(has(fails(taller), "DATA_LOSS"));
  std::string huge = file;
  for (const size_t at : {5, 7}) {
    huge[frame + at] = char(60000 >> 8);
    huge[frame + at + 1] = char(60000 & 255);
  }
  CHECK(fails(huge) ==
        "RESOURCE_EXHAUSTED decode_jpeg: image too large: header claims 60000x60000, max_pixels is "
        "1073741824");
  std::string garbled = file;
  for (size_t i = file.size() / 2; i < file.size() / 2 + 40; ++i) garbled[i] = char(i * 37);
  CHECK(has(fails(garbled), "DATA_LOSS"));
  CHECK(fails(file) == "");  // the decoder survives errors

  CHECK(error_of([&] { decode_window(file, {60, 0, 5, 97}, 3); }) ==
        "INVALID_ARGUMENT decode_and_crop_jpeg: window outside the image: y 60, x 0, size 5x97, "
        "image 64x97");
  CHECK(has(error_of([&] { decode_window(file, {0, 0, 0, 1}, 3); }), "INVALID_ARGUMENT"));
  CHECK(has(error_of([&] { jpeg_shape(file.substr(0, frame + 8)); }), "header is cut"));
  CHECK(has(error_of([&] { decode(file, 2); }), "channels must be 0, 1 or 3: 2"));
}

TEST_CASE("an allocator's error passes through") {
  const ImageSize size{20, 20, 1};
  const std::string file = encode_jpeg(photo(size, 3).data(), size, 90, true);
  const auto full = [](ImageSize) -> uint8_t* { throw Error(Code::resource_exhausted, "full"); };
  CHECK(error_of([&] { thread_jpeg_decoder().decode(file, {0}, full); }) ==
        "RESOURCE_EXHAUSTED full");
  CHECK(decode(file, 0).size == size);
}

}  // namespace
}  // namespace penstock
