#include "bench/cluster/server.h"

#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "parameters.grpc.pb.h"

namespace penstock::rig {
namespace {

constexpr float kRate = 1e-3F;

class Service final : public Parameters::CallbackService {
 public:
  Service(const Layers& layers, int32_t index) : values_(layers.tensors.size()) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const Tensor& t = layers.tensors[i];
      if (t.server == index) values_[i].assign(static_cast<size_t>(t.bytes), '\0');
    }
  }

  grpc::ServerUnaryReactor* Pull(grpc::CallbackServerContext* context, const PullRequest* request,
                                 PullReply* reply) override {
    auto* reactor = context->DefaultReactor();
    std::string* values = find(request->tensor());
    if (values != nullptr) reply->set_values(*values);
    reactor->Finish(status(values));
    return reactor;
  }

  grpc::ServerUnaryReactor* Push(grpc::CallbackServerContext* context, const PushRequest* request,
                                 PushReply* reply) override {
    reply->set_received_ns(now_ns());
    auto* reactor = context->DefaultReactor();
    std::string* values = find(request->tensor());
    if (values != nullptr) apply(request->gradient(), values);
    reply->set_applied_ns(now_ns());
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

  // Without a lock, as asynchronous training does it.
  static void apply(const std::string& gradient, std::string* values) {
    const size_t n = std::min(gradient.size(), values->size()) / sizeof(float);
    for (size_t i = 0; i < n; ++i) {
      float value = 0, slope = 0;
      std::memcpy(&value, values->data() + i * sizeof(float), sizeof value);
      std::memcpy(&slope, gradient.data() + i * sizeof(float), sizeof slope);
      value -= kRate * slope;
      std::memcpy(values->data() + i * sizeof(float), &value, sizeof value);
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
