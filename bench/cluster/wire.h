// Messages as gRPC carries them. Values stay where they are: a message refers to the sender's
// memory, and what comes in is read in the pieces it came in, as TensorFlow does it. A copy of 40
// MB takes 20 ms and keeps the thread that other messages wait for.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rig {

// A message Values of parameters.proto. `values` must live until the call is over.
grpc::ByteBuffer values_message(int32_t tensor, std::string_view values);

// The same as it came in; `pieces` are parts of it.
struct ReadValues {
  int32_t tensor = -1;  // -1: it is no such message
  std::vector<grpc::Slice> slices;
  std::vector<std::string_view> pieces;
};
ReadValues read_values(const grpc::ByteBuffer& message);

// Small messages.
grpc::ByteBuffer write_message(const google::protobuf::MessageLite& message);
bool read_message(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

}  // namespace penstock::rig
