// read_file: the bytes of a file, read when its row is computed. The file is no part of the
// pipeline's identity: what stands under one name is taken not to change.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "functions/kernels/op_def.h"
#include "functions/kernels/parse/parse_family.h"

namespace penstock {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 32;

[[noreturn]] void fail(const std::string& path, Code code, const std::string& what) {
  throw Error(code, "read_file: " + path + ": " + what);
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) {
      const Error e = system_error("read_file", path, errno);
      throw Error(e.code(), e.message() + "; relative names begin in the working directory");
    }
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Spec infer_read_file(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  context.check_rank(0, 0);
  return Spec::tensor(DType::bytes, type.shape);
}

void read_file_row(const RowCall& call) {
  const std::string path(bytes_at(call.inputs[0]));
  if (path.find('\0') != std::string::npos)
    fail(path, Code::invalid_argument, "a name holds no zero byte");
  const Descriptor file(path);
  struct stat status{};
  if (fstat(file.fd(), &status) != 0) throw system_error("read_file", path, errno);
  if (!S_ISREG(status.st_mode)) fail(path, Code::invalid_argument, "not a regular file");
  const int64_t size = status.st_size;
  if (size > kMostBytes)
    fail(path, Code::resource_exhausted, "has " + std::to_string(size) + " bytes, too many");
  const BufferRef buffer = allocate_buffer(std::max<int64_t>(size, 1));
  int64_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(file.fd(), buffer.data() + done, static_cast<size_t>(size - done), done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("read_file", path, errno);
    if (n == 0) fail(path, Code::data_loss, "became shorter while it was read");
    done += n;
  }
  OutputSlot& slot = call.outputs[0];
  *slot.allocate_as<BytesView>({}) = BytesView{reinterpret_cast<const char*>(buffer.data()), size};
  slot.keep(buffer);
}

}  // namespace

void add_read_file_op(OpRegistry* registry) {
  OpDef op = op_def("read_file", "the bytes of the file of this name", {tensor_param("path")},
                    infer_read_file, read_file_row, {"parse", 20'000, true});
  op.large_rows = true;
  registry->add(std::move(op));
}

}  // namespace penstock
