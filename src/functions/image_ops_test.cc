#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "functions/evaluate.h"
#include "functions/kernels/image/jpeg_encode.h"

namespace penstock {
namespace {

// One op as a function of the types of its inputs; constants take part in its inference.
struct Call {
  FunctionPtr function;
  Spec spec;

  Call(const std::string& name, const std::vector<LeafSpec>& inputs, const Attrs& given,
       const std::vector<Tensor>& constants = {}) {
    const OpDef* op = OpRegistry::instance().find(name);
    REQUIRE(op != nullptr);
    std::vector<Spec> specs;
    for (const LeafSpec& leaf : inputs) specs.push_back(Spec::of(leaf));
    FunctionBuilder builder(Spec::tuple(std::move(specs)), static_cast<int>(inputs.size()));
    std::vector<ValueId> ids, outputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      ids.push_back(builder.input_value(static_cast<int>(i)));
    }
    for (const Tensor& constant : constants) ids.push_back(builder.add_constant(constant));
    Attrs attrs = given;
    for (const Param& p : op->params) {
      if (p.kind != Param::Kind::tensor && !attrs.has(p.name)) attrs.set(p.name, p.fallback);
    }
    spec = builder.add_op(*op, ids, attrs, &outputs);
    function = builder.finish(spec, outputs);
  }

  std::vector<Tensor> all(std::vector<Tensor> inputs, RowId row = {}) const {
    return CompiledFunction(function, {}).run_row(std::move(inputs), row);
  }
  Tensor operator()(std::vector<Tensor> inputs, RowId row = {}) const {
    return all(std::move(inputs), row).at(0);
  }
};

Attrs attrs_of(std::initializer_list<std::pair<std::string, Attr>> items) {
  Attrs out;
  for (const auto& [key, value] : items) out.set(key, value);
  return out;
}

LeafSpec leaf(DType dtype, Shape shape) { return LeafSpec::tensor(dtype, std::move(shape)); }

template <typename T>
Tensor vector_of(std::initializer_list<T> values) {
  return Tensor::vector<T>(std::span(values.begin(), values.size()));
}

Tensor picture(int64_t height, int64_t width, int64_t channels = 3) {
  Tensor out = Tensor::make(DType::uint8, {height, width, channels});
  for (int64_t i = 0; i < out.entries_count(); ++i) {
    out.mutable_entries<uint8_t>()[i] = static_cast<uint8_t>((i * 37 + i / 11 * 5) % 256);
  }
  return out;
}

Tensor jpeg_of(const Tensor& image) {
  const Dims& d = image.dims();
  return Tensor::of_bytes(encode_jpeg(image.entries<uint8_t>(), {d[0], d[1], d[2]}, {}));
}

std::string type_error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const TypeError& e) {
    return e.message;
  }
  return "no error";
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

const LeafSpec kBytes = leaf(DType::bytes, {});
const LeafSpec kImage = leaf(DType::uint8, {-1, -1, 3});

TEST_CASE("decode_and_crop_jpeg equals decode_jpeg and crop") {
  const Tensor file = jpeg_of(picture(45, 67));
  const Call decode("decode_jpeg", {kBytes}, attrs_of({{"channels", Attr::integer(3)}}));
  CHECK(decode.spec.text() == "uint8[?, ?, 3]");
  const Tensor whole = decode({file});
  CHECK(whole.dims() == Dims{45, 67, 3});
  const Tensor window = vector_of<int32_t>({7, 16, 20, 33});
  const Call both("decode_and_crop_jpeg", {kBytes}, {}, {window});
  CHECK(both.spec.text() == "uint8[20, 33, ?]");
  const Call crop("crop", {kImage, leaf(DType::int32, {4})}, {});
  CHECK(both({file}).same(crop({whole, window})));
  const Call box("crop_to_bounding_box",
                 {kImage, leaf(DType::int64, {}), leaf(DType::int64, {}), leaf(DType::int64, {}),
                  leaf(DType::int64, {})},
                 {});
  const auto at = [](int64_t v) { return Tensor::scalar(v); };
  CHECK(both({file}).same(box({whole, at(7), at(16), at(20), at(33)})));
  CHECK(error_of([&] { box({whole, at(40), at(0), at(6), at(5)}); }) ==
        "crop_to_bounding_box: window outside the image: y 40, x 0, size 6x5, image 45x67");
}

TEST_CASE("shape of a JPEG file") {
  const Tensor file = jpeg_of(picture(9, 7));
  for (const char* name : {"extract_jpeg_shape", "jpeg_shape"}) {
    const Call shape(name, {kBytes}, {});
    CHECK(shape.spec.text() == "int32[3]");
    CHECK(shape({file}).same(vector_of<int32_t>({9, 7, 3})));
  }
}

TEST_CASE("types of image ops are checked at build") {
  CHECK(type_error_of([] { Call("resize", {kBytes, leaf(DType::int64, {2})}, {}); }) ==
        "is bytes, expected uint8[?, ?, 3]; decode it first: decode_jpeg(image)");
  CHECK(type_error_of([] { Call("decode_jpeg", {kImage}, {}); }) ==
        "is uint8[?, ?, 3], expected bytes");
  CHECK(type_error_of([] {
          Call("decode_jpeg", {kBytes}, attrs_of({{"channels", Attr::integer(5)}}));
        }) == "must be 0 (as stored), 1, 3 or, for other formats than JPEG, 4, is 5");
  CHECK(type_error_of([] {
          Call("resize", {kImage}, attrs_of({{"method", Attr::text("cubic")}}),
               {vector_of<int64_t>({2, 2})});
        }) ==
        "is \"cubic\", expected nearest, bilinear, bicubic, area, lanczos3, lanczos5, gaussian or "
        "mitchellcubic");
  CHECK(type_error_of([] { Call("flip_left_right", {leaf(DType::int32, {2, 2})}, {}); }) ==
        "is int32[2, 2], expected an image [height, width, channels]; add the channel first: "
        "image[:, :, none]");
  CHECK(type_error_of([] {
          Call("crop", {leaf(DType::uint8, {8, 8, 3})}, {}, {vector_of<int64_t>({4, 0, 5, 8})});
        }) == "gives a window outside the image: 4 + 5 > 8 on the y axis");
}

TEST_CASE("resize: methods, dtypes and batches") {
  const Tensor image = picture(6, 9);
  const Tensor size = vector_of<int64_t>({4, 4});
  const Call bilinear("resize", {kImage}, {}, {size});
  CHECK(bilinear.spec.text() == "float32[4, 4, 3]");
  const Call nearest("resize", {kImage}, attrs_of({{"method", Attr::text("nearest")}}), {size});
  CHECK(nearest.spec.text() == "uint8[4, 4, 3]");
  CHECK(nearest({image}).dims() == Dims{4, 4, 3});
  // Numbers of any dtype give what their float32 values give.
  const Call from_floats("resize", {leaf(DType::float32, {-1, -1, 3})}, {}, {size});
  const Call from_ints("resize", {leaf(DType::int32, {-1, -1, 3})}, {}, {size});
  Tensor floats = Tensor::make(DType::float32, image.dims());
  Tensor ints = Tensor::make(DType::int32, image.dims());
  for (int64_t i = 0; i < image.entries_count(); ++i) {
    floats.mutable_entries<float>()[i] = image.entry<uint8_t>(i);
    ints.mutable_entries<int32_t>()[i] = image.entry<uint8_t>(i);
  }
  CHECK(bilinear({image}).same(from_floats({floats})));
  CHECK(bilinear({image}).same(from_ints({ints})));
  const Call batches("resize", {leaf(DType::uint8, {-1, -1, -1, 3})}, {}, {size});
  const Tensor two = batches({picture(12, 9).reshaped({2, 6, 9, 3})});
  CHECK(two.dims() == Dims{2, 4, 4, 3});
  CHECK(two.item(0).same(bilinear({image})));
  const Call dynamic("resize", {kImage, leaf(DType::int32, {2})}, {});
  CHECK(error_of([&] { dynamic({image, vector_of<int32_t>({0, 5})}); }) ==
        "resize: output size must be between 1 and 16777215: 0x5");
}

TEST_CASE("flips") {
  const Tensor image = picture(5, 4);
  const Call columns("flip_left_right", {kImage}, {});
  const Call rows("flip_up_down", {kImage}, {});
  CHECK(!columns({image}).same(image));
  CHECK(columns({columns({image})}).same(image));
  CHECK(rows({rows({image})}).same(image));
  CHECK(rows({image}).item(0).same(image.item(4)));
  CHECK(columns({image}).item(2).item(0).same(image.item(2).item(3)));
}

TEST_CASE("random image ops repeat by seed, lineage and epoch") {
  const Tensor image = picture(40, 50);
  const Tensor size = vector_of<int64_t>({8, 8});
  auto crop = [&](int64_t seed, RowId row) {
    return Call("random_crop", {kImage}, attrs_of({{"seed", Attr::integer(seed)}}), {size})({image},
                                                                                            row);
  };
  CHECK(crop(1, {7, 2, 0}).same(crop(1, {7, 2, 0})));
  CHECK(!crop(1, {7, 2, 0}).same(crop(2, {7, 2, 0})));
  CHECK(!crop(1, {7, 2, 0}).same(crop(1, {8, 2, 0})));
  CHECK(!crop(1, {7, 2, 0}).same(crop(1, {7, 3, 0})));
  CHECK(!crop(1, {7, 2, 0}).same(crop(1, {7, 2, 1})));

  const Call flip("random_flip_left_right", {kImage}, attrs_of({{"seed", Attr::integer(3)}}));
  const Tensor flipped = Call("flip_left_right", {kImage}, {})({image});
  int flips = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    const Tensor out = flip({image}, {i, 0, 0});
    const bool turned = out.same(flipped);
    CHECK((turned || out.same(image)));
    flips += turned;
  }
  CHECK(flips > 150);
  CHECK(flips < 250);

  const Call sample("sample_distorted_bounding_box",
                    {leaf(DType::int32, {3}), leaf(DType::float32, {-1, -1, 4})},
                    attrs_of({{"seed", Attr::integer(5)}}));
  CHECK(sample.spec.text() == "(int32[3], int32[3], float32[1, 1, 4])");
  const Tensor boxes = vector_of<float>({0, 0, 1, 1}).reshaped({1, 1, 4});
  const Tensor shape = vector_of<int32_t>({400, 500, 3});
  const std::vector<Tensor> once = sample.all({shape, boxes}, {9, 1, 0});
  const std::vector<Tensor> again = sample.all({shape, boxes}, {9, 1, 0});
  for (size_t i = 0; i < 3; ++i) CHECK(once[i].same(again[i]));
  CHECK(!once[1].same(sample.all({shape, boxes}, {9, 2, 0})[1]));
  CHECK(once[0].entry<int32_t>(2) == 0);
  CHECK(once[1].entry<int32_t>(2) == -1);
  CHECK(once[0].entry<int32_t>(0) + once[1].entry<int32_t>(0) <= 400);
  CHECK(once[2].entry<float>(0) == static_cast<float>(once[0].entry<int32_t>(0)) / 400);
}

TEST_CASE("convert_image_dtype gives the recorded values") {
  auto convert = [](const Tensor& x, DType to) {
    return Call("convert_image_dtype", {leaf(x.dtype(), Shape(x.dims()))},
                attrs_of({{"dtype", Attr::of(to)}}))({x});
  };
  const Tensor bytes = vector_of<uint8_t>({0, 1, 2, 127, 128, 254, 255});
  CHECK(convert(bytes, DType::uint8).same(bytes));
  CHECK(convert(bytes, DType::float32)
            .same(vector_of<float>({0.0f, 0.003921568859368563f, 0.007843137718737125f,
                                    0.49803924560546875f, 0.501960813999176f, 0.9960784912109375f,
                                    1.0f})));
  CHECK(convert(bytes, DType::uint16)
            .same(vector_of<uint16_t>({0, 256, 512, 32512, 32768, 65024, 65280})));
  CHECK(convert(vector_of<uint16_t>({0, 255, 256, 32767, 65535}), DType::int8)
            .same(vector_of<int8_t>({0, 0, 0, 63, 127})));
  CHECK(convert(vector_of<int8_t>({-128, 0, 127}), DType::uint8)
            .same(vector_of<uint8_t>({0, 0, 254})));
  const Tensor reals = vector_of<float>({0.0f, 0.00196f, 0.5f, 0.99f, 0.9999f, 1.0f, -0.1f, 1.1f});
  CHECK(convert(reals, DType::uint8).same(vector_of<uint8_t>({0, 0, 127, 252, 255, 255, 0, 255})));
  CHECK(convert(reals, DType::int32)
            .same(vector_of<int32_t>({0, 4209068, 1073741824, 2126008832, 2147268864, 2147483520,
                                      -214748368, 2147483520})));
}

TEST_CASE("normalize equals the single steps, by rows and by blocks") {
  const Tensor mean = vector_of<float>({123.68f, 116.78f, 103.94f});
  const Tensor deviation = vector_of<float>({58.4f, 57.12f, 57.37f});
  const Call op("normalize", {leaf(DType::uint8, {4, 5, 3})}, {}, {mean, deviation});
  Block in, out;
  in.rows = 3;
  in.columns = {Column::dense(DType::uint8, {4, 5, 3}, 3)};
  const Tensor all = picture(12, 5);
  std::memcpy(in.columns[0].mutable_data(), all.data(), static_cast<size_t>(all.data_bytes()));
  const Column images = in.columns[0];
  CompiledFunction(op.function, {}).run(in, &out);
  REQUIRE(out.columns[0].kind() == Column::Kind::dense);
  bool equal = true;
  for (int64_t r = 0; r < 3; ++r) {
    const Tensor image = images.row(r), by_row = op({image}), by_block = out.columns[0].row(r);
    for (int64_t i = 0; i < image.entries_count(); ++i) {
      const float want = (static_cast<float>(image.entry<uint8_t>(i)) - mean.entry<float>(i % 3)) /
                         deviation.entry<float>(i % 3);
      equal &= by_row.entry<float>(i) == want && by_block.entry<float>(i) == want;
    }
  }
  CHECK(equal);
  CHECK(type_error_of([&] {
          Call("normalize", {leaf(DType::uint8, {4, 5, 1})}, {}, {mean, deviation});
        }) == "is float32[3], expected float32 or float32[1]: one for each channel");
}

// tf.train.Example by hand. Lengths stay below 128.
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string entry(const std::string& key, int kind, const std::string& list) {
  return field(1, field(1, key) + field(2, field(kind, list)));
}
std::string ints(const std::string& key, const std::string& small) {
  return entry(key, 3, field(1, small));
}
std::string floats(const std::string& key, std::vector<float> values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return entry(key, 2, field(1, std::string(bytes, values.size() * 4)));
}
std::string strings(const std::string& key, const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& v : values) list += field(1, v);
  return entry(key, 1, list);
}
Tensor example(const std::string& features) { return Tensor::of_bytes(field(1, features)); }

Attr feature(DType dtype, std::vector<int64_t> shape, Attr fallback = {},
             const char* kind = "fixed") {
  std::vector<Attr> sizes;
  for (const int64_t size : shape) sizes.push_back(Attr::integer(size));
  return Attr::dict(
      {"dtype", "shape", "default", "kind"},
      {Attr::of(dtype), Attr::list(std::move(sizes)), std::move(fallback), Attr::text(kind)});
}

Call parser(std::vector<std::string> keys, std::vector<Attr> items, LeafSpec record = kBytes) {
  return Call("parse_example", {std::move(record)},
              attrs_of({{"features", Attr::dict(std::move(keys), std::move(items))}}));
}

const std::string kRecord = ints("i", "\1\2\3") + floats("f", {1.5f, 2.5f}) +
                            strings("s", {"ab", "\xff"}) + ints("one", "\7") +
                            strings("name", {"x"});

TEST_CASE("parse_example reads features of every kind") {
  const Call parse =
      parser({"name", "i", "f", "s", "gone", "none", "pairs", "one"},
             {Attr::of(DType::bytes), feature(DType::int64, {3, 1}), feature(DType::float32, {2}),
              feature(DType::bytes, {}, {}, "sequence"),
              feature(DType::float32, {2}, Attr::list({Attr::integer(8), Attr::floating(0.5)})),
              feature(DType::int64, {}, {}, "ragged"), feature(DType::float32, {2}, {}, "sequence"),
              Attr::of(DType::int64)});
  CHECK(parse.spec.text() ==
        "{name: bytes, i: int64[3, 1], f: float32[2], s: bytes[?], gone: float32[2], "
        "none: int64[?], pairs: float32[?, 2], one: int64}");
  const std::vector<Tensor> out = parse.all({example(kRecord + floats("pairs", {1, 2, 3, 4}))});
  CHECK(out[0].same(Tensor::of_bytes("x")));
  CHECK(out[1].same(vector_of<int64_t>({1, 2, 3}).reshaped({3, 1})));
  CHECK(out[2].same(vector_of<float>({1.5f, 2.5f})));
  CHECK(out[3].same(Tensor::of_strings(std::vector<std::string_view>{"ab", "\xff"})));
  CHECK(out[4].same(vector_of<float>({8, 0.5f})));
  CHECK(out[5].dims() == Dims{0});
  CHECK(out[6].same(vector_of<float>({1, 2, 3, 4}).reshaped({2, 2})));
  CHECK(out[7].same(Tensor::scalar<int64_t>(7)));
}

TEST_CASE("parse_example: strings are views of the record") {
  const Tensor record = example(kRecord);
  const Tensor out = parser({"name"}, {Attr::of(DType::bytes)})({record});
  const std::string_view whole = bytes_at(record), name = bytes_at(out);
  CHECK(name.data() >= whole.data());
  CHECK(name.data() + name.size() <= whole.data() + whole.size());
}

TEST_CASE("parse_example says at the row what is wrong") {
  struct Case {
    const char* key;
    Attr feature;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"gone", Attr::of(DType::int64),
       "key \"gone\" is missing and has no default; the record has \"f\", \"i\", \"name\", "
       "\"one\", "
       "\"s\""},
      {"f", feature(DType::int64, {2}), "key \"f\" holds floats, expected int64"},
      {"s", feature(DType::float32, {2}), "key \"s\" holds bytes, expected float32"},
      {"i", feature(DType::bytes, {3}), "key \"i\" holds integers, expected bytes"},
      {"i", feature(DType::int64, {2}), "key \"i\" holds 3 values, expected shape [2]"},
      {"i", Attr::of(DType::int64), "key \"i\" holds 3 values, expected shape []"},
      {"i", feature(DType::int64, {0}), "key \"i\" holds 3 values, expected shape [0]"},
      {"i", feature(DType::int64, {2}, Attr::list({Attr::integer(8), Attr::integer(9)})),
       "key \"i\" holds 3 values, expected shape [2]"},
      {"i", feature(DType::int64, {2}, {}, "sequence"),
       "key \"i\" holds 3 values, expected rows of shape [2]"},
      {"i", feature(DType::float32, {}, {}, "sequence"),
       "key \"i\" holds integers, expected float32"},
  };
  for (const Case& c : cases) {
    const Call parse = parser({c.key}, {c.feature});
    CHECK(error_of([&] { parse({example(kRecord)}); }) ==
          "parse_example: " + std::string(c.message));
  }
}

TEST_CASE("parse_example refuses features at build") {
  struct Case {
    Attr feature;
    const char* message;
  };
  const std::vector<Case> cases = {
      {Attr::of(DType::int32), "is int32, expected int64, float32 or bytes; "
                               "read int64 and cast it: int32(x)"},
      {Attr::of(DType::float64), "is float64, expected int64, float32 or bytes; "
                                 "read float32 and cast it: float64(x)"},
      {feature(DType::int64, {2}, Attr::integer(5)),
       "has a default of 1 values, expected shape [2]"},
      {feature(DType::int64, {}, Attr::floating(5)),
       "has a default of dtype float64, expected int64"},
      {feature(DType::int64, {}, {}, "sparse"),
       "is sparse: index_key must name a list for each size in size"},
      {feature(DType::int64, {}, {}, "squence"),
       "has the unknown kind \"squence\" (did you mean sequence?)"},
      {feature(DType::int64, {-1}),
       "has a shape with an unknown size; "
       "say feature(dtype, kind=\"sequence\") for lists of any length"},
      {Attr::integer(1), "must be a dtype or feature(dtype, ...)"},
  };
  for (const Case& c : cases) {
    CHECK(type_error_of([&] { parser({"k"}, {c.feature}); }) ==
          "key \"k\" " + std::string(c.message));
  }
}

TEST_CASE("parse_example by blocks gives what single rows give") {
  const Call parse = parser({"name", "i", "words"},
                            {feature(DType::bytes, {}, Attr::text("?")), feature(DType::int64, {3}),
                             feature(DType::bytes, {}, {}, "sequence")});
  const std::vector<Tensor> records = {example(kRecord),
                                       example(ints("i", "\1\2") + strings("name", {"y"})),
                                       example(ints("i", "\4\5\6") + strings("words", {"u", "vw"})),
                                       example(kRecord + strings("words", {"z"}))};
  std::vector<std::string_view> texts;
  for (const Tensor& record : records) texts.push_back(bytes_at(record));
  const Tensor all = Tensor::of_strings(texts);
  Block in, out;
  in.rows = 4;
  in.columns = {
      Column::dense(DType::bytes, {}, 4, all.buffer(), const_cast<std::byte*>(all.data()))};
  CompiledFunction(parse.function, {}).run(in, &out);
  REQUIRE(out.errors.size() == 1);
  CHECK(out.errors[0].row == 1);
  CHECK(out.errors[0].error->message() ==
        "parse_example: key \"i\" holds 2 values, expected shape [3]");
  CHECK(out.columns[1].kind() == Column::Kind::dense);
  CHECK(out.columns[2].kind() == Column::Kind::ragged);
  for (const int64_t r : {0, 2, 3}) {
    const std::vector<Tensor> row = parse.all({records[static_cast<size_t>(r)]});
    for (size_t i = 0; i < 3; ++i) CHECK(out.columns[i].row(r).same(row[i]));
  }
  CHECK(out.columns[0].row(1).entry<BytesView>().size == 0);
  CHECK(out.columns[1].row(1).same(vector_of<int64_t>({0, 0, 0})));

  const Call batch = parser(
      {"name", "i"}, {feature(DType::bytes, {}, Attr::text("?")), feature(DType::int64, {3})},
      leaf(DType::bytes, {-1}));
  CHECK(batch.spec.text() == "{name: bytes[?], i: int64[?, 3]}");
  const Tensor two = Tensor::of_strings(std::vector<std::string_view>{texts[0], texts[2]});
  const std::vector<Tensor> stacked = batch.all({two});
  CHECK(stacked[0].same(Tensor::of_strings(std::vector<std::string_view>{"x", "?"})));
  CHECK(stacked[1].same(vector_of<int64_t>({1, 2, 3, 4, 5, 6}).reshaped({2, 3})));
}

TEST_CASE("decode_raw") {
  auto raw = [](const Tensor& bytes, DType dtype, bool little = true) {
    return Call(
        "decode_raw", {leaf(DType::bytes, Shape(bytes.dims()))},
        attrs_of({{"dtype", Attr::of(dtype)}, {"little_endian", Attr::boolean(little)}}))({bytes});
  };
  const Tensor eight = Tensor::of_bytes("\1\2\3\4\5\6\7\10");
  CHECK(raw(eight, DType::int16).same(vector_of<int16_t>({513, 1027, 1541, 2055})));
  CHECK(raw(eight, DType::int16, false).same(vector_of<int16_t>({258, 772, 1286, 1800})));
  CHECK(raw(eight, DType::int64).same(vector_of<int64_t>({578437695752307201})));
  CHECK(raw(Tensor::of_bytes(""), DType::int32).dims() == Dims{0});
  CHECK(raw(Tensor::of_bytes("\2"), DType::boolean).entry<uint8_t>() == 1);
  const Call dynamic("decode_raw", {kBytes}, attrs_of({{"dtype", Attr::of(DType::int16)}}));
  CHECK(dynamic.spec.text() == "int16[?]");
  CHECK(error_of([&] { dynamic({Tensor::of_bytes("abc")}); }) ==
        "decode_raw: 3 bytes are no multiple of 2, the size of int16");
}

}  // namespace
}  // namespace penstock
