// Reads live counters into a Trace.

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <unordered_map>

#include "io/file_system.h"
#include "io/glob.h"
#include "runtime/chain.h"
#include "runtime/run.h"
#include "trace/placed_nodes.h"
#include "trace/stage_counters.h"
#include "trace/thread_groups.h"
#include "trace/trace.h"

namespace penstock {
namespace {

// The heaviest op of a function by declared costs; empty if no op is worth naming.
struct Heaviest {
  std::string name;
  double cost = 0;

  void look(const Function& function) {
    for (const FunctionNode& node : function.nodes) {
      if (node.op && node.op->cost_ns > cost) {
        cost = node.op->cost_ns;
        name = node.op->name;
      }
      for (const FunctionPtr& body : node.bodies) look(*body);
    }
  }
};

// Collects the strings of an argument: a scalar, a vector, a list.
void collect_strings(const Attr& attr, std::vector<std::string>* out) {
  if (attr.is_tensor() && attr.tensor().dtype() == DType::bytes && !attr.tensor().object()) {
    for (int64_t i = 0; i < attr.tensor().entries_count(); ++i)
      out->emplace_back(bytes_at(attr.tensor(), i));
  }
  for (const Attr& item : attr.items()) collect_strings(item, out);
}

struct Files {
  int64_t bytes = 0, count = 0;
};

void add_file(const std::string& path, Files* out) {
  const FileStatus status = file_status(path);
  if (!status.is_file()) return;
  out->bytes += status.bytes;
  ++out->count;
}

// Adds up the sizes of the files that the names or patterns match; files deleted since the start
// count 0.
Files measure_files(const std::vector<std::string>& patterns) {
  Files out;
  for (const std::string& pattern : patterns) {
    const int64_t before = out.count;
    add_file(pattern, &out);
    if (out.count > before) continue;
    try {
      for (const std::string& path : match_files({pattern})) add_file(path, &out);
    } catch (const Error&) {
    }
  }
  return out;
}

class Capture {
 public:
  Capture(const Run& run, bool file_sizes) : run_(run), file_sizes_(file_sizes) {
    for (const auto& [node, stage] : run.stages()) in_run_[node] = stage;
    seconds_per_tick_ = ns_per_tick() * 1e-9;
  }

  std::vector<StageTrace> stages() {
    place();
    link_inputs();
    take_along();
    set_thread_groups(handed_over(), &stages_);
    label();
    if (file_sizes_) find_files();
    return std::move(stages_);
  }

 private:
  void place() {
    for (const PlacedNode& placed : placed_nodes(*run_.plan())) {
      const int id = static_cast<int>(stages_.size());
      ids_[placed.node] = id;
      nodes_.push_back(placed.node);
      stages_.push_back(stage(*placed.node, id, placed.parent));
    }
  }

  StageTrace stage(const PlanNode& node, int id, int parent) const {
    StageTrace s;
    s.id = id;
    s.op = node.op->name;
    s.parent = parent;
    s.cardinality = node.cardinality;
    s.random = node.op->random;
    for (const auto& [name, f] : node.functions) s.random |= f->effects() != Effects::pure;
    take_facts(*node.op, &s);
    s.spec = node.spec.text();
    s.fixed_size = true;
    for (const LeafSpec& leaf : node.spec.leaves()) {
      s.fixed_size &= leaf.is_tensor() && leaf.shape.is_static() && leaf.dtype != DType::bytes;
      s.nested_output |= leaf.kind == LeafSpec::Kind::dataset;
    }
    const RunStage* stage = in_run(node);
    s.can_parallel = (!stage || stage->controls.calls.is_used()) &&
                     std::ranges::any_of(node.op->params, [](const Param& p) {
                       return p.name == "num_parallel_calls";
                     });
    const Attr& calls = node.arg("num_parallel_calls");
    if (s.can_parallel && calls.is_tensor()) s.calls = std::max<int64_t>(0, calls.as_int());
    s.parallel = s.calls > 1;
    if (stage) read(*stage, &s);
    return s;
  }

  void take_along() {
    for (size_t i = stages_.size(); i-- > 0;) {
      if (!goes_along(*nodes_[i]) || stages_[i].inputs.empty()) continue;
      const StageTrace& input = stages_[static_cast<size_t>(stages_[i].inputs[0])];
      stages_[i].can_parallel = input.can_parallel;
      stages_[i].parallel = input.parallel;
      stages_[i].calls = input.calls;
      stages_[i].limit = input.limit;
    }
  }

  const RunStage* in_run(const PlanNode& node) const {
    const auto found = in_run_.find(&node);
    return found == in_run_.end() ? nullptr : found->second;
  }

  // How the stages' work is handed over, as their controls say now.
  std::vector<HandedOver> handed_over() const {
    std::vector<HandedOver> out(stages_.size());
    for (size_t i = 0; i < stages_.size(); ++i) {
      const RunStage* stage = in_run(*nodes_[i]);
      if (!stage) continue;
      const StageControls& c = stage->controls;
      if (const auto head = ids_.find(c.head.load()); head != ids_.end())
        out[i].head = head->second;
      const int64_t copies = c.most_on_pool.load();
      if (copies == 0 || c.inlined.load()) continue;
      const int64_t threads = run_.options().threads;
      if (nodes_[i]->op->chain != ChainRole::none) {
        out[i].what = HandedOver::What::blocks;
        out[i].width = std::min(threads, std::max<int64_t>(1, c.calls.get()) * copies);
      } else if (c.calls.is_used()) {
        out[i].what = HandedOver::What::nested;
        out[i].width = std::min({threads, c.calls.get(), copies});
      } else {
        out[i].what =
            nodes_[i]->op->reads_ahead ? HandedOver::What::inputs : HandedOver::What::itself;
        out[i].width = std::min(threads, copies);
      }
    }
    return out;
  }

  void read(const RunStage& stage, StageTrace* s) const {
    visit_stage_counters([&](const char*, auto live, auto field, bool) {
      const int64_t counted = std::max<int64_t>(0, stage.counters.total(live));
      if constexpr (std::is_same_v<decltype(field), double StageTrace::*>) {
        s->*field = static_cast<double>(counted) * seconds_per_tick_;
      } else {
        s->*field = counted;
      }
    });
    s->cpu_seconds *= run_.cpu_share();  // ticks pass while the system runs other programs
    s->limit = std::max<int64_t>(1, stage.controls.calls.get());
    s->inlined = stage.controls.most_on_pool.load() > 0 && stage.controls.inlined.load();
    s->rows_ahead = stage.controls.rows_ahead.get();
    s->files_ahead = stage.controls.files_ahead.get();
    s->bytes_ahead = stage.controls.bytes_ahead.get();
  }

  void link_inputs() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const PlanPtr& input : nodes_[i]->inputs)
        stages_[i].inputs.push_back(ids_.at(input.get()));
    }
  }

  // Adds a number, counted from the source as in the text, if an operator occurs more than once.
  void label() {
    std::map<std::string, int> total, seen;
    for (const StageTrace& s : stages_) ++total[s.op];
    for (size_t i = stages_.size(); i-- > 0;) {
      StageTrace& s = stages_[i];
      s.label = s.op;
      if (total[s.op] > 1) s.label += " " + std::to_string(++seen[s.op]);
      Heaviest heaviest;
      std::vector<const PlanNode*> nested;
      for (const auto& [name, f] : nodes_[i]->functions) {
        heaviest.look(*f);
        nested_plans(*f, &nested);
      }
      if (!nested.empty()) {
        s.label += ": " + nested.front()->op->name;
      } else if (!heaviest.name.empty()) {
        s.label += ": " + heaviest.name;
      }
    }
  }

  // Sets the size of everything that a reading stage will read in one pass: of the files that it
  // names itself, or that the list names which feeds it or its enclosing stage.
  void find_files() {
    for (size_t i = 0; i < stages_.size(); ++i) {
      StageTrace& s = stages_[i];
      const PlanNode& node = *nodes_[i];
      if (s.bytes_read == 0 && s.files_opened == 0) continue;
      if (!node.op->source) continue;  // its function reads files
      Files files;
      files = measure_files(strings_of(node));
      for (int at = s.id; files.count == 0 && at >= 0;
           at = stages_[static_cast<size_t>(at)].parent) {
        files = listed_below(*nodes_[static_cast<size_t>(at)]);
      }
      s.source_bytes = files.bytes;
      s.source_files = files.count;
    }
  }

  static std::vector<std::string> strings_of(const PlanNode& node) {
    std::vector<std::string> out;
    if (!node.op->files_param.empty()) collect_strings(node.arg(node.op->files_param), &out);
    return out;
  }

  Files listed_below(const PlanNode& user) {
    Files out;
    for (const PlanPtr& input : user.inputs) {
      Files files;
      for (const PlanNode* node : topological(*input)) {
        if (!node->op->lists_files) continue;
        const auto [at, fresh] = lists_.try_emplace(node);
        if (fresh) at->second = measure_files(strings_of(*node));
        files.bytes += at->second.bytes;
        files.count += at->second.count;
      }
      // shard, take and skip reduce the number of files
      if (input->cardinality > 0 && input->cardinality < files.count) {
        files.bytes = static_cast<int64_t>(static_cast<double>(files.bytes) *
                                           static_cast<double>(input->cardinality) /
                                           static_cast<double>(files.count));
        files.count = input->cardinality;
      }
      out.bytes += files.bytes;
      out.count += files.count;
    }
    return out;
  }

  const Run& run_;
  const bool file_sizes_;
  double seconds_per_tick_;
  std::unordered_map<const PlanNode*, const RunStage*> in_run_;
  std::unordered_map<const PlanNode*, int> ids_;
  std::unordered_map<const PlanNode*, Files> lists_;
  std::vector<const PlanNode*> nodes_;
  std::vector<StageTrace> stages_;
};

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      const size_t colon = line.find(": ");
      return colon == std::string::npos ? std::string() : line.substr(colon + 2);
    }
  }
  return {};
}

std::vector<ThreadTrace> threads_of(const Run& run) {
  constexpr double kNs = 1e-9;
  std::vector<ThreadTrace> out;
  for (const auto& [kind, name] : {std::pair{ThreadKind::consumer, "consumer"},
                                   {ThreadKind::compute, "compute"},
                                   {ThreadKind::io, "io"}}) {
    const ThreadTimes times = run.thread_clocks().times(kind);
    if (times.threads == 0) continue;
    const ReadTimes& reads = run.thread_clocks().reads(kind);
    ThreadTrace t;
    t.kind = name;
    t.threads = times.threads;
    t.cpu_seconds = static_cast<double>(times.cpu_ns) * kNs;
    if (times.descheduled_ns)
      t.descheduled_seconds = static_cast<double>(*times.descheduled_ns) * kNs;
    t.reads_seconds = static_cast<double>(reads.wall_ns.load()) * kNs;
    t.reads_cpu_seconds = static_cast<double>(reads.cpu_ns.load()) * kNs;
    out.push_back(std::move(t));
  }
  return out;
}

TraceMachine this_machine() {
  static const TraceMachine machine = [] {
    TraceMachine m;
    m.cores = usable_cores();
    m.cpu = cpu_model();
    m.memory_bytes = usable_memory_bytes();
    utsname name{};
    if (uname(&name) == 0) m.kernel = std::string(name.sysname) + " " + name.release;
    return m;
  }();
  return machine;
}

}  // namespace

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Trace capture_trace(const Run& run, const std::string& program, const CaptureOptions& options) {
  Trace trace;
  trace.program = program;
  trace.options = {run.options().threads, run.options().memory_bytes, run.options().block_rows};
  trace.machine = this_machine();
  trace.interval = options.interval;
  trace.stages = Capture(run, options.file_sizes).stages();
  if (trace.interval.seconds <= 0) {
    trace.interval.seconds = static_cast<double>(now_ns() - run.start_ns()) * 1e-9;
    trace.interval.process_cpu_seconds = process_cpu_seconds();
  }
  if (trace.interval.elements <= 0) trace.interval.elements = trace.stages.front().elements;
  trace.peak_memory_bytes = peak_resident_bytes();
  trace.threads = threads_of(run);
  return trace;
}

}  // namespace penstock
