#include "io/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/open_file.h"

namespace penstock {
namespace {

FileDescriptor open_local(const std::string& name) {
  try {
    return std::move(open_regular("open", name).fd);
  } catch (const Error&) {
    return FileDescriptor(-1);
  }
}

}  // namespace

CachedBytes in_page_cache(const std::string& name) {
  CachedBytes out;
  const FileDescriptor fd = open_local(name);
  const int64_t bytes = fd.is_open() ? ::lseek(fd.get(), 0, SEEK_END) : 0;
  if (bytes <= 0) return out;
  const auto size = static_cast<size_t>(bytes);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return out;
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> pages(static_cast<size_t>((bytes + page - 1) / page));
  if (::mincore(memory, size, pages.data()) == 0) {
    out.bytes = bytes;
    for (const unsigned char p : pages) out.cached += (p & 1) * page;
    out.cached = std::min(out.cached, bytes);
  }
  ::munmap(memory, size);
  return out;
}

void drop_from_page_cache(const std::string& name) {
  const FileDescriptor fd = open_local(name);
  if (fd.is_open()) ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace penstock
