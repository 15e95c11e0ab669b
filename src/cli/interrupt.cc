#include "cli/interrupt.h"

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
std::atomic<int> signals{0};

[[noreturn]] void end_program(const std::string& command, int status) {
  discard_unfinished_files();
  Progress::erase_at_exit();
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
    if (!running) end_program(command, 1);
    running->cancel();
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

bool CancelOnSignal::requested() { return signals.load() > 0; }

}  // namespace penstock::cli
