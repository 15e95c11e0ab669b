#include "io/decoding_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/origin_text.h"

namespace penstock {
namespace {

constexpr int64_t kInputBytes = (256 << 10) - 64;
constexpr int64_t kMostExpansion = 1100;
constexpr int64_t kAlwaysAllowed = 64 << 20;

}  // namespace

DecodingStream::DecodingStream(std::string what, std::string path, int64_t limit_bytes)
    : what_(std::move(what)), in_(std::move(path)), limit_bytes_(limit_bytes) {
  if (limit_bytes_ <= 0) {
    const int64_t size = std::min(in_.file().size(), INT64_MAX / 2 / kMostExpansion);
    limit_bytes_ = kAlwaysAllowed + kMostExpansion * size;
  }
}

int64_t DecodingStream::read(std::span<std::byte> out) {
  if (error_) throw Error(*std::exchange(error_, nullptr));
  size_t done = 0;
  try {
    while (done < out.size() && !ended_) {
      const bool more = fill();
      const size_t written = decode(out.subspan(done), more);
      done += written;
      given_ += static_cast<int64_t>(written);
      if (given_ > limit_bytes_) {
        throw Error(Code::resource_exhausted,
                    at_offset(in_.file().path(), file_bytes_read()) + " of " +
                        std::to_string(in_.file().size()) + ": the file gives more than " +
                        std::to_string(limit_bytes_) +
                        " bytes; if it is meant to, raise max_decompressed_bytes");
      }
    }
  } catch (...) {
    ended_ = true;
    if (done == 0) throw;
    error_ = current_error();
  }
  return static_cast<int64_t>(done);
}

// Returns false at the end of the file.
bool DecodingStream::fill() {
  if (available_ > 0) return true;
  if (!input_) input_ = allocate_buffer(std::min(kInputBytes, kHead + in_.file().size() + 1));
  std::byte* const begin = input_.data() + kHead;
  if (next_) std::memmove(input_.data(), next_ - kHead, kHead);
  const auto room = static_cast<size_t>(std::min(input_.capacity(), kInputBytes) - kHead);
  const int64_t got = in_.read({begin, room});
  position_ += got;
  next_ = reinterpret_cast<uint8_t*>(begin);
  available_ = static_cast<size_t>(got);
  return got > 0;
}

void DecodingStream::fail_after(size_t written, const std::string& reason) {
  try {
    fail(reason);
  } catch (const Error& e) {
    if (written == 0) throw;
    error_ = std::make_shared<const Error>(e);
    ended_ = true;
  }
}

void DecodingStream::fail(const std::string& reason) const {
  throw Error(Code::data_loss, at_offset(in_.file().path(), file_bytes_read()) + " of " +
                                   std::to_string(in_.file().size()) + ": " + what_ + reason);
}

}  // namespace penstock
