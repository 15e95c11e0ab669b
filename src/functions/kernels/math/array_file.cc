#include "functions/kernels/math/array_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <tuple>

#include "base/error.h"
#include "base/fork.h"
#include "base/open_file.h"
#include "data/npy_header.h"

namespace penstock {
namespace {

constexpr int64_t kMostRead = 1 << 20;  // larger files are mapped

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : path_(path), opened_(open_regular("load_array", path)) {}

  int fd() const { return opened_.fd.get(); }
  int64_t size() const { return status().st_size; }
  const struct stat& status() const { return opened_.status; }
  // As many bytes as there are.
  int64_t read(void* to, int64_t bytes, int64_t at) const {
    int64_t done = 0;
    while (done < bytes) {
      const ssize_t n = ::pread(fd(), static_cast<char*>(to) + done,
                                static_cast<size_t>(bytes - done), at + done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw system_error("read", path_, errno);
      if (n == 0) break;
      done += n;
    }
    return done;
  }
  std::string bytes(int64_t from, int64_t count) const {  // bounded: a header
    std::string out(static_cast<size_t>(std::max<int64_t>(std::min(count, size() - from), 0)),
                    0);  // bounded: a header
    out.resize(static_cast<size_t>(read(out.data(), static_cast<int64_t>(out.size()), from)));
    return out;
  }

 private:
  std::string path_;  // bounded: a name
  OpenedFile opened_;
};

[[noreturn]] void fail(const std::string& path, const std::string& what,
                       Code code = Code::invalid_argument) {
  throw Error(code, "load_array: " + path + ": " + what);
}

struct Layout {
  DType dtype = DType::float32;
  Dims dims;
  int64_t begin = 0;
};

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";  // bounded: the header
  for (const int64_t size : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(size);
  return out + "]";
}

// The dims that `entries` numbers have under the shape that was asked for.
Dims dims_of(const std::string& path, const std::vector<int64_t>& shape, int64_t entries) {
  int64_t known = 1;
  for (const int64_t size : shape) {
    if (size >= 0 && __builtin_mul_overflow(known, size, &known)) known = -1;
    if (known < 0) break;
  }
  const auto open = std::ranges::count(shape, -1);
  const bool fits =
      known >= 0 && (open == 0 ? known == entries : known > 0 && entries % known == 0);
  if (!fits) {
    fail(path, "holds " + std::to_string(entries) + " numbers, which do not fill the shape " +
                   shape_text(shape));
  }
  Dims out;
  for (const int64_t size : shape) out.push_back(size < 0 ? entries / known : size);
  return out;
}

Layout npy_layout(const std::string& path, const OpenFile& file, const std::string& start,
                  const ArrayFileOptions& options) {
  NpyHeader header;
  try {
    header = parse_npy_header(file.bytes(0, npy_header_bytes(start)));
  } catch (const Error& e) {
    fail(path, e.message(), e.code());
  }
  if (options.dtype && *options.dtype != header.dtype) {
    fail(path, "holds " + std::string(dtype_name(header.dtype)) + ", dtype says " +
                   std::string(dtype_name(*options.dtype)) + "; leave dtype out, and cast");
  }
  Layout out{header.dtype, header.row.with_front(header.rows), header.bytes};
  const int64_t bytes = out.dims.entries() * dtype_size(out.dtype);
  if (file.size() - out.begin < bytes) {
    fail(path,
         "is cut: its header says " + std::to_string(bytes) + " bytes of numbers, there are " +
             std::to_string(file.size() - out.begin),
         Code::data_loss);
  }
  if (options.shape != std::vector<int64_t>{-1})
    out.dims = dims_of(path, options.shape, out.dims.entries());
  return out;
}

Layout layout_of(const std::string& path, const OpenFile& file, const ArrayFileOptions& options) {
  const std::string start = file.bytes(0, kNpyPrefix);
  if (start.starts_with("\x93NUMPY")) return npy_layout(path, file, start, options);
  if (!options.dtype) fail(path, "is no .npy file; say what it holds: dtype=uint16");
  const int64_t bytes = dtype_size(*options.dtype);
  if (file.size() % bytes != 0) {
    fail(path, "has " + std::to_string(file.size()) + " bytes, no multiple of " +
                   std::to_string(bytes) + " for " + std::string(dtype_name(*options.dtype)));
  }
  return {*options.dtype, dims_of(path, options.shape, file.size() / bytes), 0};
}

// One mapping of each file as it is now, kept: entries of elements may point into it.
std::byte* mapping_of(const std::string& path, const OpenFile& file) {
  using Key = std::tuple<dev_t, ino_t, int64_t, int64_t, int64_t>;
  static auto* mutex = new ForkMutex;
  static auto* mappings = new std::map<Key, std::byte*>;
  const struct stat& s = file.status();
  const Key key{s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
  const std::lock_guard lock(*mutex);
  std::byte*& at = (*mappings)[key];
  if (!at) {
    void* memory =
        mmap(nullptr, static_cast<size_t>(file.size()), PROT_READ, MAP_SHARED, file.fd(), 0);
    if (memory == MAP_FAILED) {
      const int code = errno;
      mappings->erase(key);
      throw system_error("map", path, code);
    }
    at = static_cast<std::byte*>(memory);
  }
  return at;
}

}  // namespace

bool array_file_type(const std::string& path, const ArrayFileOptions& options, DType* dtype,
                     Dims* dims) {
  if (access(system_path("load_array", path), F_OK) != 0 && errno == ENOENT) return false;
  const Layout layout = layout_of(path, OpenFile(path), options);
  *dtype = layout.dtype;
  *dims = layout.dims;
  return true;
}

Tensor open_array_file(const std::string& path, const ArrayFileOptions& options) {
  const OpenFile file(path);
  const Layout layout = layout_of(path, file, options);
  const int64_t bytes = layout.dims.entries() * dtype_size(layout.dtype);
  if (file.size() > kMostRead && layout.begin % dtype_size(layout.dtype) == 0)
    return Tensor(layout.dtype, layout.dims, BufferRef(), mapping_of(path, file) + layout.begin);
  const ScopedPool pool(nullptr);  // a constant outlives the pipeline that reads it
  Tensor out = Tensor::make(layout.dtype, layout.dims);
  if (bytes > 0 && file.read(out.mutable_data(), bytes, layout.begin) != bytes)
    fail(path, "became shorter while it was read", Code::data_loss);
  if (layout.dtype == DType::boolean) {
    auto* entries = reinterpret_cast<uint8_t*>(out.mutable_data());
    for (int64_t i = 0; i < bytes; ++i) entries[i] = entries[i] != 0;
  }
  return out;
}

std::string array_file_identity(const std::string& path) {
  const OpenFile file(path);
  if (file.size() <= kMostRead) return file.bytes(0, file.size());
  const struct stat& s = file.status();
  std::string out = std::to_string(file.size()) + ":" + std::to_string(s.st_mtim.tv_sec) +
                    "." +  // bounded: a few numbers
                    std::to_string(s.st_mtim.tv_nsec);
  constexpr int64_t kSamples = 64, kBytes = 4096;
  for (int64_t i = 0; i < kSamples; ++i)
    out += file.bytes((file.size() - kBytes) / (kSamples - 1) * i, kBytes);
  return out;
}

}  // namespace penstock
