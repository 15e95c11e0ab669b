#include "functions/kernels/image/jpeg_encode.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <jpeglib.h>

#include "base/error.h"

namespace penstock {
namespace {

struct Encoder {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};
  unsigned char* out = nullptr;
  unsigned long out_bytes = 0;

  ~Encoder() {
    jpeg_destroy_compress(&info);
    std::free(out);
  }
};

void check(ImageSize size, const JpegEncoding& encoding) {
  const auto bad = [](const std::string& what) {
    throw Error(Code::invalid_argument, "encode_jpeg: " + what);
  };
  const bool sides = size.height > 0 && size.width > 0 && size.height <= JPEG_MAX_DIMENSION &&
                     size.width <= JPEG_MAX_DIMENSION;
  if (!sides) {
    bad("image size out of range: " + std::to_string(size.height) + "x" +
        std::to_string(size.width));
  }
  if (size.channels != 1 && size.channels != 3) {
    bad("channels must be 1 or 3: " + std::to_string(size.channels));
  }
  if (encoding.quality < 1 || encoding.quality > 100) {
    bad("quality must be 1 to 100: " + std::to_string(encoding.quality));
  }
  const bool chroma = (encoding.chroma_columns == 1 || encoding.chroma_columns == 2) &&
                      (encoding.chroma_rows == 1 || encoding.chroma_rows == 2);
  if (!chroma || encoding.restart_rows < 0) bad("chroma step or restart rows out of range");
}

// Runs under setjmp: owns nothing.
void compress(Encoder& encoder, const uint8_t* pixels, ImageSize size,
              const JpegEncoding& encoding) {
  jpeg_compress_struct* info = &encoder.info;
  jpeg_create_compress(info);
  jpeg_mem_dest(info, &encoder.out, &encoder.out_bytes);
  info->image_width = static_cast<JDIMENSION>(size.width);
  info->image_height = static_cast<JDIMENSION>(size.height);
  info->input_components = static_cast<int>(size.channels);
  info->in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(info);
  jpeg_set_quality(info, encoding.quality, TRUE);
  if (size.channels == 3) {
    info->comp_info[0].h_samp_factor = encoding.chroma_columns;
    info->comp_info[0].v_samp_factor = encoding.chroma_rows;
  }
  info->restart_in_rows = encoding.restart_rows;
  if (encoding.optimize) info->optimize_coding = TRUE;
  if (encoding.progressive) jpeg_simple_progression(info);
  jpeg_start_compress(info, TRUE);
  const int64_t stride = size.width * size.channels;
  for (int64_t y = 0; y < size.height; ++y) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels + y * stride);
    jpeg_write_scanlines(info, &row, 1);
  }
  jpeg_finish_compress(info);
}

}  // namespace

std::string encode_jpeg(const uint8_t* pixels, ImageSize size, const JpegEncoding& encoding) {
  check(size, encoding);
  Encoder encoder;
  encoder.info.err = jpeg_std_error(&encoder.errors);
  encoder.info.client_data = &encoder;
  encoder.errors.error_exit = [](j_common_ptr common) {
    auto& failed = *static_cast<Encoder*>(common->client_data);
    common->err->format_message(common, failed.message);
    std::longjmp(failed.jump, 1);
  };
  if (setjmp(encoder.jump) != 0) {
    throw Error(Code::internal, std::string("encode_jpeg: ") + encoder.message);
  }
  compress(encoder, pixels, size, encoding);
  return std::string(reinterpret_cast<const char*>(encoder.out), encoder.out_bytes);
}

std::string encode_jpeg(const uint8_t* pixels, ImageSize size, int quality, bool chroma_420) {
  const int step = chroma_420 ? 2 : 1;
  return encode_jpeg(pixels, size,
                     JpegEncoding{.quality = quality, .chroma_columns = step, .chroma_rows = step});
}

}  // namespace penstock
