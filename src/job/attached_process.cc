#include "job/attached_process.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/open_file.h"
#include "job/attach_directory.h"

namespace penstock {
namespace {

constexpr timeval kPatience = {5, 0};
constexpr size_t kMostAnswerBytes = size_t{64} << 20;

std::string named(int64_t pid) { return "process " + std::to_string(pid); }

std::string proc_file(int64_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the words that started the process, on one line.
std::string command_of(int64_t pid) {
  std::string out = proc_file(pid, "cmdline");
  while (!out.empty() && out.back() == '\0') out.pop_back();
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  return out;
}

// Returns the state as proc(5) has it; 'X' if there is no such process.
char state_of(int64_t pid) {
  const std::string stat = proc_file(pid, "stat");
  const size_t name_end = stat.rfind(')');  // the name may hold anything
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? 'X' : stat[name_end + 2];
}

bool is_stopped(int64_t pid) {
  const char state = state_of(pid);
  return state == 'T' || state == 't';
}

Error no_answer(int64_t pid) {
  const std::string of = named(pid);
  if (is_stopped(pid))
    return {Code::unavailable,
            of + " is stopped; let it go on with kill -CONT " + std::to_string(pid)};
  return {Code::unavailable,
          of + " does not answer within " + std::to_string(kPatience.tv_sec) + " s; try again"};
}

Error ended(int64_t pid) { return {Code::unavailable, named(pid) + " has ended"}; }

Error no_socket(int64_t pid) {
  const std::string of = named(pid);
  struct stat status{};
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
    return {Code::not_found, "there is no " + of};
  if (stat(("/proc/" + std::to_string(pid)).c_str(), &status) == 0 && status.st_uid != geteuid())
    return {Code::permission_denied,
            of + " belongs to another user; attach to your own processes only"};
  return {Code::not_found,
          of + " runs no pipeline of Penstock, or cannot be asked (PENSTOCK_ATTACH)"};
}

// Returns an open connection; one that is not open leaves errno.
FileDescriptor connect_to(const std::string& path) {
  const auto address = socket_address(path);
  FileDescriptor fd(address ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1);
  if (!fd.is_open()) return fd;
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  const auto* const where = reinterpret_cast<const sockaddr*>(&*address);
  if (connect(fd.get(), where, sizeof *address) == 0) return fd;
  const int error = errno;
  fd = FileDescriptor(-1);
  errno = error;
  return fd;
}

void check_trust(const std::string& directory) {
  if (const std::string why = distrust(directory); !why.empty())
    throw Error(Code::permission_denied, why);
}

Json parsed_answer(int64_t pid, const std::string& text) {
  const Json out = Json::parse(text, nullptr, false);
  if (!out.is_object()) throw Error(Code::data_loss, named(pid) + " answers what is not JSON");
  if (const auto error = out.find("error"); error != out.end()) {
    const std::string code = error->value("code", "");
    throw Error(code == code_name(Code::not_found) ? Code::not_found : Code::failed_precondition,
                named(pid) + ": " + error->value("message", ""));
  }
  return out;
}

}  // namespace

AttachedProcess::AttachedProcess(int64_t pid, std::string socket)
    : pid_(pid), socket_(std::move(socket)), command_(command_of(pid)) {}

AttachedProcess::AttachedProcess(int64_t pid) : pid_(pid), command_(command_of(pid)) {
  for (const std::string& directory : attach_directories()) {
    const std::string path = attach_socket(directory, pid);
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0) {
      if (errno == EACCES) check_trust(directory);
      continue;
    }
    check_trust(directory);
    const FileDescriptor fd = connect_to(path);
    if (!fd.is_open() && errno == ECONNREFUSED) {  // left by a killed process
      unlink(path.c_str());
      continue;
    }
    socket_ = path;
    return;
  }
  throw no_socket(pid);
}

std::string AttachedProcess::ask(const std::string& request) const {
  if (is_stopped(pid_)) throw no_answer(pid_);
  const FileDescriptor fd = connect_to(socket_);
  if (!fd.is_open()) throw errno == EAGAIN ? no_answer(pid_) : ended(pid_);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    throw Error(Code::permission_denied, socket_ + " is answered by another user");
  const std::string line = request + "\n";
  if (send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
    throw ended(pid_);
  std::string out;
  std::vector<char> part(size_t{1} << 16);
  while (out.empty() || out.back() != '\n') {
    const ssize_t n = recv(fd.get(), part.data(), part.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw no_answer(pid_);
    if (n <= 0) throw ended(pid_);
    out.append(part.data(), static_cast<size_t>(n));
    if (out.size() > kMostAnswerBytes)
      throw Error(Code::data_loss, named(pid_) + " answers without end");
  }
  return out;
}

std::vector<AttachedRun> AttachedProcess::runs() const {
  const Json answer = parsed_answer(pid_, ask(R"({"ask": "runs"})"));
  std::vector<AttachedRun> out;
  for (const Json& run : answer.value("runs", Json::array())) {
    out.push_back({run.value("run", int64_t{0}), run.value("seconds", 0.0),
                   run.value("elements", int64_t{0}), run.value("stages", int64_t{0})});
  }
  return out;
}

Trace AttachedProcess::trace(int64_t run, bool file_sizes) const {
  const Json request = {{"ask", "trace"}, {"run", run}, {"file_sizes", file_sizes}};
  const Json answer = parsed_answer(pid_, ask(request.dump()));
  return trace_from_json(answer.value("trace", Json()), named(pid_));
}

bool is_running(int64_t pid) {
  const char state = state_of(pid);
  return state != 'X' && state != 'Z';
}

Trace trace_between(const Trace& earlier, const Trace& later) {
  Trace out = trace_difference(later, earlier);
  // Clocks of the machine and of the process differ by a step of 10 ms.
  if (auto& other = out.interval.other_cpu_seconds) other = std::max(0.0, *other);
  return out;
}

std::vector<AttachedProcess> attachable_processes() {
  std::vector<AttachedProcess> out;
  for (const std::string& directory : attach_directories()) {
    check_trust(directory);
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(directory.c_str()), closedir);
    if (!opened) continue;
    while (const dirent* entry = readdir(opened.get())) {
      const auto pid = pid_of_socket(entry->d_name);
      if (!pid) continue;
      const std::string path = directory + "/" + entry->d_name;
      const FileDescriptor fd = connect_to(path);
      if (fd.is_open()) {
        out.push_back(AttachedProcess(*pid, path));
      } else if (errno == ECONNREFUSED) {
        unlink(path.c_str());
      }
    }
  }
  std::ranges::sort(out, {}, &AttachedProcess::pid);
  return out;
}

}  // namespace penstock
