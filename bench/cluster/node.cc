// One process of the rig: a parameter server or a worker. bench/cluster/rig.py starts them.
//
// rig_node server LAYERS INDEX ADDRESS
// rig_node worker LAYERS SEED ADDRESS,... [in-order] [profile FOLDER FROM STEPS]

#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>

#include "bench/cluster/server.h"
#include "bench/cluster/worker.h"

namespace {

using namespace penstock::rig;

constexpr int kHeapBytes = 128 << 20;  // more than is in flight at any time

Job read_job(const std::vector<std::string>& words) {
  Job out;
  out.seed = std::stoull(words.at(2));
  std::istringstream addresses(words.at(3));
  for (std::string a; std::getline(addresses, a, ',');) out.servers.push_back(a);
  for (size_t i = 4; i < words.size(); ++i) {
    if (words[i] == "in-order") {
      out.in_order = true;
    } else if (words[i] == "profile") {
      out.profile = words.at(i + 1);
      out.profile_from = std::stoll(words.at(i + 2));
      out.profile_steps = std::stoll(words.at(i + 3));
      i += 3;
    } else {
      throw std::runtime_error("rig_node: what is " + words[i] + "?");
    }
  }
  return out;
}

// Keeps touched memory, so that nothing waits for pages while 40 MB arrive.
void keep_memory() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, kHeapBytes);
  mlockall(MCL_CURRENT | MCL_FUTURE);
}

}  // namespace

int main(int argc, char** argv) {
  // The process dies with the rig, and sleeps end on time.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_TIMERSLACK, 1UL);
  const sched_param ahead{10};  // goes before other processes of the machine; without permission it
                                // runs at normal priority
  sched_setscheduler(0, SCHED_FIFO, &ahead);
  keep_memory();
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const Layers layers = read_layers(words.at(1));
    if (words[0] == "server") {
      serve(layers, std::stoi(words.at(2)), words.at(3));
    } else if (words[0] == "worker") {
      work(layers, read_job(words));
    } else {
      throw std::runtime_error("rig_node: a server or a worker, not " + words[0]);
    }
    std::fflush(stdout);
    _exit(0);  // does not wait for gRPC's threads
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
