// Marks as structs: the state of a stage by name, and its encoding as numbers.
//
// The mark of an operator is a struct next to the cursor that sets it. It has a form and lists its
// fields once; writing and reading both go by this list, so they agree:
//
//     struct SkipMark {
//       static constexpr MarkForm kForm{"skip", 1};
//       int64_t left = 0;  // elements still to be skipped
//       static void fields(auto& mark, auto& f) { f.count("left", mark.left); }
//     };
//
// Cursor::set_mark writes it, OpenContext::resumed reads it. A field may depend on those before it
// (`if (mark.dealt) f.counts(...)`). Another version of the form has other fields, or the same
// with another meaning; marks of a form or version that the operator does not know are refused.
// Writing costs one pass over the fields and one recycled vector.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/recycled.h"

namespace penstock {

class StageMark;

struct MarkForm {
  std::string_view name;
  int version = 1;
};
// Longest name, so that a mark holds it without an allocation.
inline constexpr size_t kMostFormName = 15;

// Largest count that a mark may hold: half of what 64 bits hold, so that sums of two do not
// overflow.
inline constexpr int64_t kMostResumed = INT64_MAX / 2;

// Counts the numbers that the fields take.
class MarkSize {
 public:
  void number(const char*, int64_t) { ++numbers_; }
  void count(const char*, int64_t) { ++numbers_; }
  void flag(const char*, bool) { ++numbers_; }
  void id(const char*, uint64_t) { ++numbers_; }
  void counts(const char*, const std::vector<int64_t>& list) { numbers_ += 1 + list.size(); }
  void flags(const char*, const std::vector<bool>& list) { numbers_ += 1 + list.size(); }
  size_t numbers() const { return numbers_; }

 private:
  size_t numbers_ = 0;
};

class MarkWriter {
 public:
  explicit MarkWriter(RecycledVector<int64_t>* out) : out_(out) {}
  void number(const char*, int64_t value) { out_->push_back(value); }
  void count(const char*, int64_t value) { out_->push_back(value); }
  void flag(const char*, bool value) { out_->push_back(value ? 1 : 0); }
  void id(const char*, uint64_t value) { out_->push_back(static_cast<int64_t>(value)); }
  void counts(const char*, const std::vector<int64_t>& list) {
    out_->push_back(std::ssize(list));
    out_->insert(out_->end(), list.begin(), list.end());
  }
  void flags(const char*, const std::vector<bool>& list) {
    out_->push_back(std::ssize(list));
    for (const bool value : list) out_->push_back(value ? 1 : 0);
  }

 private:
  RecycledVector<int64_t>* const out_;
};

template <typename M>
RecycledVector<int64_t> encoded_mark(const M& mark) {
  static_assert(M::kForm.name.size() <= kMostFormName);
  MarkSize size;
  M::fields(mark, size);
  RecycledVector<int64_t> out;
  out.reserve(size.numbers());
  MarkWriter writer(&out);
  M::fields(mark, writer);
  return out;
}

// Reads what MarkWriter wrote, from a file that may be damaged: each function throws DATA_LOSS,
// naming the operator and the field, for a number that the field cannot have.
class MarkReader {
 public:
  // Throws FAILED_PRECONDITION, naming the operator, for another form or version.
  MarkReader(const StageMark& mark, const MarkForm& form);
  void number(const char* name, int64_t& to) { to = next(name); }
  void count(const char* name, int64_t& to);  // 0 to kMostResumed
  void flag(const char* name, bool& to);
  void id(const char* name, uint64_t& to) { to = static_cast<uint64_t>(next(name)); }
  void counts(const char* name, std::vector<int64_t>& to);
  void flags(const char* name, std::vector<bool>& to);
  void end() const;  // of the fields: no number is left

 private:
  int64_t next(const char* name);
  int64_t size(const char* name);
  [[noreturn]] void damaged(const std::string& what) const;

  const StageMark& mark_;
  const std::span<const int64_t> numbers_;
  size_t at_ = 0;
};

template <typename M>
M decoded_mark(const StageMark& mark) {
  M out;
  MarkReader reader(mark, M::kForm);
  M::fields(out, reader);
  reader.end();
  return out;
}

}  // namespace penstock
