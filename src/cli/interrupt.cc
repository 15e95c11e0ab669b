#include "cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/start_thread.h"
#include "cli/progress.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

std::mutex running_mutex;
BlockIterator* running = nullptr;
int waking = -1;  // an eventfd that a WakeOnSignal waits for
std::atomic<int> signals{0};
std::atomic<void (*)()> restore{nullptr};

[[noreturn]] void end_program(const std::string& command, int status) {
  discard_unfinished_files();
  Progress::erase_at_exit();
  if (const auto restore_terminal = restore.load()) restore_terminal();
  std::fprintf(stderr, "penstock %s: cancelled\n", command.c_str());
  std::_Exit(status);
}

// Handlers may only set flags, so a separate thread waits for the signals.
void watch(sigset_t set, const std::string& command) {
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) return;
    if (signals.fetch_add(1) > 0) end_program(command, 128 + signal);
    std::lock_guard lock(running_mutex);
    if (running) {
      running->cancel();
    } else if (waking >= 0) {
      eventfd_write(waking, 1);
    } else {
      end_program(command, 1);
    }
  }
}

}  // namespace

void handle_signals(const std::string& command) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread watcher;
  if (start_thread(&watcher, [set, command] { watch(set, command); })) {
    watcher.detach();
  } else {  // a signal ends the program at once, as by default
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
}

CancelOnSignal::CancelOnSignal(BlockIterator* iterator) {
  std::lock_guard lock(running_mutex);
  running = iterator;
  if (requested()) iterator->cancel();
}

CancelOnSignal::~CancelOnSignal() {
  std::lock_guard lock(running_mutex);
  running = nullptr;
}

WakeOnSignal::WakeOnSignal() {
  std::lock_guard lock(running_mutex);
  waking = eventfd(CancelOnSignal::requested() ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
}

WakeOnSignal::~WakeOnSignal() {
  std::lock_guard lock(running_mutex);
  if (waking >= 0) close(waking);
  waking = -1;
}

// The event is never read: after a signal no wait lasts.
WakeOnSignal::Woken WakeOnSignal::wait(double seconds, int file) const {
  pollfd both[] = {{waking, POLLIN, 0}, {file, POLLIN, 0}};
  const double ms = std::clamp(seconds * 1e3, 0.0, 1e9);
  if (poll(both, 2, static_cast<int>(ms)) <= 0) return Woken::time;
  return both[0].revents != 0 ? Woken::signal : Woken::input;
}

void restore_before_end(void (*what)()) { restore.store(what); }

bool CancelOnSignal::requested() { return signals.load() > 0; }

}  // namespace penstock::cli
