// Reads a file as one record.

#include "io/file_bytes.h"
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
      FileBytes file = read_file_bytes(path_, "open", kMaxRecordBytes);
      out->records.push_back({reinterpret_cast<const char*>(file.buffer.data()), file.size, 0});
      out->chunks.push_back(std::move(file.buffer));
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
