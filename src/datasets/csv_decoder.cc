// Some rows at a time: where their fields end, then column by column, so that what a column needs
// is looked up once and its entries are written side by side. Rows with quotes, or with anything
// wrong, are done one by one. Strings are views into the text.

#include "datasets/csv_decoder.h"

#include <algorithm>
#include <cstring>

#include "data/optional.h"
#include "datasets/csv_fields.h"
#include "datasets/csv_header.h"
#include "functions/kernels/text/parse_number.h"

namespace penstock {
namespace {

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
    if (!layout_.names.empty() && path != path_) find_names(path);
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
        split_fields(some[i], layout_.rows, &fields_);
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

  // Each file's header decides which field a name is.
  void find_names(const std::string& path) {
    const CsvHeader header = read_csv_header(path, layout_);
    layout_.fields = header.fields;
    layout_.least_fields = layout_.most_fields = header.count;
    path_ = path;
  }

  bool exact() const { return layout_.most_fields != SIZE_MAX; }
  // Fields that are looked at in a row without a fault.
  size_t wanted() const { return exact() ? layout_.most_fields : layout_.least_fields; }
  size_t stride() const { return wanted() + 1 + kFieldSlack; }
  int64_t tile_rows() const {
    return std::clamp<int64_t>(kMarkBytes / static_cast<int64_t>(stride() * sizeof(uint32_t)), 4,
                               256);
  }

  // Does the rows that are plain, and says in done_ which those are.
  void decode_plain(std::span<const Record> records, int64_t first) {
    const size_t fields = wanted();
    const CsvMarks marks{layout_.rows.delimiter, layout_.rows.quotes, fields, exact()};
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

  // The fields to row `row`; false and what is wrong, where something is.
  bool take(int64_t row, std::string* fault) {
    for (size_t c = 0; c < layout_.columns.size(); ++c) {
      const size_t f = layout_.fields.empty() ? c : static_cast<size_t>(layout_.fields[c]);
      if (f >= fields_.size()) {
        *fault =
            miscounted(layout_.least_fields == layout_.most_fields ? layout_.least_fields : f + 1);
        return false;
      }
      if (!store(fields_[f], c, row)) {
        const std::string name =
            layout_.names.empty() ? std::to_string(f) : "`" + layout_.names[c] + "`";
        *fault = "field " + name + " " + reason(fields_[f], layout_.columns[c]);
        return false;
      }
    }
    if (fields_.size() >= layout_.least_fields && fields_.size() <= layout_.most_fields)
      return true;
    *fault = miscounted(layout_.most_fields);
    return false;
  }

  std::string miscounted(size_t expected) const {
    return "the row has " + std::to_string(fields_.size()) + " fields, expected " +
           std::to_string(expected);
  }

  bool missing(const CsvField& field) const {
    return field.begin == field.end ||
           (!layout_.na_value.empty() && field.text() == layout_.na_value);
  }

  bool store(const CsvField& field, size_t c, int64_t row) {
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
      return parse_field(field.text(), &at<T>(c, row));
    });
  }

  template <typename T>
  T& at(size_t c, int64_t row) {
    return reinterpret_cast<T*>(to_[c])[row];
  }

  std::string reason(const CsvField& field, const CsvColumn& column) const {
    if (field.fault) return field.fault;
    if (missing(field)) return "is missing, and its column has no default";
    return "is no " + std::string(dtype_name(column.dtype)) + ": " + quoted(field.text());
  }

  CsvLayout layout_;
  std::string path_;  // that the names were found in
  std::vector<std::byte*> to_;
  std::vector<std::vector<uint8_t>> present_;  // by row, of optional columns
  std::vector<uint32_t> ends_;                 // of the fields, of some rows: see mark_fields
  std::vector<uint8_t> done_;                  // by row of those
  std::vector<CsvField> fields_;               // of the row at hand
};

}  // namespace

std::unique_ptr<RecordDecoder> make_csv_decoder(CsvLayout layout) {
  return std::make_unique<CsvDecoder>(std::move(layout));
}

}  // namespace penstock
