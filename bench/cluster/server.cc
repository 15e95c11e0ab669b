#include "bench/cluster/server.h"

#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "bench/cluster/wire.h"
#include "parameters.grpc.pb.h"

namespace penstock::rig {
namespace {

constexpr float kRate = 1e-3F;

class Service final : public Parameters::WithRawCallbackMethod_Pull<
                          Parameters::WithRawCallbackMethod_Push<Parameters::Service>> {
 public:
  Service(const Layers& layers, int32_t index) : values_(layers.tensors.size()) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const Tensor& t = layers.tensors[i];
      if (t.server == index) values_[i].assign(static_cast<size_t>(t.bytes), '\0');
    }
  }

  grpc::ServerUnaryReactor* Pull(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* reply) override {
    auto* reactor = context->DefaultReactor();
    const int32_t tensor = read_values(*request).tensor;
    const std::string* values = find(tensor);
    if (values != nullptr) *reply = values_message(tensor, *values);
    reactor->Finish(status(values));
    return reactor;
  }

  grpc::ServerUnaryReactor* Push(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* reply) override {
    Applied applied;
    applied.set_received_ns(now_ns());
    auto* reactor = context->DefaultReactor();
    const ReadValues gradient = read_values(*request);
    std::string* values = find(gradient.tensor);
    if (values != nullptr) apply(gradient.pieces, values);
    applied.set_applied_ns(now_ns());
    *reply = write_message(applied);
    reactor->Finish(status(values));
    return reactor;
  }

 private:
  std::string* find(int32_t tensor) {
    const bool known = tensor >= 0 && static_cast<size_t>(tensor) < values_.size();
    return known && !values_[static_cast<size_t>(tensor)].empty()
               ? &values_[static_cast<size_t>(tensor)]
               : nullptr;
  }

  static grpc::Status status(const std::string* values) {
    return values != nullptr ? grpc::Status::OK
                             : grpc::Status(grpc::StatusCode::NOT_FOUND, "no such tensor here");
  }

  // Without a lock, as asynchronous training does it. A number that lies across two pieces is left
  // as it is: it costs the same, and nothing is learned.
  static void apply(const std::vector<std::string_view>& gradient, std::string* values) {
    size_t at = 0;
    for (const std::string_view piece : gradient) {
      const size_t skip = (sizeof(float) - at % sizeof(float)) % sizeof(float);
      for (size_t i = skip; i + sizeof(float) <= piece.size(); i += sizeof(float)) {
        if (at + i + sizeof(float) > values->size()) return;
        float value = 0, slope = 0;
        std::memcpy(&value, values->data() + at + i, sizeof value);
        std::memcpy(&slope, piece.data() + i, sizeof slope);
        value -= kRate * slope;
        std::memcpy(values->data() + at + i, &value, sizeof value);
      }
      at += piece.size();
    }
  }

  std::vector<std::string> values_;  // by tensor; empty: on another server
};

}  // namespace

void serve(const Layers& layers, int32_t index, const std::string& address) {
  Service service(layers, index);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) throw std::runtime_error("rig_node: cannot listen on " + address);
  std::printf("ready\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace penstock::rig
