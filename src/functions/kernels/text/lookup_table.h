// Tables of keys and values: vocabularies, and lists of keys with numbers, strings or booleans.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/charged.h"
#include "functions/attr.h"

namespace penstock {

// A wrong argument of vocabulary(...) or table(...): which one (empty: the call as a whole), and
// what is wrong. The message stands by itself.
struct TableMistake {
  std::string param;    // bounded: a name
  std::string message;  // bounded: a message
  Code code = Code::invalid_argument;
};

// Immutable, shared by threads.
class LookupTable {
 public:
  struct Types {
    bool integer_keys = false;  // else bytes
    DType values = DType::int64;
  };
  // From vocabulary(...) or table(...) (plan/static_forms.h). Throws TableMistake.
  static Types types_of(const Attr& attr);

  // Throws Error: NOT_FOUND for a file that is not there, FAILED_PRECONDITION when a key stands for
  // two values, INVALID_ARGUMENT for other mistakes.
  static std::shared_ptr<const LookupTable> open(const Attr& attr);
  // Throws TableMistake for what open would refuse. A file that cannot be read yet is not looked
  // at: it is needed when the pipeline is opened.
  static void check(const Attr& attr);

  DType value_dtype() const { return types_.values; }
  int64_t size() const { return static_cast<int64_t>(words_.size()); }
  // The keys in order, each once; integers as decimal text.
  std::span<const std::string_view> words() const { return words_; }

  // The key's value, or what the table has for unknown ones; throws NOT_FOUND when it has nothing.
  // A number or boolean has its bytes at the beginning of the result; for a string it is the index
  // for text().
  int64_t find(std::string_view key) const;
  int64_t find(int64_t key) const;
  BytesView text(int64_t index) const { return texts_.entry<BytesView>(index); }
  const BufferRef& texts_buffer() const { return texts_.buffer(); }

 private:
  struct Slot {
    uint64_t hash = 0;
    const char* data = nullptr;  // null: free
    uint32_t size = 0;
    int64_t value = 0;  // as find returns it
  };
  void build(const Attr& attr);
  void read_default(const Attr& attr);
  void read_file(const Attr& attr);
  void read_literals(const Attr& attr);
  void add(std::string_view key, int64_t value);
  // The value as find returns it; strings are collected.
  int64_t value_of(const Tensor& values, int64_t i);
  int64_t parsed_value(std::string_view text, int64_t line, int64_t column);
  std::string spelled(int64_t value) const;  // bounded: a message
  int64_t unknown(std::string_view key) const;

  std::string name_;  // bounded: a name
  Types types_;
  Charge room_{0};       // of content_; for a file also of what is made of it
  std::string content_;  // bounded: counted by room_; what words point into
  ChargedVector<std::string_view> words_;
  ChargedVector<std::string_view> new_texts_;  // until texts_ is made of them
  Tensor texts_;                               // values of dtype bytes, the default last
  ChargedVector<Slot> slots_;
  bool has_default_ = false;
  int64_t default_ = 0;  // as find returns it
  int64_t oov_buckets_ = 0;
};

}  // namespace penstock
