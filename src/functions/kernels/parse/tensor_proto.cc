#include "functions/kernels/parse/tensor_proto.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "data/charged.h"
#include "data/checked_product.h"
#include "functions/kernels/parse/wire.h"
#include "functions/kernels/parse/wire_writer.h"

namespace penstock {
namespace {

// TensorFlow's numbers of the dtypes.
constexpr std::array<std::pair<DType, int>, 14> kNumbers{{{DType::float32, 1},
                                                          {DType::float64, 2},
                                                          {DType::int32, 3},
                                                          {DType::uint8, 4},
                                                          {DType::int16, 5},
                                                          {DType::int8, 6},
                                                          {DType::bytes, 7},
                                                          {DType::int64, 9},
                                                          {DType::boolean, 10},
                                                          {DType::bfloat16, 14},
                                                          {DType::uint16, 17},
                                                          {DType::float16, 19},
                                                          {DType::uint32, 22},
                                                          {DType::uint64, 23}}};

enum Field : uint32_t {
  kDType = 1,
  kShape = 2,
  kContent = 4,
  kFloats = 5,
  kDoubles = 6,
  kInts = 7,
  kStrings = 8,
  kInt64s = 10,
  kBools = 11,
  kHalves = 13,
  kUint32s = 16,
  kUint64s = 17,
};

int number_of(DType dtype) {
  return std::ranges::find(kNumbers, dtype, &std::pair<DType, int>::first)->second;
}

// Which field lists the values of a dtype.
uint32_t values_field(DType dtype) {
  switch (dtype) {
    case DType::float32: return kFloats;
    case DType::float64: return kDoubles;
    case DType::bytes: return kStrings;
    case DType::int64: return kInt64s;
    case DType::boolean: return kBools;
    case DType::float16:
    case DType::bfloat16: return kHalves;
    case DType::uint32: return kUint32s;
    case DType::uint64: return kUint64s;
    default: return kInts;
  }
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(Code::invalid_argument, "not a TensorProto: " + what);
}

// Missing values are filled in; a few bytes must not ask for gigabytes.
void check_filled(const Dims& dims, DType dtype) {
  constexpr int64_t kMost = int64_t{256} << 20;
  if (dims.entries() * dtype_size(dtype) > kMost)
    fail("shape " + dims.text() + " without its values");
}

// What the message holds before the shape says how it is to be read.
struct Parts {
  int dtype = 0;
  std::vector<int64_t> sizes;
  bool known_rank = true;
  std::string_view content;
  ChargedVector<std::string_view> strings;
  ChargedString values;  // entries of the dtype, one behind the other
};

void read_shape(std::string_view message, const char* start, Parts* parts) {
  WireReader shape(message, start, "TensorProto");
  while (!shape.done()) {
    const uint32_t tag = shape.tag();
    if (tag == (3 << 3 | WireReader::varint)) {
      parts->known_rank = shape.varint64() == 0;
    } else if (tag == (2 << 3 | WireReader::length)) {
      int64_t size = 0;
      for (WireReader dim(shape.bytes(), start, "TensorProto"); !dim.done();) {
        const uint32_t inner = dim.tag();
        if (inner == (1 << 3 | WireReader::varint)) {
          size = static_cast<int64_t>(dim.varint64());
        } else {
          dim.skip(inner);
        }
      }
      parts->sizes.push_back(size);
    } else {
      shape.skip(tag);
    }
  }
}

// One value from the wire, as an entry of the dtype.
void read_value(WireReader& reader, DType dtype, ChargedString* out) {
  auto add = [out](const void* value, size_t size) {
    out->append(static_cast<const char*>(value), size);
  };
  if (dtype == DType::float32) {
    const auto value = reader.fixed<float>();
    add(&value, sizeof value);
  } else if (dtype == DType::float64) {
    const auto value = reader.fixed<double>();
    add(&value, sizeof value);
  } else {  // little endian: the low bytes are the entry
    uint64_t value = reader.varint64();
    if (dtype == DType::boolean) value = value != 0;
    add(&value, static_cast<size_t>(dtype_size(dtype)));
  }
}

Parts read_parts(std::string_view bytes, DType dtype) {
  Parts parts;
  WireReader reader(bytes, bytes.data(), "TensorProto");
  while (!reader.done()) {
    const uint32_t tag = reader.tag(), field = tag >> 3;
    const bool packed = (tag & 7) == WireReader::length;
    if (field == kDType && !packed) {
      parts.dtype = static_cast<int>(reader.varint64());
    } else if (field == kShape && packed) {
      read_shape(reader.bytes(), bytes.data(), &parts);
    } else if (field == kContent && packed) {
      parts.content = reader.bytes();
    } else if (field == kStrings && packed && dtype == DType::bytes) {
      parts.strings.push_back(reader.bytes());
    } else if (field == values_field(dtype) && dtype != DType::bytes) {
      if (!packed) {
        read_value(reader, dtype, &parts.values);
        continue;
      }
      for (WireReader run(reader.bytes(), bytes.data(), "TensorProto"); !run.done();)
        read_value(run, dtype, &parts.values);
    } else {
      reader.skip(tag);
    }
  }
  return parts;
}

Dims dims_of(const Parts& parts, DType dtype) {
  if (!parts.known_rank) fail("its rank is unknown");
  if (parts.sizes.size() > static_cast<size_t>(kMaxRank))
    fail("rank " + std::to_string(parts.sizes.size()));
  for (const int64_t size : parts.sizes) {
    if (size < 0) fail("a size of " + std::to_string(size));
  }
  if (!are_shape_sizes(parts.sizes) ||
      checked_product(parts.sizes) > (int64_t{1} << 40) / dtype_size(dtype))
    fail("a shape that is too large");
  return Dims(parts.sizes);
}

Tensor string_tensor(const Parts& parts, const Dims& dims) {
  const int64_t n = dims.entries(), got = static_cast<int64_t>(parts.strings.size());
  if (!parts.content.empty() || got > n)
    fail(std::to_string(got) + " strings for shape " + dims.text());
  if (got < n) check_filled(dims, DType::bytes);
  Tensor out = Tensor::make(DType::bytes, dims);
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view s =
        got == 0 ? std::string_view() : parts.strings[static_cast<size_t>(std::min(i, got - 1))];
    out.mutable_entries<BytesView>()[i] = {s.data(), static_cast<int64_t>(s.size())};
  }
  return out;
}

}  // namespace

Tensor read_tensor_proto(std::string_view bytes, DType dtype) {
  const Parts parts = read_parts(bytes, dtype);
  if (parts.dtype != number_of(dtype)) {
    const auto* named = std::ranges::find(kNumbers, parts.dtype, &std::pair<DType, int>::second);
    fail("its dtype is " +
         (named == kNumbers.end() ? "number " + std::to_string(parts.dtype)
                                  : std::string(dtype_name(named->first))) +
         ", expected " + std::string(dtype_name(dtype)));
  }
  const Dims dims = dims_of(parts, dtype);
  if (dtype == DType::bytes) return string_tensor(parts, dims);
  const size_t entry = static_cast<size_t>(dtype_size(dtype));
  const size_t wanted = static_cast<size_t>(dims.entries()) * entry;
  const std::string_view values = parts.content.empty() ? parts.values : parts.content;
  if (values.size() > wanted || (!parts.content.empty() && values.size() != wanted)) {
    fail(std::to_string(values.size()) + " bytes of values for shape " + dims.text());
  }
  if (values.size() < wanted) check_filled(dims, dtype);
  Tensor out = Tensor::make(dtype, dims);
  auto* to = reinterpret_cast<char*>(out.mutable_data());
  if (!values.empty()) std::memcpy(to, values.data(), values.size());
  for (size_t at = values.size(); at < wanted; at += entry) {
    if (at == 0) {
      std::memset(to, 0, entry);
    } else {
      std::memcpy(to + at, to + at - entry, entry);
    }
  }
  if (dtype == DType::boolean) {  // whatever byte stood there
    for (size_t i = 0; i < wanted; ++i) to[i] = to[i] != 0;
  }
  return out;
}

ChargedString write_tensor_proto(const Tensor& tensor) {
  ChargedString out;
  std::string shape;  // bounded: by the rank
  append_number_field(out, kDType, static_cast<uint64_t>(number_of(tensor.dtype())));
  for (const int64_t size : tensor.dims().sizes()) {
    std::string dim;  // bounded: a size
    append_number_field(dim, 1, static_cast<uint64_t>(size));
    append_bytes_field(shape, 2, dim);
  }
  append_bytes_field(out, kShape, shape);
  if (tensor.dtype() == DType::bytes) {
    for (int64_t i = 0; i < tensor.entries_count(); ++i)
      append_bytes_field(out, kStrings, tensor.entry<BytesView>(i).view());
  } else {
    append_bytes_field(
        out, kContent,
        {reinterpret_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.data_bytes())});
  }
  return out;
}

}  // namespace penstock
