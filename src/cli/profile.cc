// penstock profile: contents of a training profile, and its conversion.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cluster/inspect.h"
#include "cluster/profile_json.h"
#include "cluster/read_profile.h"
#include "cluster/rig.h"
#include "io/file.h"
#include "report/profile_page.h"

namespace penstock::cli {
namespace {

using cluster::Resource;
using Json = nlohmann::ordered_json;

constexpr const char* kDefaultRate = "1Gbit";
constexpr std::string_view kShades = " .:-=+*#%@";
constexpr Resource kShown[] = {Resource::downlink, Resource::worker,     Resource::uplink,
                               Resource::server,   Resource::all_reduce, Resource::broadcast,
                               Resource::none};

// Prints one line of the time axis; denser characters mean values nearer to the maximum.
void print_axis(const char* name, const cluster::Inspection& found, double cluster::Slice::* value,
                double scale, const char* unit) {
  double most = 0;
  for (const cluster::Slice& s : found.slices) most = std::max(most, s.*value);
  std::string line;
  for (const cluster::Slice& s : found.slices) {
    const double level = most > 0 ? s.*value / most : 0;
    const auto most_shade = static_cast<double>(kShades.size() - 1);
    line += kShades[static_cast<size_t>(std::lround(level * most_shade))];
  }
  std::printf("%-9s|%s| %.3g%s\n", name, line.c_str(), most * scale, unit);
}

void print(const cluster::Profile& profile, const cluster::Inspection& found, double rate) {
  const std::string servers =
      found.two_ranks_s > 0
          ? "all-reduce"
          : std::to_string(profile.servers) + (profile.servers == 1 ? " server" : " servers");
  std::printf("%s: %zu step%s, %s, %d lane%s of a worker\n", profile.source.c_str(),
              profile.steps.size(), profile.steps.size() == 1 ? "" : "s", servers.c_str(),
              found.lanes, found.lanes == 1 ? "" : "s");
  for (const std::string& n : profile.notes) std::printf("%s\n", wrap("note: " + n, 80, 6).c_str());
  for (const std::string& m : found.missing)
    std::printf("%s\n", wrap("missing: " + m, 80, 9).c_str());
  std::printf("\na step, mean over the steps; transfers at %.1f Mbit/s of payload\n", rate * 8e-6);
  std::printf("resource        ops         bytes   seconds   recorded from..to\n");
  for (const Resource r : kShown) {
    const cluster::ResourceSummary& s = found.by_resource[static_cast<size_t>(r)];
    std::printf("%-10s %8.1f  %12.0f  %8.4f", std::string(cluster::resource_name(r)).c_str(), s.ops,
                s.bytes, s.seconds);
    if (s.first_s >= 0) std::printf("   %.4f..%.4f s", s.first_s, s.last_s);
    std::printf("\n");
  }
  for (size_t m = 0; found.two_ranks_s == 0 && m < found.server_bytes.size(); ++m)
    std::printf("server %zu: %.0f bytes both ways\n", m, found.server_bytes[m]);
  std::printf("\none worker alone, replayed: %.4f s a step\n", found.replay_s);
  if (found.two_ranks_s > 0)
    std::printf("two ranks, replayed: %.4f s a step; transfers are theirs\n", found.two_ranks_s);
  std::printf("longest chain: %.4f s transfers, %.4f s worker, %.4f s server\n",
              found.critical_transfer_s, found.critical_worker_s, found.critical_server_s);
  std::printf("hidden behind computing: %.0f %% of the transfer time\n", 100 * found.hidden_share);
  if (found.slices.empty()) return;
  std::printf("\n%s, %.4g ms a column, and the most of each line\n",
              found.two_ranks_s > 0 ? "one of two ranks, replayed" : "the replayed step",
              1e3 * found.slice_s);
  print_axis("downlink", found, &cluster::Slice::downlink_rate, 1e-6, " MB/s");
  print_axis("worker", found, &cluster::Slice::worker_use, 1, " ops");
  print_axis("uplink", found, &cluster::Slice::uplink_rate, 1e-6, " MB/s");
  print_axis("server", found, &cluster::Slice::server_use, 1, " ops");
}

Json resources_json(const cluster::Inspection& found) {
  Json out = Json::object();
  for (const Resource r : kShown) {
    const cluster::ResourceSummary& s = found.by_resource[static_cast<size_t>(r)];
    Json& to = out[std::string(cluster::resource_name(r))];
    to = {{"ops", s.ops}, {"mean_bytes", s.bytes}, {"seconds", s.seconds}};
    const bool recorded = s.first_s >= 0;
    to["first_seconds"] = recorded ? Json(s.first_s) : Json(nullptr);
    to["last_seconds"] = recorded ? Json(s.last_s) : Json(nullptr);
  }
  return out;
}

Json to_json(const cluster::Profile& profile, const cluster::Inspection& found, double rate) {
  Json slices = Json::array();
  for (const cluster::Slice& s : found.slices) {
    slices.push_back({{"downlink_bytes_per_s", s.downlink_rate},
                      {"worker", s.worker_use},
                      {"uplink_bytes_per_s", s.uplink_rate},
                      {"server", s.server_use}});
  }
  return {{"source", profile.source},
          {"steps", profile.steps.size()},
          {"servers", profile.servers},
          {"examples", profile.examples},
          {"lanes", found.lanes},
          {"payload_bytes_per_s", rate},
          {"resources", resources_json(found)},
          {"payload_by_server", found.server_bytes},
          {"replay_seconds", found.replay_s},
          {"two_ranks_seconds", found.two_ranks_s > 0 ? Json(found.two_ranks_s) : Json(nullptr)},
          {"chain",
           {{"transfer_seconds", found.critical_transfer_s},
            {"worker_seconds", found.critical_worker_s},
            {"server_seconds", found.critical_server_s}}},
          {"hidden_share", found.hidden_share},
          {"slice_seconds", found.slice_s},
          {"slices", slices},
          {"missing", found.missing},
          {"notes", profile.notes}};
}

int convert(const cluster::Profile& profile, const Args& args) {
  const auto to = args.get("-o");
  if (!to) throw UsageError{"convert needs -o FILE"};
  const std::string text = cluster::write_profile_json(profile);
  write_file_atomically(*to, text);
  if (args.has("--json")) {
    print_json({{"file", *to},
                {"bytes", text.size()},
                {"steps", profile.steps.size()},
                {"servers", profile.servers},
                {"notes", profile.notes}});
  }
  return 0;
}

int profile(const Args& args) {
  const auto& words = args.positional();
  if (words.size() != 2 || (words[0] != "inspect" && words[0] != "convert"))
    throw UsageError{"inspect PROFILE or convert PROFILE -o FILE is needed"};
  cluster::Profile read = before_work([&] {
    const Progress progress("the profile is read");
    return cluster::read_profile(words[1]);
  });
  if (words[0] == "convert") return convert(read, args);
  const double rate = before_work([&] {
    return cluster::parse_rate(args.get("--bandwidth").value_or(kDefaultRate)) *
           cluster::kPayloadShare;
  });
  if (!args.has("--bandwidth"))
    read.notes.push_back(std::string("links of ") + kDefaultRate +
                         " are assumed: give --bandwidth");
  const cluster::Inspection found = before_work([&] {
    const Progress progress("the profile is replayed");
    return cluster::inspect(read, rate);
  });
  if (const auto file = args.get("--html"))
    write_file_atomically(*file, profile_page(read, found, rate));
  if (args.has("--json")) {
    print_json(to_json(read, found, rate));
  } else {
    print(read, found, rate);
  }
  return 0;
}

}  // namespace

Command profile_command() {
  return {
      "profile",
      "inspect|convert PROFILE [flags]",
      "show or convert a training profile",
      "inspect shows a profile's operations by resource, its bytes, its critical path, its four "
      "phases on one time axis, and the share of transfers that overlaps with computing. convert "
      "writes it as Penstock's JSON (docs/format/profile.md).",
      {{"--bandwidth", "RATE", "nominal rate of a server's link (1Gbit)"},
       {"--html", "FILE", "inspect: write a page with a chart of the phases"},
       {"-o", "FILE", "convert: output file"},
       {"--json", "", "one JSON object (docs/format/profile.md)"}},
      profile,
      {"inspect", "convert"}};
}

}  // namespace penstock::cli
