// Zip archives: the list of members at the end of the file, and the bytes of a member.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/file.h"

namespace penstock {

struct ZipMember {
  std::string name;
  int64_t header_offset = 0;  // offset of its own header in the file
  int64_t stored_bytes = 0;   // in the file
  int64_t bytes = 0;          // unpacked
  uint32_t crc32 = 0;
  bool deflated = false;  // else stored without compression
};

// Returns the members in the order of the list; names are unique. Throws DATA_LOSS if the archive
// is incomplete, UNIMPLEMENTED for encrypted members and other compressions.
std::vector<ZipMember> read_zip_members(const File& file);

// Bytes of a member from front to back. For one thread; all calls block.
class ZipMemberStream {
 public:
  virtual ~ZipMemberStream() = default;
  // Fills `out` or throws DATA_LOSS with file, member and offset, also past the last byte. Compares
  // the checksum after the last byte.
  virtual void read(std::span<std::byte> out) = 0;
  // Returns the bytes of the file read so far.
  virtual int64_t file_bytes_read() const = 0;
};

// `file` outlives the stream. Unpacking to more than `limit_bytes` is RESOURCE_EXHAUSTED; 0 means
// 64 MiB plus 1100 times the stored size, which deflate cannot exceed.
std::unique_ptr<ZipMemberStream> open_zip_member(const File& file, const ZipMember& member,
                                                 int64_t limit_bytes = 0);

}  // namespace penstock
