#include "functions/kernels/text/lookup_table.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "functions/kernels/math/convert.h"
#include "functions/kernels/text/fingerprint.h"
#include "functions/kernels/text/model_file.h"
#include "functions/kernels/text/number_text.h"
#include "functions/kernels/text/strings.h"
#include "io/file_system.h"

namespace penstock {
namespace {

// Columns of a line that are none of its fields.
constexpr int64_t kWholeLine = -1, kLineNumber = -2;

[[noreturn]] void fail(std::string param, std::string message, Code code = Code::invalid_argument) {
  throw TableMistake{std::move(param), std::move(message), code};
}

uint64_t hash_of(std::string_view word) { return XXH3_64bits(word.data(), word.size()); }

const Attr& entry(const Attr& dict, std::string_view name) {
  static const Attr none;
  for (size_t i = 0; i < dict.keys().size(); ++i) {
    if (dict.keys()[i] == name) return dict.items()[i];
  }
  return none;
}

bool is_text(const Attr& attr) {
  return attr.is_tensor() && attr.tensor().dtype() == DType::bytes &&
         attr.tensor().dims().rank() == 0;
}

bool is_file(const Attr& attr) { return entry(attr, "is").as_string() == "vocabulary"; }

std::string name_of(DType dtype) { return std::string(dtype_name(dtype)); }

int64_t integer(const Attr& attr, std::string_view param, int64_t otherwise) {
  const Attr& given = entry(attr, param);
  if (given.is_none()) return otherwise;
  const bool good =
      given.is_tensor() && is_integer(given.tensor().dtype()) && given.tensor().dims().rank() == 0;
  if (!good) fail(std::string(param), std::string(param) + " must be a constant integer");
  return given.as_int();
}

int64_t column_of(const Attr& attr, const std::string& param, int64_t otherwise) {
  const Attr& given = entry(attr, param);
  if (given.is_none()) return otherwise;
  if (is_text(given) && given.as_string() == "whole_line") return kWholeLine;
  if (is_text(given) && given.as_string() == "line_number") return kLineNumber;
  if (is_text(given)) {
    fail(param, param + " must be a number, \"whole_line\" or \"line_number\": " +
                    quoted(given.as_string()));
  }
  const int64_t column = integer(attr, param, 0);
  if (column < 0) fail(param, param + " must not be negative: " + std::to_string(column));
  return column;
}

// The dtype of one side of a file; `plain` where nothing says so.
DType side_dtype(const Attr& attr, const std::string& side, int64_t column) {
  const Attr& given = entry(attr, side + "_dtype");
  if (!given.is_none() && given.kind() != Attr::Kind::dtype)
    fail(side + "_dtype", side + "_dtype must be a dtype: int64, float32, bytes, ...");
  const DType only = column == kWholeLine ? DType::bytes : DType::int64;
  const DType plain = side == "key" ? DType::bytes : DType::int64;
  if (given.is_none()) return column < 0 ? only : plain;
  if (column < 0 && given.as_dtype() != only) {
    fail(side + "_dtype", side + "_dtype is " + name_of(given.as_dtype()) + ", but the " +
                              (column == kWholeLine ? "whole line" : "line number") + " is " +
                              name_of(only) + "; name a field with " + side + "_column");
  }
  return given.as_dtype();
}

// A list of constants as one tensor; the list that holds nothing is none.
std::optional<Tensor> listed(const Attr& attr, const std::string& param) {
  const Attr& given = entry(attr, param);
  if (given.is_tensor() && given.tensor().dims().rank() == 1 && !given.tensor().object())
    return given.tensor();
  if (given.kind() == Attr::Kind::list && given.items().empty()) return std::nullopt;
  fail(param, param + " must be a list of constants of one dtype");
}

LookupTable::Types file_types(const Attr& attr) {
  if (!is_text(entry(attr, "file"))) fail("file", "file must be a constant string");
  const DType keys = side_dtype(attr, "key", column_of(attr, "key_column", kWholeLine));
  if (keys != DType::bytes && !is_integer(keys))
    fail("key_dtype", "key_dtype must be bytes or an integer: " + name_of(keys));
  const DType values = side_dtype(attr, "value", column_of(attr, "value_column", kLineNumber));
  if (const Attr& delimiter = entry(attr, "delimiter"); !delimiter.is_none()) {
    if (!is_text(delimiter) || delimiter.as_string().size() != 1)
      fail("delimiter", "delimiter must be one character");
  }
  return {keys != DType::bytes, values};
}

LookupTable::Types list_types(const Attr& attr) {
  LookupTable::Types out;
  const std::optional<Tensor> keys = listed(attr, "keys");
  const DType dtype = keys ? keys->dtype() : DType::bytes;
  if (dtype != DType::bytes && !is_integer(dtype))
    fail("keys", "keys must be bytes or integers: " + name_of(dtype));
  out.integer_keys = dtype != DType::bytes;
  int64_t count = -1;
  if (!entry(attr, "values").is_none()) {
    const std::optional<Tensor> values = listed(attr, "values");
    count = values ? values->entries_count() : 0;
    if (values) out.values = values->dtype();
  }
  const int64_t wanted = keys ? keys->entries_count() : 0;
  if (count >= 0 && count != wanted) {
    fail("values", std::to_string(wanted) + " keys, but " + std::to_string(count) + " values");
  }
  return out;
}

// A number as one of another dtype, as literals are: false where it is none of it.
bool fits(const Tensor& from, DType to) {
  if (from.dtype() == to) return true;
  if (is_float(from.dtype())) return is_float(to);
  if (!is_integer(from.dtype()) || !is_number(to)) return false;
  return is_float(to) || integer_at(converted(from, to)) == integer_at(from);
}

std::string_view field_of(std::string_view line, int64_t index, char delimiter, int64_t number) {
  size_t begin = 0;
  for (int64_t i = 0; i < index; ++i) {
    const size_t at = line.find(delimiter, begin);
    if (at == std::string_view::npos) {
      fail("file", "line " + std::to_string(number + 1) + " has no column " +
                       std::to_string(index) + ": " + quoted(line));
    }
    begin = at + 1;
  }
  return line.substr(begin, line.find(delimiter, begin) - begin);
}

}  // namespace

LookupTable::Types LookupTable::types_of(const Attr& attr) {
  const Attr& kind = entry(attr, "is");
  const std::string name = is_text(kind) ? kind.as_string() : "";
  if (name != "vocabulary" && name != "table") fail("", "expected vocabulary(...) or table(...)");
  const Types out = name == "vocabulary" ? file_types(attr) : list_types(attr);
  const Attr& given = entry(attr, "default");
  const bool has_default = !given.is_none();
  if (has_default) {
    const bool scalar = given.is_tensor() && given.tensor().dims().rank() == 0;
    if (!scalar || given.tensor().object()) fail("default", "default must be one constant");
    if (!fits(given.tensor(), out.values)) {
      fail("default", "default is " + name_of(given.tensor().dtype()) + ", the values are " +
                          name_of(out.values));
    }
  }
  const int64_t buckets = integer(attr, "oov_buckets", 0);
  if (buckets < 0 || (buckets == 0 && !entry(attr, "oov_buckets").is_none() && !has_default))
    fail("oov_buckets", "oov_buckets must be positive: " + std::to_string(buckets));
  if (buckets > 0 && out.values != DType::int64) {
    fail("oov_buckets",
         "oov_buckets number the unknown, but the values are " + name_of(out.values));
  }
  return out;
}

std::shared_ptr<const LookupTable> LookupTable::open(const Attr& attr) {
  auto out = std::make_shared<LookupTable>();
  try {
    out->build(attr);
  } catch (const TableMistake& e) {
    throw Error(e.code, (out->name_.empty() ? "lookup" : out->name_) + ": " + e.message);
  }
  return out;
}

void LookupTable::check(const Attr& attr) {
  types_of(attr);
  if (is_file(attr)) {
    // A name with a zero byte names no file: reading it says so.
    const std::string& name = entry(attr, "file").as_string();
    if (name.find('\0') == std::string::npos && !file_status(name).is_file()) return;
  }
  LookupTable().build(attr);
}

void LookupTable::build(const Attr& attr) {
  types_ = types_of(attr);
  name_ = is_file(attr) ? "vocabulary " + entry(attr, "file").as_string() : "table";
  oov_buckets_ = integer(attr, "oov_buckets", 0);
  if (is_file(attr)) {
    read_file(attr);
  } else {
    read_literals(attr);
  }
  if (const Attr& given = entry(attr, "default"); !given.is_none()) {
    has_default_ = true;
    default_ = value_of(converted(given.tensor(), types_.values), 0);
  }
  texts_ = Tensor::of_strings(new_texts_);
  new_texts_ = {};
}

int64_t LookupTable::value_of(const Tensor& values, int64_t i) {
  if (types_.values == DType::bytes) {
    new_texts_.push_back(bytes_at(values, i));
    return static_cast<int64_t>(new_texts_.size()) - 1;
  }
  int64_t out = 0;
  const int64_t bytes = dtype_size(types_.values);
  std::memcpy(&out, values.data() + i * bytes, static_cast<size_t>(bytes));
  return out;
}

int64_t LookupTable::parsed_value(std::string_view text, int64_t line, int64_t column) {
  if (types_.values == DType::bytes) {
    new_texts_.push_back(text);
    return static_cast<int64_t>(new_texts_.size()) - 1;
  }
  int64_t out = 0;
  auto* bytes = reinterpret_cast<std::byte*>(&out);
  bool good = false;
  if (types_.values == DType::boolean) {
    good = text == "true" || text == "false" || text == "1" || text == "0";
    out = text == "true" || text == "1" ? 1 : 0;
  } else {
    good = read_number(text, types_.values, bytes);
  }
  if (!good) {
    fail("file", "line " + std::to_string(line + 1) + " has no " + name_of(types_.values) +
                     " in column " + std::to_string(column) + ": " + quoted(text));
  }
  return out;
}

void LookupTable::read_file(const Attr& attr) {
  const std::string path = entry(attr, "file").as_string();
  try {
    ModelFile read = read_model_file(path);
    room_ = std::move(read.room);
    content_ = std::move(read.bytes);
  } catch (const Error& e) {
    name_ = "vocabulary";
    fail("file", e.message(), e.code());
  }
  slots_.resize(
      std::bit_ceil<size_t>(2 * static_cast<size_t>(std::ranges::count(content_, '\n')) + 16));
  const int64_t wanted = integer(attr, "size", -1);
  const int64_t key_column = column_of(attr, "key_column", kWholeLine);
  const int64_t value_column = column_of(attr, "value_column", kLineNumber);
  const Attr& given = entry(attr, "delimiter");
  const char delimiter = given.is_none() ? '\t' : given.as_string()[0];
  const std::string_view all = content_;
  std::string numbers;  // bounded: by the file; integer keys as they are looked up
  ChargedVector<std::pair<size_t, int64_t>> ends;
  int64_t number = 0;
  for (size_t at = 0; at < all.size() && number != wanted; ++number) {
    const size_t end = std::min(all.find('\n', at), all.size());
    std::string_view line = all.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) fail("file", "line " + std::to_string(number + 1) + " is empty");
    int64_t value = number;
    if (value_column == kWholeLine) {
      value = parsed_value(line, number, value_column);
    } else if (value_column != kLineNumber) {
      value = parsed_value(field_of(line, value_column, delimiter, number), number, value_column);
    }
    if (!types_.integer_keys) {
      add(key_column < 0 ? line : field_of(line, key_column, delimiter, number), value);
    } else {
      int64_t key = number;
      if (key_column >= 0) {
        const std::string_view text = field_of(line, key_column, delimiter, number);
        if (!read_number(text, DType::int64, reinterpret_cast<std::byte*>(&key))) {
          fail("file", "line " + std::to_string(number + 1) + " has no integer in column " +
                           std::to_string(key_column) + ": " + quoted(text));
        }
      }
      numbers += std::to_string(key);
      ends.emplace_back(numbers.size(), value);
    }
    at = end + 1;
  }
  if (number == 0) fail("file", "the file is empty");
  if (wanted >= 0 && number < wanted) {
    fail("size", std::to_string(number) + " lines, size says " + std::to_string(wanted));
  }
  if (!types_.integer_keys) return;
  texts_ = Tensor::of_strings(new_texts_);  // values may point into what is let go here
  for (size_t i = 0; i < new_texts_.size(); ++i)
    new_texts_[i] = bytes_at(texts_, static_cast<int64_t>(i));
  content_ = std::move(numbers);
  size_t begin = 0;
  for (const auto& [end, value] : ends) {
    add(std::string_view(content_).substr(begin, end - begin), value);
    begin = end;
  }
}

void LookupTable::read_literals(const Attr& attr) {
  const std::optional<Tensor> keys = listed(attr, "keys");
  std::optional<Tensor> values;
  if (!entry(attr, "values").is_none()) values = listed(attr, "values");
  const int64_t count = keys ? keys->entries_count() : 0;
  char digits[24];
  const auto text = [&](int64_t i) -> std::string_view {
    if (!types_.integer_keys) return bytes_at(*keys, i);
    return {digits, std::to_chars(digits, digits + sizeof(digits), integer_at(*keys, i)).ptr};
  };
  size_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) bytes += text(i).size();
  slots_.resize(std::bit_ceil(2 * static_cast<size_t>(count) + 16));
  room_ = Charge(static_cast<int64_t>(bytes));
  content_.reserve(bytes);  // words point into it: it must not move
  words_.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const size_t begin = content_.size();
    content_ += text(i);
    add(std::string_view(content_).substr(begin), values ? value_of(*values, i) : i);
  }
}

std::string LookupTable::spelled(int64_t value) const {
  if (types_.values == DType::bytes) return quoted(new_texts_[static_cast<size_t>(value)]);
  if (types_.values == DType::boolean) return value ? "true" : "false";
  Tensor one = Tensor::make(types_.values, {});
  std::memcpy(one.mutable_data(), &value, static_cast<size_t>(one.data_bytes()));
  if (is_integer(types_.values)) return std::to_string(integer_at(one));
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number_at(one)).ptr};
}

void LookupTable::add(std::string_view word, int64_t value) {
  const uint64_t hash = hash_of(word);
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].data; at = (at + 1) & mask) {
    if (std::string_view(slots_[at].data, slots_[at].size) != word) continue;
    const std::string before = spelled(slots_[at].value), now = spelled(value);
    if (before == now) return;
    fail(name_ == "table" ? "keys" : "file",
         (types_.integer_keys ? std::string(word) : quoted(word)) + " stands for " + before +
             " and for " + now,
         Code::failed_precondition);
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

int64_t LookupTable::find(int64_t key) const {
  char text[24];
  const char* const end = std::to_chars(text, text + sizeof(text), key).ptr;
  return find(std::string_view(text, static_cast<size_t>(end - text)));
}

int64_t LookupTable::unknown(std::string_view word) const {
  if (oov_buckets_ > 0) {
    return size() +
           static_cast<int64_t>(farm_fingerprint64(word) % static_cast<uint64_t>(oov_buckets_));
  }
  if (has_default_) return default_;
  throw Error(Code::not_found,
              "lookup: " + (types_.integer_keys ? std::string(word) : quoted(word)) +
                  " is not in the " + name_ + "; give it a default" +
                  (types_.values == DType::int64 ? " or oov_buckets" : ""));
}

}  // namespace penstock
