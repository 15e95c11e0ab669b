#include "bench/cluster/wire.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>

namespace penstock::rig {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint8_t kTensorTag = 0x08, kValuesTag = 0x12;  // of fields 1 and 2 of Values
constexpr size_t kMostHeader = 16;

// Reads the header before the values; returns its length, 0 if it is something else.
size_t read_header(const uint8_t* bytes, size_t count, int32_t* tensor) {
  CodedInputStream in(bytes, static_cast<int>(count));
  uint32_t number = 0, size = 0;
  if (in.ReadTag() != kTensorTag || !in.ReadVarint32(&number)) return 0;
  const auto without_values = static_cast<size_t>(in.CurrentPosition());
  *tensor = static_cast<int32_t>(number);
  if (in.ReadTag() != kValuesTag || !in.ReadVarint32(&size)) return without_values;
  return static_cast<size_t>(in.CurrentPosition());
}

}  // namespace

grpc::ByteBuffer values_message(int32_t tensor, std::string_view values) {
  std::array<uint8_t, kMostHeader> header{};
  header[0] = kTensorTag;
  uint8_t* end =
      CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(tensor), header.data() + 1);
  if (!values.empty()) {
    *end++ = kValuesTag;
    end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(values.size()), end);
  }
  const std::array<grpc::Slice, 2> slices{
      grpc::Slice(header.data(), static_cast<size_t>(end - header.data())),
      grpc::Slice(values.data(), values.size(), grpc::Slice::STATIC_SLICE)};
  return {slices.data(), values.empty() ? size_t{1} : slices.size()};
}

ReadValues read_values(const grpc::ByteBuffer& message) {
  ReadValues out;
  if (!message.Valid() || !message.Dump(&out.slices).ok()) return out;
  std::array<uint8_t, kMostHeader> begin{};
  size_t there = 0;
  for (const grpc::Slice& s : out.slices) {
    const size_t more = std::min(s.size(), begin.size() - there);
    std::copy_n(s.begin(), more, begin.data() + there);
    there += more;
  }
  size_t skip = read_header(begin.data(), there, &out.tensor);
  if (skip == 0) return out;
  for (const grpc::Slice& s : out.slices) {
    const size_t skipped = std::min(skip, s.size());
    skip -= skipped;
    if (skipped < s.size())
      out.pieces.emplace_back(reinterpret_cast<const char*>(s.begin()) + skipped,
                              s.size() - skipped);
  }
  return out;
}

grpc::ByteBuffer write_message(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

bool read_message(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message) {
  grpc::Slice slice;
  return bytes.Valid() && bytes.DumpToSingleSlice(&slice).ok() &&
         message->ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
}

}  // namespace penstock::rig
