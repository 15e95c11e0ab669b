// penstock profile: what a training profile holds, and its conversion.

#include <cstdio>

#include "cli/args.h"
#include "cluster/inspect.h"
#include "cluster/profile_json.h"
#include "cluster/read_profile.h"
#include "cluster/rig.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

using cluster::Resource;

constexpr const char* kDefaultRate = "1Gbit";

void print(const cluster::Profile& profile, const cluster::Inspection& found, double rate) {
  std::printf("%s: %zu steps, %d servers, %d lanes of a worker\n", profile.source.c_str(),
              profile.steps.size(), profile.servers, found.lanes);
  for (const std::string& n : profile.notes) std::printf("note: %s\n", n.c_str());
  std::printf("\na step, mean over the steps; transfers at %.1f Mbit/s of payload\n", rate * 8e-6);
  std::printf("resource        ops         bytes   seconds   recorded from..to\n");
  for (const Resource r : {Resource::downlink, Resource::worker, Resource::uplink, Resource::server,
                           Resource::all_reduce, Resource::broadcast, Resource::none}) {
    const cluster::ResourceSummary& s = found.by_resource[static_cast<size_t>(r)];
    std::printf("%-10s %8.1f  %12.0f  %8.4f", std::string(cluster::resource_name(r)).c_str(), s.ops,
                s.bytes, s.seconds);
    if (s.first_s >= 0) std::printf("   %.4f..%.4f s", s.first_s, s.last_s);
    std::printf("\n");
  }
  for (size_t m = 0; m < found.server_bytes.size(); ++m)
    std::printf("server %zu: %.0f bytes both ways\n", m, found.server_bytes[m]);
  std::printf("\none worker alone, replayed: %.4f s a step\n", found.replay_s);
  std::printf("longest chain: %.4f s transfers, %.4f s worker, %.4f s server\n",
              found.critical_transfer_s, found.critical_worker_s, found.critical_server_s);
  std::printf("hidden behind computing: %.0f %% of the transfer time\n", 100 * found.hidden_share);
}

int profile(const Args& args) {
  const auto& words = args.positional();
  if (words.size() != 2 || (words[0] != "inspect" && words[0] != "convert"))
    throw UsageError{"inspect PROFILE or convert PROFILE -o FILE is needed"};
  const cluster::Profile read = cluster::read_profile(words[1]);
  if (words[0] == "convert") {
    const auto to = args.get("-o");
    if (!to) throw UsageError{"convert needs -o FILE"};
    write_file_atomically(*to, cluster::write_profile_json(read));
    return 0;
  }
  const double rate =
      cluster::parse_rate(args.get("--bandwidth").value_or(kDefaultRate)) * cluster::kPayloadShare;
  print(read, cluster::inspect(read, rate), rate);
  return 0;
}

}  // namespace

Command profile_command() {
  return {"profile",
          "inspect|convert PROFILE [flags]",
          "what a training profile holds",
          "inspect shows a profile's operations by resource, its bytes, its longest chain, and how "
          "much of the transfers hides behind computing. convert writes it as Penstock's JSON "
          "(docs/format/profile.md).",
          {{"--bandwidth", "RATE", "nominal rate of a server's link (1Gbit)"},
           {"-o", "FILE", "where convert writes"}},
          profile};
}

}  // namespace penstock::cli
