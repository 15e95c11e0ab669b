#include "functions/kernels/text/lookup_table.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/error.h"
#include "functions/kernels/text/fingerprint.h"
#include "functions/kernels/text/model_file.h"
#include "functions/kernels/text/strings.h"

namespace penstock {
namespace {

[[noreturn]] void fail(Code code, const std::string& what) { throw Error(code, what); }

uint64_t hash_of(std::string_view word) { return XXH3_64bits(word.data(), word.size()); }

const Attr& entry(const Attr& dict, std::string_view name) {
  static const Attr none;
  for (size_t i = 0; i < dict.keys().size(); ++i) {
    if (dict.keys()[i] == name) return dict.items()[i];
  }
  return none;
}

int64_t int_or(const Attr& attr, int64_t otherwise) {
  return attr.is_none() ? otherwise : attr.as_int();
}

// Column `index` of a line; -1: the whole line.
std::string_view column_of(std::string_view line, int64_t index, int64_t number) {
  if (index < 0) return line;
  size_t begin = 0;
  for (int64_t i = 0; i < index; ++i) {
    const size_t tab = line.find('\t', begin);
    if (tab == std::string_view::npos) {
      fail(Code::invalid_argument, "line " + std::to_string(number + 1) + " has no column " +
                                       std::to_string(index) + ": " + quoted(line));
    }
    begin = tab + 1;
  }
  return line.substr(begin, line.find('\t', begin) - begin);
}

std::vector<int64_t> integers_of(const Attr& attr) {
  std::vector<int64_t> out;
  if (attr.is_tensor()) {
    for (int64_t i = 0; i < attr.tensor().entries_count(); ++i)
      out.push_back(integer_at(attr.tensor(), i));
  }
  for (const Attr& item : attr.items()) out.push_back(item.as_int());
  return out;
}

}  // namespace

std::shared_ptr<const LookupTable> LookupTable::open(const Attr& attr) {
  const Attr& kind = entry(attr, "is");
  const std::string name = kind.is_tensor() ? kind.as_string() : "";
  if (name != "vocabulary" && name != "table")
    fail(Code::invalid_argument, "lookup: expected vocabulary(...) or table(...)");
  auto out = std::make_shared<LookupTable>();
  out->oov_buckets_ = int_or(entry(attr, "oov_buckets"), 0);
  out->has_default_ = !entry(attr, "default").is_none();
  out->default_ = int_or(entry(attr, "default"), 0);
  if (!entry(attr, "oov_buckets").is_none() && out->oov_buckets_ < 1 && !out->has_default_)
    fail(Code::invalid_argument, name + ": oov_buckets must be positive");
  if (name == "vocabulary") {
    out->read_file(attr);
  } else {
    out->read_literals(attr);
  }
  return out;
}

void LookupTable::read_file(const Attr& attr) {
  const std::string path = entry(attr, "file").as_string();
  name_ = "vocabulary " + path;
  content_ = read_model_file(path);
  slots_.resize(
      std::bit_ceil<size_t>(2 * static_cast<size_t>(std::ranges::count(content_, '\n')) + 16));
  const int64_t wanted = int_or(entry(attr, "size"), -1);
  const int64_t key_column = int_or(entry(attr, "key_column"), -1);
  const int64_t value_column = int_or(entry(attr, "value_column"), -1);
  const std::string_view all = content_;
  int64_t number = 0;
  for (size_t at = 0; at < all.size() && number != wanted; ++number) {
    const size_t end = std::min(all.find('\n', at), all.size());
    std::string_view line = all.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      fail(Code::invalid_argument, name_ + ": line " + std::to_string(number + 1) + " is empty");
    }
    int64_t value = number;
    if (value_column >= 0) {
      const std::string_view text = column_of(line, value_column, number);
      const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (code != std::errc() || stop != text.data() + text.size()) {
        fail(Code::invalid_argument, name_ + ": line " + std::to_string(number + 1) +
                                         " has no integer in column " +
                                         std::to_string(value_column) + ": " + quoted(text));
      }
    }
    add(column_of(line, key_column, number), value);
    at = end + 1;
  }
  if (number == 0) fail(Code::invalid_argument, name_ + ": the file is empty");
  if (wanted >= 0 && number < wanted) {
    fail(Code::invalid_argument,
         name_ + ": " + std::to_string(number) + " lines, size says " + std::to_string(wanted));
  }
}

void LookupTable::read_literals(const Attr& attr) {
  name_ = "table";
  const Attr& keys = entry(attr, "keys");
  std::vector<std::string> texts;
  if (keys.is_tensor() && keys.tensor().dtype() != DType::bytes) {
    integer_keys_ = true;
    for (const int64_t key : integers_of(keys)) texts.push_back(std::to_string(key));
  } else if (keys.is_tensor()) {
    for (int64_t i = 0; i < keys.tensor().entries_count(); ++i)
      texts.emplace_back(bytes_at(keys.tensor(), i));
  } else {
    for (const Attr& item : keys.items()) texts.push_back(item.as_string());
  }
  const bool counted = entry(attr, "values").is_none();
  const std::vector<int64_t> values = integers_of(entry(attr, "values"));
  if (!counted && values.size() != texts.size()) {
    fail(Code::invalid_argument, "table: " + std::to_string(texts.size()) + " keys, but " +
                                     std::to_string(values.size()) + " values");
  }
  slots_.resize(std::bit_ceil(2 * texts.size() + 16));
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  content_.reserve(bytes);  // words point into it: it must not move
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t begin = content_.size();
    content_ += texts[i];
    add(std::string_view(content_).substr(begin), counted ? static_cast<int64_t>(i) : values[i]);
  }
}

void LookupTable::add(std::string_view word, int64_t value) {
  const uint64_t hash = hash_of(word);
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].data; at = (at + 1) & mask) {
    if (std::string_view(slots_[at].data, slots_[at].size) != word) continue;
    if (slots_[at].value == value) return;
    fail(Code::failed_precondition, name_ + ": " + quoted(word) + " stands for " +
                                        std::to_string(slots_[at].value) + " and for " +
                                        std::to_string(value));
  }
  slots_[at] = {hash, word.data(), static_cast<uint32_t>(word.size()), value};
  words_.push_back(word);
}

int64_t LookupTable::find(std::string_view word) const {
  const uint64_t hash = hash_of(word);
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].data; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && std::string_view(slot.data, slot.size) == word) return slot.value;
  }
  return unknown(word);
}

int64_t LookupTable::unknown(std::string_view word) const {
  if (oov_buckets_ > 0) {
    return size() +
           static_cast<int64_t>(farm_fingerprint64(word) % static_cast<uint64_t>(oov_buckets_));
  }
  if (has_default_) return default_;
  fail(Code::not_found, "lookup: " + quoted(word) + " is not in the " + name_ +
                            "; give it a default or oov_buckets");
}

}  // namespace penstock
