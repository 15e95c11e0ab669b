// Messages in gRPC's form. Values are not copied: a message refers to the sender's memory, and
// received data is read in the pieces in which it arrived, as in TensorFlow. A copy of 40 MB takes
// 20 ms and blocks the thread for which other messages wait.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rig {

// Returns a message Values of parameters.proto. `values` must live until the call ends.
grpc::ByteBuffer values_message(int32_t tensor, std::string_view values);

// The same, as received; `pieces` are parts of it.
struct ReadValues {
  int32_t tensor = -1;  // -1: the message is malformed
  std::vector<grpc::Slice> slices;
  std::vector<std::string_view> pieces;
};
ReadValues read_values(const grpc::ByteBuffer& message);

// Small messages.
grpc::ByteBuffer write_message(const google::protobuf::MessageLite& message);
bool read_message(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

}  // namespace penstock::rig
