// Compressions of snapshot chunks.

#include <isa-l/igzip_lib.h>
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>

#include "io/snapshot_layout.h"

namespace penstock::snapshot {
namespace {

std::string deflated(std::string_view content) {
  uLongf size = compressBound(content.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(content.data()), content.size(),
                               Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) throw std::bad_alloc();
  out.resize(size);
  return out;
}

bool inflate_to(std::span<const std::byte> stored, std::span<std::byte> content) {
  if (stored.size() > UINT32_MAX || content.size() > UINT32_MAX) return false;
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_ZLIB;
  state.next_in = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(stored.data()));
  state.avail_in = static_cast<uint32_t>(stored.size());
  state.next_out = reinterpret_cast<uint8_t*>(content.data());
  state.avail_out = static_cast<uint32_t>(content.size());
  return isal_inflate_stateless(&state) == ISAL_DECOMP_OK && state.avail_out == 0 &&
         state.avail_in == 0;
}

std::string lz4(std::string_view content) {
  const int most = LZ4_compressBound(static_cast<int>(content.size()));
  std::string out(static_cast<size_t>(most), '\0');
  out.resize(static_cast<size_t>(
      LZ4_compress_default(content.data(), out.data(), static_cast<int>(content.size()), most)));
  return out;
}

bool unlz4_to(std::span<const std::byte> stored, std::span<std::byte> content) {
  const int got = LZ4_decompress_safe(
      reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(content.data()),
      static_cast<int>(stored.size()), static_cast<int>(content.size()));
  return got == static_cast<int>(content.size());
}

bool unsnappy_to(std::span<const std::byte> stored, std::span<std::byte> content) {
  const auto* text = reinterpret_cast<const char*>(stored.data());
  size_t size = 0;
  return snappy::GetUncompressedLength(text, stored.size(), &size) && size == content.size() &&
         snappy::RawUncompress(text, stored.size(), reinterpret_cast<char*>(content.data()));
}

}  // namespace

uint32_t parse_packing(std::string_view word) {
  if (word.empty()) return 0;
  if (word == "LZ4" || word == "AUTO") return kLz4;
  if (word == "GZIP") return kGzip;
  if (word == "SNAPPY") return kSnappy;
  throw Error(Code::invalid_argument,
              "compression must be \"\", \"LZ4\", \"GZIP\", \"SNAPPY\" or \"AUTO\": \"" +
                  std::string(word) + "\"");
}

std::string packed(uint32_t flag, std::string_view content) {
  if (content.size() > LZ4_MAX_INPUT_SIZE) return {};
  std::string out;
  if (flag == kLz4) out = lz4(content);
  if (flag == kGzip) out = deflated(content);
  if (flag == kSnappy) snappy::Compress(content.data(), content.size(), &out);
  return out.size() < content.size() ? out : std::string();
}

bool unpack(uint32_t flag, std::span<const std::byte> stored, std::span<std::byte> content) {
  switch (flag) {
    case kLz4: return unlz4_to(stored, content);
    case kGzip: return inflate_to(stored, content);
    case kSnappy: return unsnappy_to(stored, content);
    default: return false;
  }
}

uint64_t most_expansion(uint32_t flag) { return flag == kGzip ? 1100 : 256; }

}  // namespace penstock::snapshot
