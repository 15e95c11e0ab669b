// decompress: gzip, zlib and zstd in memory, up to a limit.

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

constexpr size_t kStep = 4 << 10;

[[noreturn]] void fail_data(const std::string& what) {
  throw Error(Code::data_loss, "decompress: " + what);
}

// Appends what write(room, size) makes, in steps; it gives how much it made. Throws past the limit.
class Growing {
 public:
  Growing(ChargedString* out, int64_t most) : out_(out), begin_(out->size()), most_(most) {}
  template <typename F>
  void step(F&& write) {
    const size_t before = out_->size(), made = before - begin_;
    const size_t room = std::max(kStep, made);
    out_->resize(before + room);
    out_->resize(before + write(out_->data() + before, room));
    if (static_cast<int64_t>(out_->size() - begin_) > most_) {
      throw Error(Code::resource_exhausted,
                  "decompress: more than max_bytes = " + std::to_string(most_) + " come out");
    }
  }

 private:
  ChargedString* out_;
  size_t begin_;
  int64_t most_;
};

struct EndInflate {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

// One member or stream; gives the bytes used.
size_t inflate_one(std::string_view text, int window_bits, Growing* out) {
  const std::unique_ptr<z_stream, EndInflate> stream(new z_stream{});
  if (inflateInit2(stream.get(), window_bits) != Z_OK) throw std::bad_alloc();
  constexpr size_t kMost = 1u << 30;
  size_t given = 0;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (stream->avail_in == 0) {
      const size_t n = std::min(kMost, text.size() - given);
      stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + given));
      stream->avail_in = static_cast<uInt>(n);
      given += n;
    }
    out->step([&](char* to, size_t room) {
      const size_t size = std::min(kMost, room);
      stream->next_out = reinterpret_cast<Bytef*>(to);
      stream->avail_out = static_cast<uInt>(size);
      status = inflate(stream.get(), Z_NO_FLUSH);
      return size - stream->avail_out;
    });
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      fail_data(stream->msg ? stream->msg : "bad data");
    if (status != Z_STREAM_END && stream->avail_in == 0 && stream->avail_out > 0 &&
        given == text.size())
      fail_data("the data is cut after " + std::to_string(text.size()) + " bytes");
  }
  return given - stream->avail_in;
}

void unzstd(std::string_view text, Growing* out) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  size_t hint = 1;
  bool full = false;
  while (in.pos < in.size || full) {
    out->step([&](char* to, size_t room) {
      ZSTD_outBuffer buffer{to, room, 0};
      hint = ZSTD_decompressStream(context.get(), &buffer, &in);
      if (ZSTD_isError(hint)) fail_data(ZSTD_getErrorName(hint));
      full = buffer.pos == buffer.size;
      return buffer.pos;
    });
  }
  if (hint != 0) fail_data("the data is cut after " + std::to_string(text.size()) + " bytes");
}

class Decompress final : public StringRewrite {
 public:
  explicit Decompress(const Attrs& attrs)
      : kind_(attrs["compression"].as_string()), most_(attrs["max_bytes"].as_int()) {}
  void append(std::string_view text, ChargedString* out) const override {
    if (kind_.empty()) return void(out->append(text));
    Growing growing(out, most_);
    if (kind_ == "ZSTD" && !text.empty()) return unzstd(text, &growing);
    const bool gzip = kind_ == "GZIP";
    for (bool first = true; !text.empty(); first = false) {
      if (!first && !gzip)
        fail_data(std::to_string(text.size()) + " bytes stand behind the end of the data");
      text.remove_prefix(inflate_one(text, gzip ? 31 : 15, &growing));
    }
  }

 private:
  std::string kind_;  // bounded: written in the pipeline
  int64_t most_;
};

Spec infer_decompress(const InferContext& context) {
  const std::string kind = context.attrs["compression"].as_string();
  if (!kind.empty() && kind != "GZIP" && kind != "ZLIB" && kind != "ZSTD") {
    throw TypeError{-1, "compression",
                    "must be \"GZIP\", \"ZLIB\", \"ZSTD\" or \"\": " + quoted(kind)};
  }
  if (context.attrs["max_bytes"].as_int() < 0)
    throw TypeError{-1, "max_bytes", "must not be negative"};
  return infer_string_rewrite(context);
}

}  // namespace

void add_decompress_op(OpRegistry* registry) {
  OpDef op = string_rewrite_op(
      "decompress",
      "s inflated: GZIP (of one or more members), ZLIB or ZSTD; RESOURCE_EXHAUSTED above max_bytes",
      {required("compression", Param::Kind::text),
       option("max_bytes", Param::Kind::integer, Attr::integer(int64_t{1} << 30))},
      [](const Attrs& attrs) -> std::shared_ptr<const StringRewrite> {
        return std::make_shared<Decompress>(attrs);
      });
  op.infer = infer_decompress;
  op.can_fail = true;
  op.cost_ns = 5000;
  op.group = "parse";
  registry->add(std::move(op));
}

}  // namespace penstock
