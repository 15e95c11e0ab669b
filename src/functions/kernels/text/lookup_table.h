// Words to numbers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "functions/attr.h"

namespace penstock {

// Immutable, shared by threads.
class LookupTable {
 public:
  // From vocabulary(...) or table(...) (plan/static_forms.h). Throws Error: NOT_FOUND for a file
  // that is not there, INVALID_ARGUMENT for one that is no vocabulary, FAILED_PRECONDITION when a
  // word stands twice with different numbers.
  static std::shared_ptr<const LookupTable> open(const Attr& attr);

  bool integer_keys() const { return integer_keys_; }
  int64_t size() const { return static_cast<int64_t>(words_.size()); }
  // In order, each once.
  const std::vector<std::string_view>& words() const { return words_; }
  // The word's number, or what the table has for unknown ones; throws NOT_FOUND when it has
  // nothing.
  int64_t find(std::string_view word) const;

 private:
  struct Slot {
    uint64_t hash = 0;
    const char* data = nullptr;  // null: free
    uint32_t size = 0;
    int64_t value = 0;
  };
  void read_file(const Attr& attr);
  void read_literals(const Attr& attr);
  void add(std::string_view word, int64_t value);
  int64_t unknown(std::string_view word) const;

  std::string name_;
  std::string content_;  // what words point into
  std::vector<std::string_view> words_;
  std::vector<Slot> slots_;
  bool integer_keys_ = false;
  bool has_default_ = false;
  int64_t default_ = 0;
  int64_t oov_buckets_ = 0;
};

}  // namespace penstock
