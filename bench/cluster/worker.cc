#include "bench/cluster/worker.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <time.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>

#include "bench/cluster/record.h"
#include "bench/cluster/wire.h"
#include "parameters.pb.h"

namespace penstock::rig {
namespace {

constexpr double kStepJitter = 0.02;
constexpr int64_t kBillion = 1'000'000'000;
constexpr int kThreads = 2;

void sleep_until(int64_t time_ns) {
  const timespec t{time_ns / kBillion, time_ns % kBillion};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

const std::string kPull = "/penstock.rig.Parameters/Pull";
const std::string kPush = "/penstock.rig.Parameters/Push";

// One call and everything it needs until it ends.
struct Call {
  grpc::ClientContext context;
  grpc::ByteBuffer reply;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  std::function<void(const Call&)> done;
};

class Worker {
 public:
  Worker(const Layers& layers, const Job& job)
      : layers_(layers), job_(job), random_(job.seed), order_(layers.tensors.size()) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    for (const std::string& address : job.servers) {
      const auto channel =
          grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
      if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20)))
        throw std::runtime_error("rig_node: no server at " + address);
      servers_.push_back(std::make_unique<grpc::GenericStub>(channel));
    }
    for (const Tensor& t : layers.tensors) {
      if (static_cast<size_t>(t.server) >= servers_.size())
        throw std::runtime_error("rig_node: tensor " + t.name + ": no server " +
                                 std::to_string(t.server));
      gradients_.emplace_back(static_cast<size_t>(t.bytes), '\0');
    }
    std::iota(order_.begin(), order_.end(), 0);
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { finish_calls(); });
  }
  ~Worker() { queue_.Shutdown(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  StepRecord step() {
    const size_t tensors = layers_.tensors.size(), layers = layers_.layers.size();
    record_ = {};
    record_.down.resize(tensors);
    record_.up.resize(tensors);
    record_.apply.resize(tensors);
    record_.forward.resize(layers);
    record_.backward.resize(layers);
    there_.assign(tensors, false);
    left_ = tensors;
    record_.step.begin_ns = now_ns();
    const double pace = std::exp(kStepJitter * normal_(random_));
    if (!job_.in_order) std::shuffle(order_.begin(), order_.end(), random_);
    for (const int32_t t : order_) pull(t);
    for (size_t l = 0; l < layers; ++l) {
      wait_for(layers_.layers[l].tensors);
      compute(pace * layers_.layers[l].forward_ms, &record_.forward[l]);
    }
    for (size_t l = layers; l-- > 0;) {
      compute(pace * layers_.layers[l].backward_ms, &record_.backward[l]);
      for (const int32_t t : layers_.layers[l].tensors) push(t);
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ == 0 || !error_.empty(); });
    check();
    record_.step.end_ns = now_ns();
    return record_;
  }

 private:
  grpc::GenericStub& server_of(int32_t t) {
    return *servers_[static_cast<size_t>(layers_.tensors[static_cast<size_t>(t)].server)];
  }

  void check() const {
    if (!error_.empty()) throw std::runtime_error("rig_node: " + error_);
  }

  void compute(double ms, Times* times) {
    times->begin_ns = now_ns();
    const double jitter = std::exp(job_.jitter * normal_(random_));
    sleep_until(times->begin_ns + static_cast<int64_t>(ms * jitter * 1e6));
    times->end_ns = now_ns();
  }

  void wait_for(const std::vector<int32_t>& tensors) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return !error_.empty() || std::ranges::all_of(tensors, [&](int32_t t) {
        return there_[static_cast<size_t>(t)];
      });
    });
    check();
  }

  void fail(const grpc::Status& status) {
    if (!status.ok() && error_.empty()) error_ = status.error_message();
  }

  // Handles calls that ended, on any thread; gRPC's own callbacks are too slow (server.cc).
  void finish_calls() {
    void* tag = nullptr;
    for (bool ok = false; queue_.Next(&tag, &ok);) {
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      call->done(*call);
    }
  }

  // Sends `request` to the tensor's server; calls `done` with the call when it ends.
  void send(int32_t t, const std::string& method, const grpc::ByteBuffer& request,
            std::function<void(const Call&)> done) {
    auto* call = new Call;
    call->done = std::move(done);
    call->reader = server_of(t).PrepareUnaryCall(&call->context, method, request, &queue_);
    call->reader->StartCall();
    call->reader->Finish(&call->reply, &call->status, call);
  }

  void pull(int32_t t) {
    const auto at = static_cast<size_t>(t);
    record_.down[at].begin_ns = now_ns();
    send(t, kPull, values_message(t, {}), [this, at](const Call& call) {
      const int64_t end_ns = now_ns();
      const std::lock_guard lock(mutex_);
      record_.down[at].end_ns = end_ns;
      there_[at] = true;
      fail(call.status);
      changed_.notify_all();
    });
  }

  void push(int32_t t) {
    const auto at = static_cast<size_t>(t);
    const int64_t begin_ns = now_ns();
    send(t, kPush, values_message(t, gradients_[at]), [this, at, begin_ns](const Call& call) {
      Applied applied;
      const bool read = !call.status.ok() || read_message(call.reply, &applied);
      const std::lock_guard lock(mutex_);
      record_.up[at] = {begin_ns, applied.received_ns()};
      record_.apply[at] = {applied.received_ns(), applied.applied_ns()};
      --left_;
      fail(read ? call.status
                : grpc::Status(grpc::StatusCode::INTERNAL, "no such answer to a push"));
      changed_.notify_all();
    });
  }

  const Layers& layers_;
  const Job& job_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<int32_t> order_;
  std::vector<std::unique_ptr<grpc::GenericStub>> servers_;
  std::vector<std::string> gradients_;
  std::mutex mutex_;
  std::condition_variable changed_;
  StepRecord record_;
  std::vector<bool> there_;
  size_t left_ = 0;
  std::string error_;
  grpc::CompletionQueue queue_;
  std::vector<std::jthread> threads_;
};

void write_profile(const std::string& folder, int64_t number, const std::string& bytes) {
  char name[32];
  std::snprintf(name, sizeof name, "/step_%03d.pb", static_cast<int>(number));
  std::ofstream out(folder + name, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("rig_node: cannot write " + folder + name);
}

}  // namespace

void work(const Layers& layers, const Job& job) {
  Worker worker(layers, job);
  std::cout << "ready" << std::endl;
  int64_t begin_ns = 0;
  if (!(std::cin >> begin_ns)) return;
  // Ends the process as soon as the reader of its output is gone; does not wait for calls in
  // flight.
  std::thread([] {
    while (std::cin.get() != std::char_traits<char>::eof()) {
    }
    _exit(0);
  }).detach();
  sleep_until(begin_ns);
  std::vector<std::string> profile;
  for (int64_t s = 0;; ++s) {
    const StepRecord record = worker.step();
    std::cout << "step " << record.step.begin_ns << ' ' << record.step.end_ns << std::endl;
    if (job.profile.empty() || s < job.profile_from) continue;
    profile.push_back(run_metadata(layers, record));
    if (static_cast<int64_t>(profile.size()) == job.profile_steps) break;
  }
  for (size_t i = 0; i < profile.size(); ++i)
    write_profile(job.profile, static_cast<int64_t>(i), profile[i]);
  std::cout << "done" << std::endl;
}

}  // namespace penstock::rig
