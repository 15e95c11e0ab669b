#include "job/attach_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/fork.h"
#include "base/open_file.h"
#include "base/start_thread.h"
#include "job/attach_directory.h"
#include "job/trace_drop.h"
#include "runtime/run.h"

namespace penstock {
namespace {

constexpr size_t kMostRequestBytes = 4096;
constexpr timeval kPatience = {2, 0};  // for a client that stops in the middle

// Descriptors of this process that a forked child must not hold open: a client would wait for it.
std::atomic<int> listening{-1}, serving{-1};

void close_inherited() {
  for (std::atomic<int>* fd : {&listening, &serving}) {
    if (const int inherited = fd->exchange(-1); inherited >= 0) close(inherited);
  }
}

Json error_json(const Error& e) {
  return {{"error", {{"code", code_name(e.code())}, {"message", e.message()}}}};
}

std::string request_of(int client) {
  std::string out;
  char part[512];
  while (out.find('\n') == std::string::npos && out.size() < kMostRequestBytes) {
    const ssize_t n = recv(client, part, sizeof part, 0);
    if (n <= 0) break;
    out.append(part, static_cast<size_t>(n));
  }
  return out;
}

void send_all(int client, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = send(client, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return;
    at += static_cast<size_t>(n);
  }
}

// Directories are closed to other users already; a descriptor may have been handed over.
bool is_own_user(int client) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

}  // namespace

// Never destroyed: its thread runs as long as the process.
class AttachServer {
 public:
  // Returns null if the process cannot be asked.
  static AttachServer* instance() {
    static auto* const mutex = new ForkMutex;
    static AttachServer* server = nullptr;
    const std::lock_guard lock(*mutex);
    if (server && server->forks_ == fork_count()) return server->is_open_ ? server : nullptr;
    static const int once = pthread_atfork(nullptr, nullptr, close_inherited) +
                            std::atexit([] { server->remove_socket(); });
    server = new AttachServer(server);
    server->is_open_ = once == 0 && attach_is_wanted() && server->listen_here() && server->start();
    return server->is_open_ ? server : nullptr;
  }

  int64_t add(AttachableRun::Capture capture) {
    const std::lock_guard lock(mutex_);
    runs_.emplace(++last_, std::move(capture));
    return last_;
  }
  void remove(int64_t number) {
    const std::lock_guard lock(mutex_);
    runs_.erase(number);
  }
  bool is_inherited() const { return forks_ != fork_count(); }

 private:
  explicit AttachServer(AttachServer* inherited) : inherited_(inherited) {}

  // A socket gets its name when it answers, so that none that refuses a client is alive.
  bool listen_here() {
    const auto directory = make_attach_directory();
    if (!directory) return false;
    const std::string path = attach_socket(*directory, getpid()), unnamed = path + ".new";
    const auto address = socket_address(unnamed);
    FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!address || !fd.is_open()) return false;
    unlink(unnamed.c_str());
    const auto* const where = reinterpret_cast<const sockaddr*>(&*address);
    if (bind(fd.get(), where, sizeof *address) != 0) return false;
    if (listen(fd.get(), SOMAXCONN) != 0 || rename(unnamed.c_str(), path.c_str()) != 0) {
      unlink(unnamed.c_str());
      return false;
    }
    path_ = path;
    fd_ = fd.release();
    listening.store(fd_);
    return true;
  }

  // The process's signals go to its own threads.
  bool start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread;
    const bool started = start_thread(&thread, [this] { serve(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) {
      thread.detach();
    } else {
      remove_socket();
      close_inherited();
    }
    return started;
  }

  void serve() {
    for (;;) {
      if (!wait_for_client()) continue;
      const int client = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
        const timespec pause = {1, 0};  // until the process has closed something
        nanosleep(&pause, nullptr);
        continue;
      }
      serving.store(client);
      setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
      setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
      if (is_own_user(client)) send_all(client, answer(request_of(client)));
      serving.store(-1);
      close(client);
    }
  }

  // Returns false when it has left traces of the runs instead.
  bool wait_for_client() const {
    if (!drops_traces()) return true;
    pollfd waits{fd_, POLLIN, 0};
    if (poll(&waits, 1, static_cast<int>(kDropEverySeconds * 1e3)) != 0) return true;
    const std::lock_guard lock(mutex_);
    for (const auto& [number, capture] : runs_) drop_trace(capture(false));
    return false;
  }

  std::string answer(const std::string& request) const {
    Json out;
    try {
      out = answer_to(Json::parse(request, nullptr, false));
    } catch (const Error& e) {
      out = error_json(e);
    } catch (const std::exception& e) {
      out = error_json({Code::internal, e.what()});
    }
    return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  Json answer_to(const Json& request) const {
    const std::string ask = request.is_object() ? request.value("ask", "") : "";
    const std::lock_guard lock(mutex_);
    if (ask == "runs") {
      Json runs = Json::array();
      for (const auto& [number, capture] : runs_) runs.push_back(summary(number, capture(false)));
      return {{"pid", getpid()}, {"version", kAttachVersion}, {"runs", std::move(runs)}};
    }
    if (ask != "trace")
      throw Error(Code::unimplemented, "this process does not know what is asked: " + ask);
    const int64_t number = request.value("run", int64_t{0});
    const auto found = runs_.find(number);
    if (found == runs_.end())
      throw Error(Code::not_found, "run " + std::to_string(number) + " is over");
    Trace trace = found->second(request.value("file_sizes", true));
    // Since the machine started: a client takes the difference of two traces.
    if (const auto busy = cores_busy_seconds())
      trace.interval.other_cpu_seconds = std::max(0.0, *busy - process_cpu_seconds());
    return {{"trace", trace_to_json(trace)}};
  }

  static Json summary(int64_t number, const Trace& trace) {
    return {{"run", number},
            {"seconds", trace.interval.seconds},
            {"elements", trace.interval.elements},
            {"ended", trace.interval.ended},
            {"stages", trace.stages.size()}};
  }

  // A forked child has its parent's path.
  void remove_socket() const {
    if (!is_inherited() && !path_.empty()) unlink(path_.c_str());
  }

  const uint32_t forks_ = fork_count();
  [[maybe_unused]] AttachServer* const inherited_;  // left alone
  bool is_open_ = false;
  std::string path_;
  int fd_ = -1;
  mutable std::mutex mutex_;  // protects the runs; held while one is captured
  std::map<int64_t, AttachableRun::Capture> runs_;
  int64_t last_ = 0;
};

AttachableRun::AttachableRun(const Run& run, Capture capture) {
  // Runs with a schedule have no threads, and tests make thousands of them.
  if (!run.options().count || run.options().schedule_seed != 0) return;
  if (drops_traces()) last_ = capture;
  server_ = AttachServer::instance();
  if (server_) number_ = server_->add(std::move(capture));
}

AttachableRun::~AttachableRun() {
  if (server_ && !server_->is_inherited()) server_->remove(number_);
  if (last_) drop_trace(last_(true));
}

}  // namespace penstock
