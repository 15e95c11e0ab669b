#include "functions/kernels/image/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <jpeglib.h>
// jerror.h wants jpeglib.h first.
#include <jerror.h>

#include "base/error.h"
#include "data/charged.h"
#include "functions/kernels/image/jpeg_scan.h"

namespace penstock {
namespace {

[[noreturn]] void fail(Code code, const char* who, const std::string& what) {
  throw Error(code, std::string(who) + ": " + what);
}

void check_signature(const char* who, std::string_view file) {
  if (image_format(file) != ImageFormat::jpeg) refuse_format(who, "JPEG", file);
}

std::string dimensions(int64_t height, int64_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

void check_window(const char* who, ImageSize image, int64_t y, int64_t x, int64_t height,
                  int64_t width) {
  const bool inside = y >= 0 && x >= 0 && height > 0 && width > 0 && y < image.height &&
                      x < image.width && height <= image.height - y && width <= image.width - x;
  if (inside) return;
  fail(Code::invalid_argument, who,
       "window outside the image: y " + std::to_string(y) + ", x " + std::to_string(x) + ", size " +
           dimensions(height, width) + ", image " + dimensions(image.height, image.width));
}

// Rows of stored-inverted (Adobe) or plain CMYK to RGB.
void cmyk_to_rgb(const uint8_t* cmyk, int64_t pixels, bool inverted, uint8_t* rgb) {
  const int flip = inverted ? 0 : 255;
  for (int64_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    const int k = cmyk[3] ^ flip;
    for (int c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>((cmyk[c] ^ flip) * k / 255);
  }
}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  std::jmp_buf jump{};
  const char* who = "";
  size_t file_bytes = 0;
  bool in_scan = false;
  Code code = Code::unknown;
  char message[JMSG_LENGTH_MAX] = {};
  std::vector<uint8_t> row;  // bounded: a line of at most 65535 pixels
  ScanDecoder scans;

  int opened = 0;
  std::optional<Charge> coefficients;  // that libjpeg holds

  State();
  ~State() { jpeg_destroy_decompress(&info); }
  void create();
  void forget_tables();

  // Runs libjpeg calls; what they report is thrown here, since neither exceptions may cross C
  // frames nor longjmp ones with destructors. `step` must own nothing.
  template <class Step>
  void run(Step step) {
    if (setjmp(jump) != 0) throw Error(code, std::string(who) + ": " + message);
    step();
  }

  ImageSize open(const char* caller, std::string_view file, const JpegDecoding& options);
  int64_t coefficient_bytes() const;
  bool may_crop() const;
  ImageSize open_window(std::string_view file, const ScanWindow& window,
                        const JpegDecoding& options);
  bool decode_usual(const ScanWindow& window, ImageSize image, const JpegDecoding& options,
                    uint8_t* pixels);
  void start() {
    coefficients.emplace(coefficient_bytes());
    run([this] {
      jpeg_start_decompress(&info);
      in_scan = true;
    });
  }
  void read_rows(uint8_t* pixels, int64_t rows);
  void read_window(int64_t skip_columns, ImageSize window, uint8_t* pixels);
};

namespace {

// One image's libjpeg state ends here, however the decoding ended.
class Session {
 public:
  Session(jpeg_decompress_struct* info, std::optional<Charge>* coefficients)
      : info_(info), coefficients_(coefficients) {}
  ~Session() {
    jpeg_abort_decompress(info_);
    coefficients_->reset();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  jpeg_decompress_struct* info_;
  std::optional<Charge>* coefficients_;
};

}  // namespace

JpegDecoder::State::State() {
  info.err = jpeg_std_error(&errors);
  info.client_data = this;
  errors.error_exit = [](j_common_ptr common) {
    auto& state = *static_cast<State*>(common->client_data);
    const int what = common->err->msg_code;
    common->err->format_message(common, state.message);
    state.code = what == JERR_OUT_OF_MEMORY ? Code::resource_exhausted
                 : state.in_scan            ? Code::data_loss
                                            : Code::invalid_argument;
    std::longjmp(state.jump, 1);
  };
  errors.emit_message = [](j_common_ptr common, int level) {
    if (level >= 0) return;
    auto& state = *static_cast<State*>(common->client_data);
    const int what = common->err->msg_code;
    // Remarks on headers, which cost no pixels.
    if (what == JWRN_ADOBE_XFORM || what == JWRN_JFIF_MAJOR || what == JWRN_BOGUS_ICC) return;
    if (what == JWRN_EXTRANEOUS_DATA && !state.in_scan) return;
    common->err->format_message(common, state.message);
    state.code = Code::data_loss;
    std::longjmp(state.jump, 1);
  };
  errors.output_message = [](j_common_ptr) {};
  source.init_source = [](j_decompress_ptr) {};
  source.term_source = [](j_decompress_ptr) {};
  source.resync_to_restart = jpeg_resync_to_restart;
  source.fill_input_buffer = [](j_decompress_ptr ended) -> boolean {
    auto& state = *static_cast<State*>(ended->client_data);
    std::snprintf(state.message, sizeof state.message, "JPEG file is cut: ends after %zu bytes",
                  state.file_bytes);
    state.code = Code::data_loss;
    std::longjmp(state.jump, 1);
  };
  source.skip_input_data = [](j_decompress_ptr from, long bytes) {
    if (bytes <= 0) return;
    jpeg_source_mgr& input = *from->src;
    if (static_cast<size_t>(bytes) > input.bytes_in_buffer) input.fill_input_buffer(from);
    input.next_input_byte += bytes;
    input.bytes_in_buffer -= static_cast<size_t>(bytes);
  };
  create();
}

void JpegDecoder::State::create() {
  who = "decode_jpeg";
  run([this] { jpeg_create_decompress(&info); });
  info.src = &source;
}

// libjpeg keeps a file's tables for files that have none of their own: what a picture is would
// depend on the one before it. Their memory stays with the object, which is therefore made anew now
// and then.
void JpegDecoder::State::forget_tables() {
  constexpr int kMostOpened = 64;
  if (++opened == kMostOpened) {
    jpeg_destroy_decompress(&info);
    create();
    opened = 0;
  }
  std::ranges::fill(info.quant_tbl_ptrs, nullptr);
  std::ranges::fill(info.dc_huff_tbl_ptrs, nullptr);
  std::ranges::fill(info.ac_huff_tbl_ptrs, nullptr);
}

// Reads and checks the header, and sets what libjpeg shall give; the returned size is the image's,
// with the channels that the caller will see.
ImageSize JpegDecoder::State::open(const char* caller, std::string_view file,
                                   const JpegDecoding& options) {
  const int channels = options.channels;
  forget_tables();
  who = options.who != nullptr ? options.who : caller;
  file_bytes = file.size();
  in_scan = false;
  check_signature(who, file);
  if (channels != 0 && channels != 1 && channels != 3) {
    fail(Code::invalid_argument, who, "channels must be 0, 1 or 3: " + std::to_string(channels));
  }
  source.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  source.bytes_in_buffer = file.size();
  run([this] { jpeg_read_header(&info, TRUE); });

  const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  if (!cmyk && info.num_components != 1 && info.num_components != 3) {
    fail(Code::invalid_argument, who,
         "unsupported number of components: " + std::to_string(info.num_components));
  }
  if (cmyk && channels == 1) {
    fail(Code::invalid_argument, who, "a CMYK image cannot be read as grey: channels 1");
  }
  const int given = channels != 0 ? channels : info.num_components == 1 ? 1 : 3;
  info.out_color_space = cmyk ? JCS_CMYK : given == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  info.do_fancy_upsampling = options.fancy_upsampling ? TRUE : FALSE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(options.ratio);
  check_claimed_size({.who = who, .max_pixels = options.max_pixels},
                     {info.image_height, info.image_width, std::max(given, info.num_components)},
                     file.size());
  run([this] { jpeg_calc_output_dimensions(&info); });
  return {info.output_height, info.output_width, given};
}

// A file of several scans is held whole, as coefficients: two bytes for each sample of each
// component.
int64_t JpegDecoder::State::coefficient_bytes() const {
  if (!info.progressive_mode &&
      !jpeg_has_multiple_scans(const_cast<jpeg_decompress_struct*>(&info)))
    return 0;
  int64_t bytes = 0;
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& part = info.comp_info[c];
    // Rounded up to whole MCUs.
    const int64_t wide = int64_t{part.width_in_blocks} + part.h_samp_factor;
    const int64_t high = int64_t{part.height_in_blocks} + part.v_samp_factor;
    bytes += wide * high * DCTSIZE2 * static_cast<int64_t>(sizeof(JCOEF));
  }
  return bytes;
}

// Whether libjpeg's partial decoding is exact: one sequential Huffman scan, chroma at most halved.
bool JpegDecoder::State::may_crop() const {
  if (info.progressive_mode || info.arith_code ||
      jpeg_has_multiple_scans(const_cast<jpeg_decompress_struct*>(&info))) {
    return false;
  }
  if (info.num_components == 1) return info.output_width > 16;
  if (info.num_components != 3) return false;
  const auto* parts = info.comp_info;
  if (parts[0].h_samp_factor > 2 || parts[0].v_samp_factor > 2) return false;
  for (int c = 1; c < 3; ++c) {
    if (parts[c].h_samp_factor != 1 || parts[c].v_samp_factor != 1) return false;
  }
  return info.output_width > 32;
}

// Without libjpeg, where the file is a usual one. Changes nothing that libjpeg would need after it.
bool JpegDecoder::State::decode_usual(const ScanWindow& window, ImageSize image,
                                      const JpegDecoding& options, uint8_t* pixels) {
  const bool exact = info.scale_denom == 1 && !options.fast_dct && options.fancy_upsampling;
  const bool sequential = !info.progressive_mode && !info.arith_code && info.Ss == 0 &&
                          info.Se == DCTSIZE2 - 1 && info.Ah == 0 && info.Al == 0;
  const bool colors = info.jpeg_color_space == JCS_YCbCr ? info.num_components == 3
                                                         : info.jpeg_color_space == JCS_GRAYSCALE;
  if (options.by_library || !exact || !sequential || !colors || info.data_precision != 8 ||
      info.comps_in_scan != info.num_components) {
    return false;
  }
  JpegScan scan;
  scan.height = info.image_height;
  scan.width = info.image_width;
  scan.count = info.num_components;
  scan.restart_interval = info.restart_interval;
  scan.data = {reinterpret_cast<const char*>(source.next_input_byte), source.bytes_in_buffer};
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& part = info.comp_info[c];
    // The headers' numbers of tables are not checked yet.
    const bool known = part.quant_tbl_no >= 0 && part.quant_tbl_no < NUM_QUANT_TBLS &&
                       part.dc_tbl_no >= 0 && part.dc_tbl_no < NUM_HUFF_TBLS &&
                       part.ac_tbl_no >= 0 && part.ac_tbl_no < NUM_HUFF_TBLS;
    if (info.cur_comp_info[c] != &part || !known) return false;
    const JQUANT_TBL* quant = info.quant_tbl_ptrs[part.quant_tbl_no];
    const JHUFF_TBL* dc = info.dc_huff_tbl_ptrs[part.dc_tbl_no];
    const JHUFF_TBL* ac = info.ac_huff_tbl_ptrs[part.ac_tbl_no];
    if (quant == nullptr || dc == nullptr || ac == nullptr) return false;
    scan.parts[static_cast<size_t>(c)] = {part.h_samp_factor, part.v_samp_factor, quant->quantval,
                                          dc->bits,           dc->huffval,        ac->bits,
                                          ac->huffval};
  }
  const bool whole = window.height == image.height && window.width == image.width;
  return scans.decode(scan, window, static_cast<int>(image.channels), whole || options.check_rest,
                      pixels);
}

// Reads whole output rows into consecutive memory.
void JpegDecoder::State::read_rows(uint8_t* pixels, int64_t rows) {
  const size_t stride = size_t{info.output_width} * static_cast<size_t>(info.output_components);
  run([this, pixels, rows, stride] {
    constexpr int64_t batch = 16;
    JSAMPROW lines[batch];
    for (int64_t done = 0; done < rows;) {
      const int64_t now = std::min(batch, rows - done);
      for (int64_t i = 0; i < now; ++i) lines[i] = pixels + stride * static_cast<size_t>(done + i);
      done += jpeg_read_scanlines(&info, lines, static_cast<JDIMENSION>(now));
    }
  });
}

// Reads output rows and keeps `window.width` columns of each from `skip_columns` on.
void JpegDecoder::State::read_window(int64_t skip_columns, ImageSize window, uint8_t* pixels) {
  const bool cmyk = info.out_color_space == JCS_CMYK;
  if (!cmyk && skip_columns == 0 && window.width == info.output_width) {
    return read_rows(pixels, window.height);
  }
  const int64_t components = info.output_components;
  row.resize(size_t{info.output_width} * static_cast<size_t>(components));
  const int64_t stride = window.width * window.channels;
  const uint8_t* from = row.data() + skip_columns * components;
  for (int64_t y = 0; y < window.height; ++y, pixels += stride) {
    read_rows(row.data(), 1);
    if (cmyk) {
      cmyk_to_rgb(from, window.width, info.saw_Adobe_marker, pixels);
    } else {
      std::memcpy(pixels, from, static_cast<size_t>(stride));
    }
  }
}

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {}
JpegDecoder::~JpegDecoder() = default;

void JpegDecoder::decode(std::string_view file, const JpegDecoding& options, PixelSink allocate) {
  State& state = *state_;
  const Session session(&state.info, &state.coefficients);
  const ImageSize size = state.open("decode_jpeg", file, options);
  uint8_t* pixels = allocate(size);
  if (pixels == nullptr) return;
  if (state.decode_usual({0, 0, size.height, size.width}, size, options, pixels)) return;
  state.start();
  state.read_window(0, size, pixels);
  // Data left over or missing behind the last row shows only here.
  state.run([&state] { jpeg_finish_decompress(&state.info); });
}

// The picture's size; the window is in it, and the file's end is there.
ImageSize JpegDecoder::State::open_window(std::string_view file, const ScanWindow& window,
                                          const JpegDecoding& options) {
  const ImageSize image = open("decode_and_crop_jpeg", file, options);
  check_window(who, image, window.y, window.x, window.height, window.width);
  const std::string_view scans_of_file = file.substr(file.size() - source.bytes_in_buffer);
  if (!options.check_rest && scans_of_file.rfind("\xff\xd9") == std::string_view::npos) {
    fail(Code::data_loss, who,
         "JPEG file is cut: ends after " + std::to_string(file.size()) + " bytes");
  }
  return image;
}

bool JpegDecoder::decode_usual_window(std::string_view file, int64_t y, int64_t x, int64_t height,
                                      int64_t width, const JpegDecoding& options,
                                      PixelSink allocate) {
  State& state = *state_;
  const Session session(&state.info, &state.coefficients);
  const ImageSize image = state.open_window(file, {y, x, height, width}, options);
  return state.decode_usual({y, x, height, width}, image, options,
                            allocate({height, width, image.channels}));
}

void JpegDecoder::decode_window(std::string_view file, int64_t y, int64_t x, int64_t height,
                                int64_t width, const JpegDecoding& options, PixelSink allocate) {
  State& state = *state_;
  const Session session(&state.info, &state.coefficients);
  const ImageSize image = state.open_window(file, {y, x, height, width}, options);
  const ImageSize window{height, width, image.channels};
  uint8_t* pixels = allocate(window);
  if (state.decode_usual({y, x, height, width}, image, options, pixels)) return;
  const bool crop = state.may_crop() && !options.check_rest;
  state.start();
  if (!crop) {
    const auto pass_over = [&](int64_t rows) {
      state.row.resize(size_t{state.info.output_width} *
                       static_cast<size_t>(state.info.output_components));
      for (int64_t i = 0; i < rows; ++i) state.read_rows(state.row.data(), 1);
    };
    pass_over(y);
    state.read_window(x, window, pixels);
    if (!options.check_rest) return;
    pass_over(image.height - y - height);
    return state.run([&state] { jpeg_finish_decompress(&state.info); });
  }
  // Upsampling looks one chroma sample past each border, and libjpeg invents that sample at the
  // borders of what it decodes; below three samples it changes the method.
  constexpr int64_t margin = 16;
  JDIMENSION left = static_cast<JDIMENSION>(std::max<int64_t>(0, x - 4));
  JDIMENSION columns = static_cast<JDIMENSION>(std::min(image.width, x + width + margin)) - left;
  state.run([&] {
    if (columns < state.info.output_width) jpeg_crop_scanline(&state.info, &left, &columns);
    if (y > 0) jpeg_skip_scanlines(&state.info, static_cast<JDIMENSION>(y));
  });
  state.read_window(x - left, window, pixels);
}

JpegDecoder& thread_jpeg_decoder() {
  thread_local JpegDecoder decoder;
  return decoder;
}

}  // namespace penstock
