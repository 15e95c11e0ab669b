// A file as one record.

#include "io/file.h"
#include "io/record_reader.h"

namespace penstock {
namespace {

class WholeFileReader final : public RecordReader {
 public:
  explicit WholeFileReader(std::string path) : path_(std::move(path)) {}

  void read(RecordChunk* out, int64_t) override {
    *out = RecordChunk();
    out->end = std::exchange(done_, true);
    if (out->end) return;
    try {
      const File file(path_);
      if (file.size() > kMaxRecordBytes) {
        throw Error(Code::resource_exhausted,
                    path_ + ": the file has " + std::to_string(file.size()) +
                        " bytes, over the limit of " + std::to_string(kMaxRecordBytes));
      }
      BufferRef buffer = allocate_buffer(file.size());
      const int64_t got = file.pread({buffer.data(), static_cast<size_t>(file.size())}, 0);
      out->records.push_back({reinterpret_cast<const char*>(buffer.data()), got, 0});
      out->chunks.push_back(std::move(buffer));
    } catch (const Error& e) {
      out->error = std::make_shared<const Error>(e);
    }
  }

 private:
  const std::string path_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<RecordReader> open_whole_file(std::string path) {
  return std::make_unique<WholeFileReader>(std::move(path));
}

}  // namespace penstock
