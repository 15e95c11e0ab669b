// Which file and record a row comes from, for errors: readers say which lineage a file's records
// begin with.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace penstock {

// Thread-safe. Keeps the files that were begun last.
class RecordPlaces {
 public:
  // Record i of the file has the lineage first + i.
  void note(uint64_t first, const std::string& path);
  // "FILE, record 3"; empty where the row is no record of a file.
  std::string of(uint64_t lineage) const;

 private:
  static constexpr size_t kMostFiles = 100'000;
  // Lineages of files are spread over 64 bits: a row so near to one is its record.
  static constexpr uint64_t kMostRecords = uint64_t{1} << 32;
  mutable std::mutex mutex_;
  std::map<uint64_t, std::string> files_;
  std::deque<uint64_t> order_;
};

}  // namespace penstock
