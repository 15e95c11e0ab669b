// Reads and writes traces as JSON and as files (docs/format/trace.md).

#include "trace/trace.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.h"
#include "base/json_mistake.h"
#include "datasets/datasets.h"
#include "io/file.h"
#include "plan/node.h"
#include "trace/stage_counters.h"
#include "trace/thread_groups.h"

namespace penstock {
namespace {

constexpr size_t kMostStages = 10'000;  // the model's time grows quadratically with them
constexpr size_t kMostKinds = 16;
constexpr size_t kMostDecisions = 1000;
constexpr size_t kMostSlicesRead = 1000;
constexpr const char* kSchema = "penstock.trace";

// One description of the fields serves reading and writing: calls `f(key, field)` for each.
template <typename T, typename F>
void visit_options(T& o, F&& f) {
  f("threads", o.threads);
  f("memory_bytes", o.memory_bytes);
  f("block_rows", o.block_rows);
}

template <typename T, typename F>
void visit_machine(T& m, F&& f) {
  f("cores", m.cores);
  f("cpu", m.cpu);
  f("memory_bytes", m.memory_bytes);
  f("kernel", m.kernel);
}

template <typename T, typename F>
void visit_interval(T& i, F&& f) {
  f("seconds", i.seconds);
  f("process_cpu_seconds", i.process_cpu_seconds);
  f("elements", i.elements);
  f("first_element_seconds", i.first_element_seconds);
  f("waited_seconds", i.waited_seconds);
  f("consumer_seconds", i.consumer_seconds);
  f("ended", i.ended);
  f("interrupted", i.interrupted);
  f.fact("other_cpu_seconds", i.other_cpu_seconds);
}

template <typename T, typename F>
void visit_threads(T& t, F&& f) {
  f("kind", t.kind);
  f("threads", t.threads);
  f("cpu_seconds", t.cpu_seconds);
  f("descheduled_seconds", t.descheduled_seconds);
  f("reads_seconds", t.reads_seconds);
  f("reads_cpu_seconds", t.reads_cpu_seconds);
}

template <typename T, typename F>
void visit_stage(T& s, F&& f) {
  f("id", s.id);
  f("op", s.op);
  f("label", s.label);
  f("inputs", s.inputs);
  f("parent", s.parent);
  visit_stage_counters([&](const char* key, auto, auto field, bool is_old) {
    is_old ? f(key, s.*field) : f.fact(key, s.*field);
  });
  f("limit", s.limit);
  f.fact("thread_group", s.thread_group);
  f.fact("width", s.width);
  f.fact("inlined", s.inlined);
  f.fact("rows_ahead", s.rows_ahead);
  f.fact("files_ahead", s.files_ahead);
  f.fact("bytes_ahead", s.bytes_ahead);
  f("calls", s.calls);
  f("can_parallel", s.can_parallel);
  f("parallel", s.parallel);
  f("source_bytes", s.source_bytes);
  f("source_files", s.source_files);
  f("cardinality", s.cardinality);
  f("random", s.random);
  f("stateless", s.stateless);
  f("keeps_rows", s.keeps_rows);
  f("sink", s.sink);
  f.fact("scales", s.scales);
  f.fact("repeats", s.repeats);
  f.fact("caches", s.caches);
  f.fact("reads_ahead", s.reads_ahead);
  f("fixed_size", s.fixed_size);
  f("nested_output", s.nested_output);
  f("spec", s.spec);
}

template <typename T, typename F>
void visit_decision(T& d, F&& f) {
  f("seconds", d.seconds);
  f("stage", d.stage);
  f("value", d.value);
  f("from", d.from);
  f("to", d.to);
  f("why", d.why);
  f("predicted_gain", d.predicted_gain);
  f.fact("measured_gain", d.measured_gain);
  f("rolled_back", d.rolled_back);
}

template <typename S, typename F>
void visit_slice(S& s, F&& f) {
  f("seconds", s.seconds);
  f("process_cpu_seconds", s.process_cpu_seconds);
  f("elements", s.elements);
  f("stage_elements", s.stage_elements);
  f("stage_bytes_read", s.stage_bytes_read);
  f("stage_cpu_seconds", s.stage_cpu_seconds);
}

// JSON cannot express infinity or NaN: they become 0.
Json value_of(double v) { return std::isfinite(v) ? v : 0.0; }
Json value_of(const std::optional<double>& v) { return v ? value_of(*v) : Json(); }
template <typename T>
Json value_of(const T& v) {
  return v;
}

struct Writer {
  Json& object;
  template <typename T>
  void operator()(const char* key, const T& field) const {
    object[key] = value_of(field);
  }
  template <typename T>
  void fact(const char* key, const T& field) const {
    object[key] = value_of(field);
  }
};

// Reads the keys of one object; errors name the object.
class Reader {
 public:
  Reader(const Json& object, std::string where, std::string path)
      : object_(object), where_(std::move(where)), path_(std::move(path)) {
    if (!object_.is_object()) fail("", "must be an object");
  }

  const Json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) fail(key, "is missing");
    return *found;
  }

  template <typename T>
  void operator()(const char* key, T& field) const {
    read(key, at(key), &field);
  }
  // Leaves the field as it is if the trace is older than the key.
  template <typename T>
  void fact(const char* key, T& field) const {
    if (object_.contains(key)) read(key, at(key), &field);
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    const std::string name = key.empty() ? path_ : path_.empty() ? key : path_ + "." + key;
    throw Error(Code::invalid_argument,
                "trace: " + where_ + ": " + (name.empty() ? "it" : name) + ": " + what);
  }

 private:
  void read(const char* key, const Json& v, std::string* out) const {
    if (!v.is_string()) fail(key, "must be a string");
    *out = v.get<std::string>();
  }
  void read(const char* key, const Json& v, bool* out) const {
    if (!v.is_boolean()) fail(key, "must be true or false");
    *out = v.get<bool>();
  }
  void read(const char* key, const Json& v, double* out) const {
    if (!v.is_number()) fail(key, "must be a number");
    *out = v.get<double>();
    if (!std::isfinite(*out) || *out < 0) fail(key, "must be a number of at least 0");
  }
  void read(const char* key, const Json& v, std::optional<double>* out) const {
    out->reset();
    if (!v.is_null()) read(key, v, &out->emplace());
  }
  void read(const char* key, const Json& v, int64_t* out) const {
    *out = integer(key, v, INT64_MAX);
  }
  void read(const char* key, const Json& v, int* out) const {
    *out = static_cast<int>(integer(key, v, INT32_MAX));
  }
  void read(const char* key, const Json& v, std::vector<int>* out) const {
    if (!v.is_array()) fail(key, "must be a list of stage ids");
    out->clear();
    for (const Json& item : v) out->push_back(static_cast<int>(integer(key, item, INT32_MAX)));
  }
  void read(const char* key, const Json& v, std::vector<int64_t>* out) const {
    read_list(key, v, out);
  }
  void read(const char* key, const Json& v, std::vector<double>* out) const {
    read_list(key, v, out);
  }
  template <typename T>
  void read_list(const char* key, const Json& v, std::vector<T>* out) const {
    if (!v.is_array()) fail(key, "must be a list of numbers");
    out->clear();
    for (const Json& item : v) read(key, item, &out->emplace_back());
  }
  int64_t integer(const char* key, const Json& v, int64_t most) const {
    // -1 and -2 mean infinite, unknown and none.
    const std::string rule = "must be an integer from -2 to " + std::to_string(most);
    if (!v.is_number_integer()) fail(key, rule);
    if (v.is_number_unsigned() && v.get<uint64_t>() > static_cast<uint64_t>(most)) fail(key, rule);
    const int64_t n = v.get<int64_t>();
    if (n < -2) fail(key, rule);
    return n;
  }

  const Json& object_;
  const std::string where_, path_;
};

void check_stage(const StageTrace& s, int id, int count, const Reader& reader) {
  if (s.id != id) reader.fail("id", "must be " + std::to_string(id) + ", its place in the list");
  if (s.parent < -1 || s.parent >= id) reader.fail("parent", "must be an earlier stage or -1");
  for (const int input : s.inputs) {
    if (input <= id || input >= count) reader.fail("inputs", "must be later stages");
  }
  for (const int64_t n :
       {s.elements, s.errors, s.blocks, s.bytes, s.bytes_read, s.files_opened, s.source_bytes,
        s.source_files, s.calls, s.rows_ahead, s.files_ahead, s.bytes_ahead}) {
    if (n < 0) reader.fail("", "counts must be at least 0");
  }
  if (s.limit < 1) reader.fail("limit", "must be at least 1");
  if (s.width < 1) reader.fail("width", "must be at least 1");
  if (s.thread_group < 0 || s.thread_group >= 2 * count)
    reader.fail("thread_group", "must be from 0 to " + std::to_string(2 * count - 1));
}

// Older traces have no threads.
void read_threads(const Json& json, const std::string& where, const Reader& top,
                  std::vector<ThreadTrace>* out) {
  const auto list = json.find("threads");
  if (list == json.end()) return;
  if (!list->is_array() || list->size() > kMostKinds)
    top.fail("threads", "must be a list of at most " + std::to_string(kMostKinds) + " kinds");
  for (const Json& item : *list) {
    const Reader reader(item, where, "threads[" + std::to_string(out->size()) + "]");
    ThreadTrace t;
    visit_threads(t, reader);
    if (t.threads < 1) reader.fail("threads", "must be at least 1");
    out->push_back(std::move(t));
  }
}

template <typename F>
Json object_of(F&& visit) {
  Json out = Json::object();
  visit(Writer{out});
  return out;
}

Json threads_json(const Trace& trace) {
  Json out = Json::array();
  for (const ThreadTrace& t : trace.threads)
    out.push_back(object_of([&](const Writer& w) { visit_threads(t, w); }));
  return out;
}

Json fill_json(const Trace& fill) {
  Json stages = Json::array();
  for (const StageTrace& s : fill.stages) {
    stages.push_back(object_of([&](const Writer& w) {
      visit_stage_counters([&](const char* key, auto, auto field, bool) { w(key, s.*field); });
    }));
  }
  return {{"interval", object_of([&](const Writer& w) { visit_interval(fill.interval, w); })},
          {"threads", threads_json(fill)},
          {"stages", std::move(stages)}};
}

// Reads the counters of the fill; all else is as in the trace itself.
std::shared_ptr<const Trace> read_fill(const Json& json, const std::string& where,
                                       const Reader& top, const Trace& whole) {
  const auto found = json.find("fill");
  if (found == json.end()) return nullptr;
  const Reader reader(*found, where, "fill");
  auto out = std::make_shared<Trace>();
  visit_interval(out->interval, Reader(reader.at("interval"), where, "fill.interval"));
  read_threads(*found, where, reader, &out->threads);
  const Json& stages = reader.at("stages");
  if (!stages.is_array() || stages.size() != whole.stages.size())
    top.fail("fill.stages", "must be a list with as many stages as the trace");
  for (size_t i = 0; i < stages.size(); ++i) {
    const Reader counters(stages[i], where, "fill.stages[" + std::to_string(i) + "]");
    StageTrace s = whole.stages[i];
    visit_stage_counters([&](const char* key, auto, auto field, bool is_old) {
      is_old ? counters(key, s.*field) : counters.fact(key, s.*field);
      if (s.*field < 0) counters.fail(key, "must be at least 0");
    });
    out->stages.push_back(std::move(s));
  }
  return out;
}

Json slices_json(const Trace& trace) {
  Json out = Json::array();
  for (const TraceSlice& s : trace.slices)
    out.push_back(object_of([&](const Writer& w) { visit_slice(s, w); }));
  return out;
}

std::vector<TraceSlice> read_slices(const Json& json, const std::string& where, const Reader& top,
                                    size_t stages) {
  const auto list = json.find("slices");
  if (list == json.end()) return {};
  if (!list->is_array() || list->size() > kMostSlicesRead)
    top.fail("slices", "must be a list of at most " + std::to_string(kMostSlicesRead));
  std::vector<TraceSlice> out;
  for (const Json& item : *list) {
    const Reader reader(item, where, "slices[" + std::to_string(out.size()) + "]");
    TraceSlice s;
    visit_slice(s, reader);
    for (const size_t n :
         {s.stage_elements.size(), s.stage_bytes_read.size(), s.stage_cpu_seconds.size()}) {
      if (n != stages) reader.fail("", "must have one entry for each stage in its lists");
    }
    const auto negative = [](int64_t n) { return n < 0; };
    if (s.elements < 0 || std::ranges::any_of(s.stage_elements, negative) ||
        std::ranges::any_of(s.stage_bytes_read, negative))
      reader.fail("", "counts must be at least 0");
    out.push_back(std::move(s));
  }
  return out;
}

std::optional<std::vector<TunerDecision>> read_decisions(const Json& json, const std::string& where,
                                                         const Reader& top, size_t stages) {
  const auto list = json.find("decisions");
  if (list == json.end()) return {};
  if (!list->is_array() || list->size() > kMostDecisions)
    top.fail("decisions", "must be a list of at most " + std::to_string(kMostDecisions));
  std::vector<TunerDecision> out;
  for (const Json& item : *list) {
    const Reader reader(item, where, "decisions[" + std::to_string(out.size()) + "]");
    TunerDecision d;
    visit_decision(d, reader);
    if (d.stage < 0 || static_cast<size_t>(d.stage) >= stages)
      reader.fail("stage", "must be the id of a stage");
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace

void take_facts(const OperatorDef& op, StageTrace* stage) {
  stage->stateless = op.chain != ChainRole::none;
  stage->keeps_rows = op.rows == Rows::same;
  stage->sink = op.sink;
  stage->scales = op.scales();
  stage->repeats = !op.passes_param.empty();
  stage->caches = op.caches;
  stage->reads_ahead = op.reads_ahead;
}

Json trace_stages_json(const Trace& trace) {
  Json out = Json::array();
  for (const StageTrace& s : trace.stages) {
    out.push_back(object_of([&](const Writer& w) { visit_stage(s, w); }));
  }
  return out;
}

Json trace_decisions_json(const Trace& trace) {
  if (!trace.decisions) return {};
  Json out = Json::array();
  for (const TunerDecision& d : *trace.decisions)
    out.push_back(object_of([&](const Writer& w) { visit_decision(d, w); }));
  return out;
}

Json trace_to_json(const Trace& trace) {
  Json out{{"schema", kSchema}, {"version", kTraceVersion}, {"program", trace.program}};
  out["options"] = object_of([&](const Writer& w) { visit_options(trace.options, w); });
  out["machine"] = object_of([&](const Writer& w) { visit_machine(trace.machine, w); });
  out["interval"] = object_of([&](const Writer& w) { visit_interval(trace.interval, w); });
  out["peak_memory_bytes"] = trace.peak_memory_bytes;
  out["threads"] = threads_json(trace);
  out["stages"] = trace_stages_json(trace);
  if (trace.fill) out["fill"] = fill_json(*trace.fill);
  if (!trace.slices.empty()) out["slices"] = slices_json(trace);
  if (trace.decisions) out["decisions"] = trace_decisions_json(trace);
  return out;
}

Trace trace_from_json(const Json& json, const std::string& where) {
  register_datasets();  // older traces lack facts about their operators
  const Reader top(json, where, "");
  std::string schema;
  int version = 0;
  top("schema", schema);
  if (schema != kSchema) top.fail("schema", std::string("must be \"") + kSchema + "\"");
  top("version", version);
  if (version < 1 || version > kTraceVersion) {
    top.fail("version", "is " + std::to_string(version) + ", this program reads up to " +
                            std::to_string(kTraceVersion));
  }
  Trace trace;
  top("program", trace.program);
  visit_options(trace.options, Reader(top.at("options"), where, "options"));
  visit_machine(trace.machine, Reader(top.at("machine"), where, "machine"));
  visit_interval(trace.interval, Reader(top.at("interval"), where, "interval"));
  top("peak_memory_bytes", trace.peak_memory_bytes);
  read_threads(json, where, top, &trace.threads);
  const Json& stages = top.at("stages");
  if (!stages.is_array() || stages.empty())
    top.fail("stages", "must be a list of at least one stage");
  if (stages.size() > kMostStages)
    top.fail("stages", "must be " + std::to_string(kMostStages) + " at most");
  const int count = static_cast<int>(stages.size());
  bool grouped = true;
  for (int id = 0; id < count; ++id) {
    const Reader reader(stages[static_cast<size_t>(id)], where,
                        "stages[" + std::to_string(id) + "]");
    StageTrace s;
    reader("op", s.op);
    if (const OperatorDef* op = OperatorRegistry::instance().find(s.op)) take_facts(*op, &s);
    visit_stage(s, reader);
    check_stage(s, id, count, reader);
    grouped &= stages[static_cast<size_t>(id)].contains("thread_group");
    trace.stages.push_back(std::move(s));
  }
  if (!grouped) set_thread_groups(guess_handed_over(trace.stages), &trace.stages);
  trace.fill = read_fill(json, where, top, trace);
  trace.slices = read_slices(json, where, top, trace.stages.size());
  trace.decisions = read_decisions(json, where, top, trace.stages.size());
  return trace;
}

bool looks_like_trace(const std::string& text) {
  // A program may begin with a dict literal, which is not a dataset: the schema's name decides.
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' &&
         text.find("\"penstock.trace\"", first) < first + 256;
}

Trace parse_trace(const std::string& text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    throw Error(Code::invalid_argument, "trace: " + where + ": is not JSON" + json_mistake(text));
  return trace_from_json(json, where);
}

std::string trace_text(const Trace& trace) {
  return trace_to_json(trace).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_trace(const std::string& path, const Trace& trace) {
  write_file_atomically(path, trace_text(trace));
}

Trace read_trace(const std::string& path) {
  constexpr int64_t kMostBytes = 1 << 30;
  return parse_trace(read_regular("open", path, kMostBytes), path);
}

}  // namespace penstock
