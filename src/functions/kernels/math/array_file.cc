#include "functions/kernels/math/array_file.h"

#include <algorithm>

#include "base/error.h"
#include "data/npy_header.h"
#include "io/file.h"

namespace penstock {
namespace {

constexpr const char* kCaller = "load_array";
constexpr int64_t kMostRead = 1 << 20;  // larger files are mapped

// As many bytes as there are.
std::string bytes_of(const File& file, int64_t from, int64_t count) {  // bounded: a header
  std::string out(static_cast<size_t>(std::max<int64_t>(std::min(count, file.size() - from), 0)),
                  0);  // bounded: a header
  out.resize(static_cast<size_t>(file.pread(std::as_writable_bytes(std::span(out)), from)));
  return out;
}

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

Layout npy_layout(const std::string& path, const File& file, const std::string& start,
                  const ArrayFileOptions& options) {
  NpyHeader header;
  try {
    header = parse_npy_header(bytes_of(file, 0, npy_header_bytes(start)));
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

Layout layout_of(const std::string& path, const File& file, const ArrayFileOptions& options) {
  const std::string start = bytes_of(file, 0, kNpyPrefix);
  if (start.starts_with("\x93NUMPY")) return npy_layout(path, file, start, options);
  if (!options.dtype) fail(path, "is no .npy file; say what it holds: dtype=uint16");
  const int64_t bytes = dtype_size(*options.dtype);
  if (file.size() % bytes != 0) {
    fail(path, "has " + std::to_string(file.size()) + " bytes, no multiple of " +
                   std::to_string(bytes) + " for " + std::string(dtype_name(*options.dtype)));
  }
  return {*options.dtype, dims_of(path, options.shape, file.size() / bytes), 0};
}

}  // namespace

bool array_file_type(const std::string& path, const ArrayFileOptions& options, DType* dtype,
                     Dims* dims) {
  resolve_name(kCaller, path);
  if (file_status(path).kind == FileStatus::Kind::missing) return false;
  const Layout layout = layout_of(path, File(path, kCaller), options);
  *dtype = layout.dtype;
  *dims = layout.dims;
  return true;
}

Tensor open_array_file(const std::string& path, const ArrayFileOptions& options) {
  const File file(path, kCaller);
  const Layout layout = layout_of(path, file, options);
  const int64_t bytes = layout.dims.entries() * dtype_size(layout.dtype);
  if (file.size() > kMostRead && layout.begin % dtype_size(layout.dtype) == 0) {
    if (const std::byte* all = file.map())
      return Tensor(layout.dtype, layout.dims, BufferRef(),
                    const_cast<std::byte*>(all) + layout.begin);
  }
  const ScopedPool pool(nullptr);  // a constant outlives the pipeline that reads it
  Tensor out = Tensor::make(layout.dtype, layout.dims);
  const std::span all(out.mutable_data(), static_cast<size_t>(bytes));
  if (bytes > 0 && file.pread(all, layout.begin) != bytes)
    fail(path, "became shorter while it was read", Code::data_loss);
  if (layout.dtype == DType::boolean) {
    auto* entries = reinterpret_cast<uint8_t*>(out.mutable_data());
    for (int64_t i = 0; i < bytes; ++i) entries[i] = entries[i] != 0;
  }
  return out;
}

std::string array_file_identity(const std::string& path) {
  const File file(path, kCaller);
  if (file.size() <= kMostRead) return bytes_of(file, 0, file.size());
  constexpr int64_t kSecond = 1'000'000'000;
  const FileStatus& s = file.status();
  std::string out = std::to_string(s.bytes) + ":" + std::to_string(s.time_ns / kSecond) + "." +
                    std::to_string(s.time_ns % kSecond) + s.etag;  // bounded: a few numbers
  if (!s.etag.empty()) return out;
  constexpr int64_t kSamples = 64, kBytes = 4096;
  for (int64_t i = 0; i < kSamples; ++i)
    out += bytes_of(file, (file.size() - kBytes) / (kSamples - 1) * i, kBytes);
  return out;
}

}  // namespace penstock
