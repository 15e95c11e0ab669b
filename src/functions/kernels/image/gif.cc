// GIF with giflib, each frame drawn on the canvas that the one before left.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "data/charged.h"
#include "functions/kernels/image/image_file.h"

namespace penstock {
namespace {

// The library has no words for every code that it gives.
std::string error_text(int code) {
  const char* text = GifErrorString(code);
  return text != nullptr ? text : "it cannot be decoded";
}

int read_bytes(GifFileType* gif, GifByteType* to, int count) {
  auto& rest = *static_cast<std::string_view*>(gif->UserData);
  const size_t now = std::min(static_cast<size_t>(count), rest.size());
  std::memcpy(to, rest.data(), now);
  rest.remove_prefix(now);
  return static_cast<int>(now);
}

struct Closer {
  GifFileType* gif;
  ~Closer() { DGifCloseFile(gif, nullptr); }
};

// Colour of the transparent index of frame i, -1 when it has none.
int transparent_index(GifFileType* gif, int i) {
  GraphicsControlBlock control;
  if (DGifSavedExtensionToGCB(gif, i, &control) != GIF_OK) return NO_TRANSPARENT_COLOR;
  return control.TransparentColor;
}

void draw(GifFileType* gif, int i, const ImageDecoding& options, uint8_t* canvas) {
  const SavedImage& frame = gif->SavedImages[i];
  const GifImageDesc& place = frame.ImageDesc;
  const ColorMapObject* colours = place.ColorMap != nullptr ? place.ColorMap : gif->SColorMap;
  if (colours == nullptr) fail_decoding(options, Code::data_loss, "GIF frame without colours");
  const int transparent = transparent_index(gif, i);
  const int bottom = std::min(place.Top + place.Height, gif->SHeight);
  const int right = std::min(place.Left + place.Width, gif->SWidth);
  for (int y = std::max(place.Top, 0); y < bottom; ++y) {
    const GifByteType* from = frame.RasterBits + int64_t{y - place.Top} * place.Width;
    for (int x = std::max(place.Left, 0); x < right; ++x) {
      const int index = from[x - place.Left];
      if (index == transparent) continue;
      if (index >= colours->ColorCount) {
        fail_decoding(options, Code::data_loss,
                      "GIF colour outside the palette: " + std::to_string(index));
      }
      const GifColorType& colour = colours->Colors[index];
      uint8_t* to = canvas + (int64_t{y} * gif->SWidth + x) * 3;
      to[0] = colour.Red;
      to[1] = colour.Green;
      to[2] = colour.Blue;
    }
  }
}

// The frames' sizes, block by block, before giflib takes memory for them: a small file can claim
// many large frames.
struct Frames {
  int64_t count = 0, pixels = 0;
};
Frames count_frames(std::string_view file, const ImageDecoding& options) {
  const auto at = [&](size_t i) -> size_t {
    if (i >= file.size()) {
      fail_decoding(options, Code::data_loss,
                    "GIF file is cut: ends after " + std::to_string(file.size()) + " bytes");
    }
    return static_cast<uint8_t>(file[i]);
  };
  const auto table_bytes = [](size_t flags) -> size_t {
    return (flags & 0x80) != 0 ? size_t{3} << ((flags & 7) + 1) : 0;
  };
  const auto skip_blocks = [&](size_t i) {
    while (at(i) != 0) i += at(i) + 1;
    return i + 1;
  };
  int64_t frames = 0, pixels = 0;
  size_t i = 13 + table_bytes(at(10));
  for (;;) {
    const size_t block = at(i);
    if (block == 0x3b) break;
    if (block == 0x21) {
      i = skip_blocks(i + 2);
    } else if (block == 0x2c) {
      const auto side = [&](size_t from) {
        return static_cast<int64_t>(at(from) | at(from + 1) << 8);
      };
      pixels += side(i + 5) * side(i + 7);
      ++frames;
      i = skip_blocks(i + 11 + table_bytes(at(i + 9)));
    } else {
      fail_decoding(
          options, Code::data_loss,
          "GIF file: unknown block " + std::to_string(block) + " at byte " + std::to_string(i));
    }
  }
  if (frames == 0) fail_decoding(options, Code::invalid_argument, "GIF file without a picture");
  check_claimed_size(options, {1, std::max<int64_t>(pixels, 1), 1}, file.size());
  if (frames > 1 && options.one_picture) refuse_moving(options, frames, "GIF");
  return {frames, pixels};
}

}  // namespace

void decode_gif(std::string_view file, const ImageDecoding& options, bool first_only,
                int64_t* frames, PixelSink allocate) {
  if (image_format(file) != ImageFormat::gif) refuse_format(options.who, "GIF", file);
  if (options.channels != 0 && options.channels != 3) {
    fail_decoding(options, Code::invalid_argument,
                  "channels must be 0 or 3 for GIF: " + std::to_string(options.channels));
  }
  std::string_view rest = file;
  int code = 0;
  GifFileType* gif = DGifOpen(&rest, read_bytes, &code);
  if (gif == nullptr) {
    fail_decoding(options, Code::invalid_argument, "bad GIF header: " + error_text(code));
  }
  const Closer closer{gif};
  const Frames all_frames = count_frames(file, options);
  *frames = first_only ? 1 : all_frames.count;
  const ImageSize canvas{gif->SHeight, gif->SWidth, 3};
  const ImageSize all{canvas.height * *frames, canvas.width, 3};
  check_claimed_size(options, all, file.size());
  uint8_t* pixels = allocate(all);
  if (pixels == nullptr) return;
  const Charge indices(all_frames.pixels);  // giflib keeps all frames
  if (DGifSlurp(gif) != GIF_OK) {
    fail_decoding(options, Code::data_loss, "GIF file: " + error_text(gif->Error));
  }
  if (gif->ImageCount < *frames) {
    fail_decoding(options, Code::data_loss,
                  "GIF file is cut: frame " + std::to_string(gif->ImageCount) + " of " +
                      std::to_string(*frames));
  }
  const auto bytes = static_cast<size_t>(canvas.elements());
  for (int i = 0; i < *frames; ++i, pixels += bytes) {
    if (i == 0) {
      std::memset(pixels, 0, bytes);
    } else {
      std::memcpy(pixels, pixels - bytes, bytes);
    }
    draw(gif, i, options, pixels);
  }
}

}  // namespace penstock
