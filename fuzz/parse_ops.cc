// Any bytes through the parsers of records, lines and models: an Error or a value, within bounds.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/ragged.h"
#include "functions/kernels/parse/base64_text.h"
#include "functions/kernels/parse/csv_line.h"
#include "functions/kernels/parse/example_json.h"
#include "functions/kernels/parse/example_values.h"
#include "functions/kernels/parse/json_fields.h"
#include "functions/kernels/parse/sequence_values.h"
#include "functions/kernels/parse/tensor_proto.h"
#include "functions/kernels/text/encoding.h"
#include "functions/kernels/text/gpt2_words.h"

namespace penstock {
namespace {

Attr feature(DType dtype, const char* kind) {
  return Attr::dict({"dtype", "shape", "default", "kind", "value_key"},
                    {Attr::of(dtype), {}, {}, Attr::text(kind), Attr::text("v")});
}

std::vector<ExampleFeature> all_kinds() {
  return read_features(
      Attr::dict({"a", "b", "c", "d", "v"},
                 {feature(DType::int64, "var"), feature(DType::float32, "sequence"),
                  feature(DType::bytes, "ragged"), feature(DType::int64, "fixed"),
                  Attr::of(DType::bytes)}),
      "features");
}

void parse_records(std::string_view bytes) {
  static const ExamplePlan plan(all_kinds());
  const BufferRef none = allocate_buffer(0);
  const auto views = plan.parse(bytes);
  for (size_t i = 0; i < plan.features().size(); ++i) {
    FeatureValues values(plan.features()[i]);
    try {
      values.add(plan, i, views);
      values.finish_batch(none);
    } catch (const Error&) {
    }
  }
}

void parse_sequences(std::string_view bytes) {
  static const std::vector<ExampleFeature> lists = all_kinds();
  const std::vector<std::string> keys{"v"};
  std::vector<FeatureListView> found(1);
  parse_feature_lists(bytes, keys, found);
  for (size_t i = 0; i < 3; ++i) {
    SequenceValues values(lists[i]);
    try {
      values.add(found[0]);
      values.finish_batch(allocate_buffer(0));
    } catch (const Error&) {
    }
  }
}

void parse_text(std::string_view bytes) {
  std::string out;
  encode_web_base64(bytes, true, &out);
  std::string back;
  PENSTOCK_CHECK(decode_web_base64(out, &back) < 0 && back == bytes);
  decode_any_base64(bytes, &back);
  int64_t end = 0;
  TextDecoder("UTF-8").for_each(bytes, [&](const CodePoint& p) {
    PENSTOCK_CHECK(p.begin == end && p.end > p.begin);
    end = p.end;
  });
  PENSTOCK_CHECK(end == static_cast<int64_t>(bytes.size()));
  for (std::string_view rest = bytes; !rest.empty();) rest.remove_prefix(gpt2_word(rest));
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  CsvLine(',', true).cut(bytes, &fields, &unquoted);
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const std::vector<JsonField> json = read_json_fields(
      Attr::dict({"a", "/b/c"}, {Attr::of(DType::int8), Attr::of(DType::float32)}));
  try {
    switch (data[0] % 6) {
      case 0: parse_records(bytes); break;
      case 1: parse_sequences(bytes); break;
      case 2: read_tensor_proto(bytes, DType::int32); break;
      case 3: example_from_json(bytes); break;
      case 4: parse_json_fields(bytes, json); break;
      default: parse_text(bytes); break;
    }
  } catch (const Error&) {
  }
  return 0;
}
