// Some rows at a time: where their fields end, then column by column, so that what a column needs
// is looked up once and its entries are written side by side. Rows with quotes, or with anything
// wrong, are done one by one. Strings are views into the text; the doubled quotes of a quoted field
// are joined in place.

#include "datasets/csv_decoder.h"

#include <algorithm>
#include <cstring>

#include "data/optional.h"
#include "datasets/csv_fields.h"
#include "functions/kernels/text/parse_number.h"

namespace penstock {
namespace {

struct Field {
  const char* begin;
  const char* end;
  const char* fault;  // what is wrong with it, or null
};

template <typename T>
bool parse_field(std::string_view text, T* out) {
  if constexpr (std::is_same_v<T, BytesView>) {
    *out = {text.data(), static_cast<int64_t>(text.size())};
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    return parse_float(text, out);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return parse_integer(text, out);
  }
  return false;
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
    const int64_t tile = tile_rows();
    for (int64_t first = 0; first < rows; first += tile) {
      const auto n = static_cast<size_t>(std::min(tile, rows - first));
      const std::span<const Record> some = records.subspan(static_cast<size_t>(first), n);
      decode_plain(some, first);
      for (size_t i = 0; i < n; ++i) {
        if (done_[i]) continue;
        const int64_t row = first + static_cast<int64_t>(i);
        std::string fault;
        split(some[i]);
        if (take(row, &fault)) continue;
        clear_row(columns, row);
        out->errors.push_back({row, record_error(path, some[i], fault)});
      }
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      Column& c = columns[i];
      out->columns.push_back(layout_.columns[i].is_optional
                                 ? optional_column(std::move(c), {}, std::move(present_[i]))
                                 : std::move(c));
    }
  }

 private:
  static constexpr int64_t kMarkBytes =
      16 * 1024;  // where the fields of some rows end: stays in L1

  // Fields that are looked at in a row without a fault.
  size_t wanted() const {
    return layout_.fields.empty() ? layout_.columns.size()
                                  : static_cast<size_t>(layout_.fields.back()) + 1;
  }
  size_t stride() const { return wanted() + 1 + kFieldSlack; }
  int64_t tile_rows() const {
    return std::clamp<int64_t>(kMarkBytes / static_cast<int64_t>(stride() * sizeof(uint32_t)), 4,
                               256);
  }

  // Does the rows that are plain, and says in done_ which those are.
  void decode_plain(std::span<const Record> records, int64_t first) {
    const size_t fields = wanted();
    const CsvMarks marks{layout_.rows.delimiter, layout_.rows.quotes, fields, layout_.exact};
    ends_.resize(records.size() * stride());
    done_.resize(records.size());
    for (size_t i = 0; i < records.size(); ++i)
      done_[i] = mark_fields(records[i], marks, ends_.data() + i * stride());
    for (size_t c = 0; c < layout_.columns.size(); ++c) {
      visit_dtype(layout_.columns[c].dtype, [&]<typename T>(TypeTag<T>) {
        layout_.columns[c].is_optional || !layout_.na_value.empty()
            ? column_of<T, true>(records, c, first)
            : column_of<T, false>(records, c, first);
      });
    }
  }

  template <typename T, bool kRare>
  void column_of(std::span<const Record> records, size_t c, int64_t first) {
    const CsvColumn& column = layout_.columns[c];
    const size_t f = layout_.fields.empty() ? c : static_cast<size_t>(layout_.fields[c]);
    T* const to = &at<T>(c, first);
    const T fallback = column.required || column.is_optional ? T{} : column.fallback.entry<T>();
    const uint32_t* end = ends_.data() + f;
    for (size_t i = 0; i < records.size(); ++i, end += stride()) {
      if (!done_[i]) continue;
      const uint32_t begin = end[0] + 1;  // behind the delimiter before
      const std::string_view text(records[i].data + begin, end[1] - begin);
      if (text.empty() || (kRare && text == layout_.na_value)) {
        if (column.required) {
          done_[i] = false;
          continue;
        }
        if (kRare && column.is_optional) present_[c][static_cast<size_t>(first) + i] = 0;
        to[i] = fallback;
      } else if (!parse_field(text, to + i)) {
        done_[i] = false;
      }
    }
  }

  void split(const Record& record) {
    fields_.clear();
    const auto size = static_cast<size_t>(record.size);
    if (layout_.rows.quotes && size > 0 && std::memchr(record.data, '"', size)) {
      split_quoted(record);
    } else {
      split_plain(record);
    }
  }

  void split_plain(const Record& record) {
    const char *begin = record.data, *const end = record.data + record.size;
    for (;;) {
      const char* const found = std::find(begin, end, layout_.rows.delimiter);
      fields_.push_back({begin, found, nullptr});
      if (found == end) return;
      begin = found + 1;
    }
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
    return visit_dtype(column.dtype, [&]<typename T>(TypeTag<T>) {
      return parse_field({field.begin, static_cast<size_t>(field.end - field.begin)},
                         &at<T>(c, row));
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
  std::vector<uint32_t> ends_;                 // of the fields, of some rows: see mark_fields
  std::vector<uint8_t> done_;                  // by row of those
  std::vector<Field> fields_;                  // of the row at hand
};

}  // namespace

std::unique_ptr<RecordDecoder> make_csv_decoder(CsvLayout layout) {
  return std::make_unique<CsvDecoder>(std::move(layout));
}

}  // namespace penstock
