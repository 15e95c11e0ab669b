// Delimiters are found eight bytes at a time; numbers of the usual kind (some digits, a point)
// are made by integer arithmetic that is exact, all others by the standard library. Strings are
// views into the text; the doubled quotes of a quoted field are joined in place.

#include "datasets/csv_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "data/optional.h"
#include "functions/kernels/text/parse_number.h"

namespace penstock {
namespace {

struct Field {
  const char* begin;
  const char* end;
  const char* fault;  // what is wrong with it, or null
};

// Digits with at most one point and a sign: exact as long as both parts fit the format's digits.
template <typename T>
inline bool plain_decimal(const char* p, const char* end, T* out) {
  constexpr bool kSingle = sizeof(T) == 4;
  static constexpr T kTens[] = {T(1e0), T(1e1), T(1e2), T(1e3), T(1e4), T(1e5),
                                T(1e6), T(1e7), T(1e8), T(1e9), T(1e10)};
  constexpr uint64_t kMostDigits = kSingle ? uint64_t{1} << 24 : uint64_t{1} << 53;
  const bool negative = p != end && *p == '-';
  p += negative;
  if (end - p > 17 || p == end) return false;
  uint64_t digits = 0;
  const char* const first = p;
  while (p != end && static_cast<unsigned>(*p - '0') < 10)
    digits = digits * 10 + static_cast<unsigned>(*p++ - '0');
  int64_t count = p - first, decimals = 0;
  if (p != end && *p == '.') {
    const char* const point = p++;
    while (p != end && static_cast<unsigned>(*p - '0') < 10)
      digits = digits * 10 + static_cast<unsigned>(*p++ - '0');
    decimals = p - point - 1;
    count += decimals;
  }
  if (p != end || count == 0 || decimals > 10 || digits > kMostDigits) return false;
  const T value = static_cast<T>(digits) / kTens[decimals];
  *out = negative ? -value : value;
  return true;
}

template <typename T>
inline bool plain_integer(const char* p, const char* end, T* out) {
  const bool negative = p != end && *p == '-';
  p += negative;
  if (p == end || end - p > 18) return false;
  int64_t value = 0;
  for (; p != end; ++p) {
    const auto digit = static_cast<unsigned>(*p - '0');
    if (digit >= 10) return false;
    value = value * 10 + digit;
  }
  if (negative) value = -value;
  *out = static_cast<T>(value);
  return static_cast<int64_t>(*out) == value && (negative ? value <= 0 : *out >= T(0));
}

template <typename T>
inline bool parse_field(const char* begin, const char* end, T* out) {
  if constexpr (std::is_floating_point_v<T>) {
    return plain_decimal(begin, end, out) ||
           parse_float({begin, static_cast<size_t>(end - begin)}, out);
  } else {
    return plain_integer(begin, end, out) ||
           parse_integer({begin, static_cast<size_t>(end - begin)}, out);
  }
}

class CsvDecoder final : public RecordDecoder {
 public:
  explicit CsvDecoder(CsvLayout layout) : layout_(std::move(layout)) {}

  void decode(std::span<const Record> records, std::span<const BufferRef> keeper,
              const std::string& path, Block* out) override {
    const auto rows = static_cast<int64_t>(records.size());
    std::vector<Column> columns;
    to_.clear();
    present_.assign(layout_.columns.size(), {});
    for (const CsvColumn& c : layout_.columns) {
      columns.push_back(Column::dense(c.dtype, {}, rows));
      to_.push_back(columns.back().mutable_data());
      if (c.is_optional) present_[to_.size() - 1].assign(records.size(), 1);
      if (c.dtype != DType::bytes) continue;
      for (const BufferRef& buffer : keeper) columns.back().mutable_buffer().keep(buffer);
      if (!c.required && !c.is_optional) columns.back().mutable_buffer().keep(c.fallback.buffer());
    }
    for (int64_t row = 0; row < rows; ++row) {
      const Record& record = records[static_cast<size_t>(row)];
      split(record);
      std::string fault;
      if (take(row, &fault)) continue;
      clear_row(columns, row);
      out->errors.push_back({row, record_error(path, record, fault)});
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      Column& c = columns[i];
      out->columns.push_back(layout_.columns[i].is_optional
                                 ? optional_column(std::move(c), {}, std::move(present_[i]))
                                 : std::move(c));
    }
  }

 private:
  void split(const Record& record) {
    fields_.clear();
    const auto size = static_cast<size_t>(record.size);
    if (layout_.rows.quotes && std::memchr(record.data, '"', size)) {
      split_quoted(record);
    } else {
      split_plain(record);
    }
  }

  void split_plain(const Record& record) {
    constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
    const uint64_t pattern = 0x0101010101010101 * static_cast<uint8_t>(layout_.rows.delimiter);
    const char *begin = record.data, *const end = record.data + record.size;
    for (const char* at = begin; at < end; at += 8) {
      uint64_t word = ~pattern;
      if (end - at >= 8) {
        std::memcpy(&word, at, 8);
      } else {
        std::memcpy(&word, at, static_cast<size_t>(end - at));
      }
      word ^= pattern;
      // The high bit of each byte that is zero.
      for (uint64_t bits = ~(((word & kLow) + kLow) | word | kLow); bits != 0; bits &= bits - 1) {
        const char* const found = at + (std::countr_zero(bits) >> 3);
        fields_.push_back({begin, found, nullptr});
        begin = found + 1;
      }
    }
    fields_.push_back({begin, end, nullptr});
  }

  void split_quoted(const Record& record) {
    char* at = const_cast<char*>(record.data);  // a row is decoded once, by one thread
    char* const end = at + record.size;
    for (;;) {
      Field field{at, at, nullptr};
      if (at != end && *at == '"') {
        field = unquoted(&at, end);
      } else {
        while (at != end && *at != layout_.rows.delimiter) {
          if (*at++ == '"') field.fault = "holds a quote, but does not begin with one";
        }
        field.end = at;
      }
      fields_.push_back(field);
      if (at == end) return;
      ++at;  // the delimiter
    }
  }

  // The field whose opening quote is at *at; leaves *at at the delimiter behind it, or the end.
  Field unquoted(char** at, char* end) const {
    char* p = *at + 1;
    char* to = p;
    Field field{p, p, nullptr};
    while (p != end) {
      if (*p != '"') {
        *to++ = *p++;
      } else if (p + 1 != end && p[1] == '"') {
        *to++ = '"';
        p += 2;
      } else {
        break;
      }
    }
    field.end = to;
    if (p != end) ++p;
    if (p != end && *p != layout_.rows.delimiter) {
      field.fault = "goes on behind its closing quote";
      while (p != end && *p != layout_.rows.delimiter) ++p;
    }
    *at = p;
    return field;
  }

  // The fields to row `row`; false and what is wrong, where something is.
  bool take(int64_t row, std::string* fault) {
    const size_t columns = layout_.columns.size();
    for (size_t c = 0; c < columns; ++c) {
      const size_t f = layout_.fields.empty() ? c : static_cast<size_t>(layout_.fields[c]);
      if (f >= fields_.size()) {
        *fault = "the row has " + std::to_string(fields_.size()) + " fields, expected " +
                 std::to_string(layout_.exact ? columns : f + 1);
        return false;
      }
      if (!store(fields_[f], c, row)) {
        *fault = "field " + std::to_string(f) + " " + reason(fields_[f], layout_.columns[c]);
        return false;
      }
    }
    if (!layout_.exact || fields_.size() == columns) return true;
    *fault = "the row has " + std::to_string(fields_.size()) + " fields, expected " +
             std::to_string(columns);
    return false;
  }

  bool missing(const Field& field) const {
    return field.begin == field.end ||
           (!layout_.na_value.empty() &&
            std::string_view(field.begin, static_cast<size_t>(field.end - field.begin)) ==
                layout_.na_value);
  }

  bool store(const Field& field, size_t c, int64_t row) {
    const CsvColumn& column = layout_.columns[c];
    if (field.fault) return false;
    if (missing(field)) {
      if (column.required) return false;
      const int64_t bytes = dtype_size(column.dtype);
      if (column.is_optional) {
        present_[c][static_cast<size_t>(row)] = 0;
        std::memset(to_[c] + row * bytes, 0, static_cast<size_t>(bytes));
        return true;
      }
      std::memcpy(to_[c] + row * bytes, column.fallback.data(), static_cast<size_t>(bytes));
      return true;
    }
    switch (column.dtype) {
      case DType::bytes:
        at<BytesView>(c, row) = {field.begin, field.end - field.begin};
        return true;
      case DType::int32: return parse_field(field.begin, field.end, &at<int32_t>(c, row));
      case DType::int64: return parse_field(field.begin, field.end, &at<int64_t>(c, row));
      case DType::float32: return parse_field(field.begin, field.end, &at<float>(c, row));
      case DType::float64: return parse_field(field.begin, field.end, &at<double>(c, row));
      default: return store_rare(field, c, row);
    }
  }

  bool store_rare(const Field& field, size_t c, int64_t row) {
    return visit_dtype(layout_.columns[c].dtype, [&]<typename T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        return parse_integer({field.begin, static_cast<size_t>(field.end - field.begin)},
                             &at<T>(c, row));
      }
      return false;
    });
  }

  template <typename T>
  T& at(size_t c, int64_t row) {
    return reinterpret_cast<T*>(to_[c])[row];
  }

  std::string reason(const Field& field, const CsvColumn& column) const {
    if (field.fault) return field.fault;
    if (missing(field)) return "is missing, and its column has no default";
    return "is no " + std::string(dtype_name(column.dtype)) + ": " +
           quoted({field.begin, static_cast<size_t>(field.end - field.begin)});
  }

  const CsvLayout layout_;
  std::vector<std::byte*> to_;
  std::vector<std::vector<uint8_t>> present_;  // by row, of optional columns
  std::vector<Field> fields_;                  // of the row at hand
};

}  // namespace

std::unique_ptr<RecordDecoder> make_csv_decoder(CsvLayout layout) {
  return std::make_unique<CsvDecoder>(std::move(layout));
}

}  // namespace penstock
