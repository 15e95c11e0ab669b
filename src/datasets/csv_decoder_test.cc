#include "datasets/csv_decoder.h"

#include <doctest/doctest.h>

#include <random>

using namespace penstock;

namespace {

// Rows of one text each, in memory that ends where the last does.
struct DecodedRows {
  std::vector<std::vector<char>> texts;
  std::vector<Record> records;
  void add(const std::string& text) {
    texts.emplace_back(text.begin(), text.end());
    records.push_back({texts.back().data(), static_cast<int64_t>(text.size()),
                       static_cast<int64_t>(records.size())});
  }
};

Block decoded(const CsvLayout& layout, const DecodedRows& rows) {
  Block out;
  out.rows = static_cast<int64_t>(rows.records.size());
  make_csv_decoder(layout)->decode(rows.records, {}, "file", &out);
  return out;
}

void check_same(const Block& a, const Block& b) {
  REQUIRE(a.errors.size() == b.errors.size());
  for (size_t i = 0; i < a.errors.size(); ++i) {
    CHECK(a.errors[i].row == b.errors[i].row);
    CHECK(std::string(a.errors[i].error->what()) == b.errors[i].error->what());
  }
  REQUIRE(a.columns.size() == b.columns.size());
  for (size_t c = 0; c < a.columns.size(); ++c) {
    for (int64_t row = 0; row < a.rows; ++row)
      CHECK(a.columns[c].row(row).same(b.columns[c].row(row)));
  }
}

}  // namespace

TEST_CASE("rows done together are those done one by one, which quotes around a field ask for") {
  const uint32_t seed = std::random_device()();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    CsvLayout layout;
    layout.rows.delimiter = round % 2 ? '\t' : ',';
    const bool exact = random() % 2 != 0;
    if (random() % 3 == 0) layout.na_value = "na";
    const size_t fields = 1 + random() % 50;
    for (size_t f = 0; f < fields; ++f) {
      if (!exact && random() % 2 && (f + 1 < fields || !layout.columns.empty())) continue;
      const DType dtypes[] = {DType::bytes,   DType::int32,   DType::int64,
                              DType::float32, DType::float64, DType::uint8};
      CsvColumn column;
      column.dtype = dtypes[random() % 6];
      column.required = random() % 2 != 0;
      if (!column.required) {
        column.fallback = column.dtype == DType::bytes ? Tensor::of_bytes("none")
                                                       : Tensor::make(column.dtype, {});
        if (column.dtype != DType::bytes) std::memset(column.fallback.mutable_data(), 1, 1);
        if (column.dtype != DType::bytes && dtype_size(column.dtype) > 1)
          std::memset(column.fallback.mutable_data() + 1, 0,
                      static_cast<size_t>(dtype_size(column.dtype)) - 1);
      }
      layout.columns.push_back(std::move(column));
      if (!exact) layout.fields.push_back(static_cast<int64_t>(f));
    }
    layout.least_fields = exact ? fields : static_cast<size_t>(layout.fields.back()) + 1;
    if (exact) layout.most_fields = fields;
    // As with excluded fields at the end.
    if (!exact && random() % 2) layout.most_fields = layout.least_fields + random() % 3;
    DecodedRows plain, one_by_one;
    const uint32_t faults = random() % 3 == 0 ? 8 : 1000;
    for (int row = 0; row < 700; ++row) {
      std::string text, quoted_text;
      const size_t n = random() % faults == 0 ? random() % 60 : fields;
      for (size_t f = 0; f < std::max<size_t>(n, 1); ++f) {
        std::string field;
        switch (random() % 8) {
          case 0: field = random() % 50 ? "7" : ""; break;
          case 1: field = random() % 50 ? "19" : "na"; break;
          case 2: field = random() % faults ? "3" : "word"; break;
          default: field = std::to_string(random() % 200); break;
        }
        if (f > 0) text += layout.rows.delimiter, quoted_text += layout.rows.delimiter;
        text += field;
        quoted_text += '"' + field + '"';
      }
      plain.add(text);
      one_by_one.add(quoted_text);
    }
    check_same(decoded(layout, plain), decoded(layout, one_by_one));
  }
}

TEST_CASE("a row with more fields than anyone looks at, and one longer than a vector") {
  CsvLayout layout;
  layout.fields = {0, 2};
  layout.least_fields = 3;
  layout.columns.resize(2);
  DecodedRows rows;
  rows.add("a,b,c");
  rows.add("a,b,c,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,");
  rows.add(std::string(100, 'x') + ",," + std::string(33, 'y'));
  rows.add("a,b");
  const Block out = decoded(layout, rows);
  CHECK(out.columns[1].row(0).entry<BytesView>().view() == "c");
  CHECK(out.columns[1].row(1).entry<BytesView>().view() == "c");
  CHECK(out.columns[0].row(2).entry<BytesView>().view() == std::string(100, 'x'));
  CHECK(out.columns[1].row(2).entry<BytesView>().view() == std::string(33, 'y'));
  REQUIRE(out.errors.size() == 1);
  CHECK(std::string(out.errors[0].error->what()).find("has 2 fields, expected 3") !=
        std::string::npos);
}
