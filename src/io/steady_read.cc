#include "io/steady_read.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace penstock {
namespace {

// Reads PENSTOCK_FAULT_READ; 0: no faults.
int64_t fault_every() {
  static const int64_t every = [] {
    const char* text = std::getenv("PENSTOCK_FAULT_READ");
    return text ? std::strtoll(text, nullptr, 10) : 0;
  }();
  return every;
}

// Faults hit one read at most kMostFaults times: reads of other threads shift the turns, and a read
// that met a fault at each of its tries would fail.
ssize_t pread_once(int fd, std::span<std::byte> out, int64_t offset, size_t tries) {
  constexpr size_t kMostFaults = 2;
  static std::atomic<int64_t> reads{0};
  if (const int64_t every = fault_every(); every > 1) {
    const int64_t turn = ++reads % every;
    if (turn == 0 && tries < kMostFaults) {
      errno = EIO;
      return -1;
    }
    if (turn == 1 && out.size() > 1) out = out.first(out.size() / 2);
  }
  return ::pread(fd, out.data(), out.size(), offset);
}

bool may_pass(int error) {
  return error == EIO || error == EAGAIN || error == ETIMEDOUT || error == ENETRESET ||
         error == ECONNRESET;
}

}  // namespace

ssize_t steady_pread(int fd, std::span<std::byte> out, int64_t offset) {
  constexpr std::array kWaits{std::chrono::milliseconds(1), std::chrono::milliseconds(10),
                              std::chrono::milliseconds(100)};
  for (size_t tries = 0;;) {
    const ssize_t got = pread_once(fd, out, offset, tries);
    if (got >= 0) return got;
    if (errno == EINTR) continue;
    if (!may_pass(errno) || tries == kWaits.size()) return -1;
    std::this_thread::sleep_for(kWaits[tries++]);
  }
}

}  // namespace penstock
