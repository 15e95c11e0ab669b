// RunMetadata has the graph and the times in separate parts that share no ids, so everything is
// joined by names.
//
// Partition graphs have nodes and edges; step stats have records of nodes, by device and name. A
// name may have several records (loops, copied kernels): times add up, and "name:suffix" counts as
// "name". Edges between devices are not edges of a graph: a _Send in one graph and a _Recv in
// another share tensor name, sender and receiver. The transfer's time and size come from a third
// part, a RecvTensor record whose label spells the same three names in text.
//
// Recordings are often incomplete: records without nodes, nodes without records, tasks without
// graphs, inputs without nodes. Each is a note, not an error, because a profile with gaps is still
// useful (gaps.h fills in sizes). Only a profile without any graph is refused: without dependencies
// there is nothing to simulate.
//
// Loops: NextIteration edges would be cycles. They are dropped, and a loop counts as one round with
// its total time.
#include "cluster/run_metadata.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/error.h"
#include "run_metadata.pb.h"

namespace penstock::cluster {
namespace {

namespace proto = penstock::tensorflow_profile;

constexpr int32_t kMostServers = 4096;
constexpr int64_t kMostBytes = int64_t{1} << 50;

// tensor name, sending device, receiving device
using TransferKey = std::tuple<std::string, std::string, std::string>;
struct Record {
  double start_us = 0, end_us = 0;
  int64_t bytes = 0;  // of a transfer; -1: unknown
};
struct Device {
  bool is_server = false;
  int32_t task = 0;
};

class Quiet : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (first.empty())
      first = std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": " + message;
  }
  std::string first;
};

proto::RunMetadata parse(const std::string& file, std::string_view bytes) {
  proto::RunMetadata out;
  const google::protobuf::LogSilencer silent;  // our own message reports the error
  const std::string text_start(bytes.substr(0, std::min<size_t>(bytes.size(), 64)));
  const size_t word = text_start.find_first_not_of(" \t\r\n");
  if (word != std::string::npos && (text_start.compare(word, 10, "step_stats") == 0 ||
                                    text_start.compare(word, 16, "partition_graphs") == 0)) {
    google::protobuf::TextFormat::Parser parser;
    Quiet errors;
    parser.RecordErrorsTo(&errors);
    parser.AllowUnknownField(true);
    parser.SetRecursionLimit(100);
    if (!parser.ParseFromString(std::string(bytes), &out)) {
      throw Error(Code::data_loss,
                  "profile: " + file + ": the text is no RunMetadata: " + errors.first);
    }
  } else if (bytes.size() > INT32_MAX ||
             !out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(Code::data_loss, "profile: " + file + ": the " + std::to_string(bytes.size()) +
                                     " bytes are no RunMetadata: cut, or another format");
  }
  return out;
}

// Parses "/job:ps/replica:0/task:1/device:CPU:0".
Device parse_device(const std::string& name) {
  Device out;
  out.is_server = name.find("/job:ps/") != std::string::npos;
  const size_t at = name.find("/task:");
  if (at != std::string::npos)
    std::from_chars(name.data() + at + 6, name.data() + name.size(), out.task);
  return out;
}

// Returns "/job:ps/replica:0/task:1" of it.
std::string task_of(const std::string& device) {
  const size_t at = device.find("/task:");
  return at == std::string::npos ? device : device.substr(0, device.find('/', at + 1));
}

// Parses "[0.4MB] [149.05Mb/s] edge_41_conv0/weights/read from SRC to DST". Earlier versions write
// fewer brackets, so the label is read from its end.
std::optional<TransferKey> parse_label(const std::string& label) {
  const size_t to = label.rfind(" to ");
  if (to == std::string::npos) return std::nullopt;
  const size_t from = label.rfind(" from ", to);
  if (from == std::string::npos) return std::nullopt;
  size_t begin = label.find("edge_");
  if (begin == std::string::npos || begin > from) {
    begin = label.rfind("] ", from);
    begin = begin == std::string::npos ? 0 : begin + 2;
  }
  return TransferKey{label.substr(begin, from - begin), label.substr(from + 6, to - from - 6),
                     label.substr(to + 4)};
}

Record times(const proto::NodeExecStats& n) {
  Record out;
  out.start_us = n.all_start_nanos() > 0 ? static_cast<double>(n.all_start_nanos()) / 1e3
                                         : static_cast<double>(n.all_start_micros());
  const double length_us = n.all_end_rel_nanos() > 0
                               ? static_cast<double>(n.all_end_rel_nanos()) / 1e3
                               : static_cast<double>(n.all_end_rel_micros());
  out.end_us = out.start_us + std::max(0.0, length_us);
  for (const auto& o : n.output()) {
    const int64_t bytes = o.tensor_description().allocation_description().requested_bytes();
    out.bytes = std::min(kMostBytes, out.bytes + std::clamp<int64_t>(bytes, 0, kMostBytes));
  }
  // Control edges send nothing, and a size of 0 is not written: the label tells them apart.
  if (out.bytes <= 0) out.bytes = n.timeline_label().starts_with("[0B]") ? 0 : -1;
  return out;
}

class Reader {
 public:
  Reader(const std::string& file, Profile* profile) : file_(file), profile_(profile) {}

  void read(const proto::RunMetadata& metadata) {
    if (metadata.partition_graphs().empty()) {
      throw Error(Code::invalid_argument,
                  "profile: " + file_ +
                      ": no partition graphs, so no dependencies: record with "
                      "RunOptions(trace_level=FULL_TRACE, output_partition_graphs=True)");
    }
    records(metadata.step_stats());
    for (const auto& graph : metadata.partition_graphs()) nodes(graph);
    for (int g = 0; g < metadata.partition_graphs().size(); ++g)
      edges(metadata.partition_graphs(g), g);
    note_missing_graphs();
    for (const auto& [key, recv] : recvs_) {
      const auto send = sends_.find(key);
      if (send != sends_.end()) op(recv).deps.push_back(send->second);
    }
    finish();
    profile_->steps.push_back(std::move(step_));
  }

 private:
  Op& op(int32_t i) { return step_.ops[static_cast<size_t>(i)]; }

  void note(const std::string& text) {
    if (std::ranges::find(profile_->notes, text) == profile_->notes.end())
      profile_->notes.push_back(text);
  }

  void records(const proto::StepStats& stats) {
    for (const auto& device : stats.dev_stats()) {
      for (const auto& n : device.node_stats()) {
        const Record r = times(n);
        first_us_ = first_us_ < 0 ? r.start_us : std::min(first_us_, r.start_us);
        if (n.node_name() == "RecvTensor") {
          if (const auto key = parse_label(n.timeline_label())) transfers_[*key] = r;
          continue;
        }
        // Loops and copied kernels repeat a name: add up their times.
        Record& known = ops_[{device.device(), n.node_name().substr(0, n.node_name().find(':'))}];
        if (known.end_us > 0) {
          known.end_us += r.end_us - r.start_us;
        } else {
          known = r;
        }
      }
    }
  }

  void place(const std::string& device_name, Op* out) {
    const Device device = parse_device(device_name);
    out->resource = device.is_server ? Resource::server : Resource::worker;
    if (!device.is_server) return;
    if (device.task < 0 || device.task >= kMostServers) {
      throw Error(Code::invalid_argument,
                  "profile: " + file_ + ": op " + out->name + ": no such server: " + device_name);
    }
    out->server = device.task;
    profile_->servers = std::max(profile_->servers, device.task + 1);
  }

  void nodes(const proto::GraphDef& graph) {
    auto& ids = ids_.emplace_back();
    for (const auto& n : graph.node()) {
      Op out;
      out.name = n.name();
      const auto i = static_cast<int32_t>(step_.ops.size());
      ids.emplace(n.name(), i);
      const bool recv = n.op() == "_Recv" || n.op() == "_HostRecv";
      if (recv || n.op() == "_Send" || n.op() == "_HostSend") {
        const auto attr = [&](const char* name) {
          const auto it = n.attr().find(name);
          return it == n.attr().end() ? std::string() : it->second.s();
        };
        const TransferKey key{attr("tensor_name"), attr("send_device"), attr("recv_device")};
        (recv ? recvs_ : sends_)[key] = i;
        if (recv) transfer(key, &out);
      } else {
        place(n.device(), &out);
        const auto it = ops_.find({n.device(), n.name()});
        out.known = it != ops_.end();
        if (out.known) {
          out.duration_s = (it->second.end_us - it->second.start_us) * 1e-6;
          set_times(it->second, &out);
        }
      }
      tasks_.insert(task_of(n.device()));
      loop_end_.push_back(n.op() == "NextIteration");
      step_.ops.push_back(std::move(out));
    }
  }

  void transfer(const TransferKey& key, Op* out) {
    const auto& [tensor, source, target] = key;
    const Device from = parse_device(source), to = parse_device(target);
    if (from.is_server == to.is_server) return;  // both on one side: no server's link
    place(from.is_server ? source : target, out);
    out->resource = from.is_server ? Resource::downlink : Resource::uplink;
    out->name = tensor;
    const auto it = transfers_.find(key);
    out->known = it != transfers_.end() && it->second.bytes >= 0;
    if (it == transfers_.end()) return;
    set_times(it->second, out);
    out->bytes = std::max<int64_t>(0, it->second.bytes);
  }

  // Notes tasks that sent, received or computed but have no graph.
  void note_missing_graphs() {
    std::set<std::string> seen;
    for (const auto* transfers : {&sends_, &recvs_}) {
      for (const auto& [key, node] : *transfers) {
        seen.insert(task_of(std::get<1>(key)));
        seen.insert(task_of(std::get<2>(key)));
      }
    }
    for (const auto& [device_and_name, record] : ops_) seen.insert(task_of(device_and_name.first));
    for (const std::string& task : seen) {
      if (task.find("/job:") == std::string::npos || tasks_.contains(task)) continue;
      note("the partition graph of " + task +
           " is missing: its ops and the transfers that it receives are left out, those that it "
           "sends wait for nothing");
    }
  }

  void set_times(const Record& r, Op* out) {
    out->start_s = std::max(0.0, (r.start_us - first_us_) * 1e-6);
    out->end_s = std::max(out->start_s, (r.end_us - first_us_) * 1e-6);
  }

  void edges(const proto::GraphDef& graph, int g) {
    const auto& ids = ids_[static_cast<size_t>(g)];
    for (const auto& n : graph.node()) {
      Op& out = op(ids.at(n.name()));
      for (const std::string& input : n.input()) {
        const size_t begin = input.starts_with('^') ? 1 : 0;
        const auto it = ids.find(input.substr(begin, input.find(':', begin) - begin));
        if (it == ids.end()) {
          note("some inputs name no node of their graph: left out");
        } else if (loop_end_[static_cast<size_t>(it->second)]) {
          note("loops are replayed as one round of the recorded total time");
        } else {
          out.deps.push_back(it->second);
        }
      }
    }
  }

  void finish() {
    for (Op& o : step_.ops) {
      std::ranges::sort(o.deps);
      o.deps.erase(std::unique(o.deps.begin(), o.deps.end()), o.deps.end());
    }
  }

  const std::string& file_;
  Profile* profile_;
  Step step_;
  double first_us_ = -1;
  std::map<std::pair<std::string, std::string>, Record> ops_;
  std::map<TransferKey, Record> transfers_;
  std::map<TransferKey, int32_t> sends_, recvs_;
  std::vector<std::unordered_map<std::string, int32_t>> ids_;
  std::vector<bool> loop_end_;
  std::set<std::string> tasks_;  // tasks that have nodes
};

}  // namespace

void read_run_metadata(const std::string& file, std::string_view bytes, Profile* profile) {
  if (bytes.empty()) throw Error(Code::data_loss, "profile: " + file + ": the file is empty");
  Reader(file, profile).read(parse(file, bytes));
}

}  // namespace penstock::cluster
