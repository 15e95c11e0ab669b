// Zip archives: the list of members at the end of the file, and the bytes of one of them.
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
  int64_t header_offset = 0;  // of its own header in the file
  int64_t stored_bytes = 0;   // in the file
  int64_t bytes = 0;          // unpacked
  uint32_t crc32 = 0;
  bool deflated = false;  // else stored as it is
};

// The members in the order of the list, names once each. DATA_LOSS for what is no whole archive,
// UNIMPLEMENTED for encrypted members and other ways of packing.
std::vector<ZipMember> read_zip_members(const File& file);

// The bytes of a member from front to back. For one thread; all calls block.
class ZipMemberStream {
 public:
  virtual ~ZipMemberStream() = default;
  // Fills `out` or throws DATA_LOSS, with file, member and offset; past the last byte too. The
  // checksum is compared behind the last byte.
  virtual void read(std::span<std::byte> out) = 0;
  // Bytes of the file read so far.
  virtual int64_t file_bytes_read() const = 0;
};

// `file` outlives the stream. A member that unpacks to more than `limit_bytes` is
// RESOURCE_EXHAUSTED; 0 stands for 64 MiB and 1100 times what is stored, which deflate cannot pass.
std::unique_ptr<ZipMemberStream> open_zip_member(const File& file, const ZipMember& member,
                                                 int64_t limit_bytes = 0);

}  // namespace penstock
