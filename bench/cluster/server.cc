#include "bench/cluster/server.h"

#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/cluster/wire.h"
#include "parameters.grpc.pb.h"

namespace penstock::rig {
namespace {

constexpr float kRate = 1e-3F;
constexpr int kThreads = 2;  // one reads while the other applies

using RawService =
    Parameters::WithRawMethod_Pull<Parameters::WithRawMethod_Push<Parameters::Service>>;

class Variables {
 public:
  Variables(const Layers& layers, int32_t index) : values_(layers.tensors.size()) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const Tensor& t = layers.tensors[i];
      if (t.server == index) values_[i].assign(static_cast<size_t>(t.bytes), '\0');
    }
  }

  grpc::Status pull(const grpc::ByteBuffer& request, grpc::ByteBuffer* reply) {
    const int32_t tensor = read_values(request).tensor;
    const std::string* values = find(tensor);
    if (values != nullptr) *reply = values_message(tensor, *values);
    return status(values);
  }

  grpc::Status push(const grpc::ByteBuffer& request, grpc::ByteBuffer* reply) {
    Applied applied;
    applied.set_received_ns(now_ns());
    const ReadValues gradient = read_values(request);
    std::string* values = find(gradient.tensor);
    if (values != nullptr) apply(gradient.pieces, values);
    applied.set_applied_ns(now_ns());
    *reply = write_message(applied);
    return status(values);
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

  // Without a lock, as in asynchronous training. Leaves a number that crosses two pieces unchanged:
  // it costs the same, and nothing is learned.
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

// A call, from before its arrival until its answer; deletes itself. The queue's threads are ours,
// because those of gRPC's callbacks sleep for 100 ms when nothing has ended for a second, and then
// nobody reads during a long transfer.
class Call {
 public:
  using Answer = grpc::Status (Variables::*)(const grpc::ByteBuffer&, grpc::ByteBuffer*);
  using Request = void (RawService::*)(grpc::ServerContext*, grpc::ByteBuffer*,
                                       grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>*,
                                       grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*);
  struct Where {
    Variables* variables;
    RawService* service;
    grpc::ServerCompletionQueue* queue;
  };

  Call(const Where& where, Request request, Answer answer)
      : where_(where), request_method_(request), answer_(answer) {
    (where.service->*request)(&context_, &request_, &writer_, where.queue, where.queue, this);
  }

  void proceed(bool ok) {
    if (!ok || answered_) {
      delete this;
      return;
    }
    new Call(where_, request_method_, answer_);
    const grpc::Status status = (where_.variables->*answer_)(request_, &reply_);
    answered_ = true;
    writer_.Finish(reply_, status, this);
  }

 private:
  Where where_;
  Request request_method_;
  Answer answer_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_, reply_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
  bool answered_ = false;
};

}  // namespace

void serve(const Layers& layers, int32_t index, const std::string& address) {
  Variables variables(layers, index);
  RawService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::ServerCompletionQueue> queue = builder.AddCompletionQueue();
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) throw std::runtime_error("rig_node: cannot listen on " + address);
  const Call::Where where{&variables, &service, queue.get()};
  new Call(where, &RawService::RequestPull, &Variables::pull);
  new Call(where, &RawService::RequestPush, &Variables::push);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      void* tag = nullptr;
      for (bool ok = false; queue->Next(&tag, &ok);) static_cast<Call*>(tag)->proceed(ok);
    });
  }
  std::printf("ready\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  queue->Shutdown();
}

}  // namespace penstock::rig
