// Reads samples of tar archives.

#include "io/chunked_reader.h"
#include "io/tar.h"

namespace penstock {
namespace {

class TarReader final : public ChunkedReader {
 public:
  TarReader(std::string path, const ReaderOptions& options)
      : ChunkedReader("tar", std::move(path), options) {}

 private:
  int64_t take(RecordChunk* out, int64_t max_records) override {
    while (static_cast<int64_t>(out->records.size()) < max_records) {
      const auto at = static_cast<size_t>(begin_ + sample_);
      const TarMember member = read_tar_member({data() + at, static_cast<size_t>(end_) - at});
      switch (member.state) {
        case TarMember::State::end:
          give_sample(out);
          finish();
          return 0;
        case TarMember::State::bad:
          give_sample(out);
          fail_for_good(out, offset(), member.fault);
          return 0;
        case TarMember::State::cut:
          if (!belongs(member)) {
            give_sample(out);
            return 0;
          }
          if (sample_ + member.bytes > kMaxRecordBytes) {
            fail_for_good(out, offset(),
                          "the sample `" + member.name + "` belongs to has more than " +
                              std::to_string(kMaxRecordBytes) + " bytes");
            return 0;
          }
          return sample_ + member.bytes;
        case TarMember::State::whole: add(out, member);
      }
    }
    return 0;
  }

  // Returns whether the member belongs to the current sample, or no sample has begun.
  bool belongs(const TarMember& member) const {
    std::string_view key, extension;
    return sample_ == 0 || !member.is_file || !split_tar_name(member.name, &key, &extension) ||
           key == key_;
  }

  void add(RecordChunk* out, const TarMember& member) {
    if (!belongs(member)) give_sample(out);
    std::string_view key, extension;
    if (member.is_file && split_tar_name(member.name, &key, &extension)) {
      key_ = key;
      sample_ += member.bytes;
    } else if (sample_ > 0) {
      sample_ += member.bytes;  // skipped when the sample is split
    } else {
      begin_ += member.bytes;
    }
  }

  void give_sample(RecordChunk* out) {
    if (sample_ > 0) give(out, begin_, sample_, offset());
    begin_ += sample_;
    sample_ = 0;
  }

  void take_rest(RecordChunk* out) override {
    const int64_t left = available() - sample_;
    give_sample(out);
    fail(out, offset(),
         left > 0 ? "the file is cut: " + std::to_string(left) + " bytes of a member are there"
                  : "the archive has no end mark; it may be cut");
  }

  int64_t sample_ = 0;  // bytes of the current sample, from begin_
  std::string key_;
};

}  // namespace

std::unique_ptr<RecordReader> open_tar(std::string path, const ReaderOptions& options) {
  return std::make_unique<TarReader>(std::move(path), options);
}

}  // namespace penstock
