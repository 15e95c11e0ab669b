// penstock run: drains a pipeline and reports its speed.

#include <cstdio>

#include "cli/interrupt.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "data/digest.h"
#include "datasets/reshard.h"
#include "job/deadline.h"
#include "report/element_json.h"
#include "report/table.h"
#include "runtime/saved_run.h"
#include "trace/trace.h"

namespace penstock::cli {
namespace {

constexpr double kForEver = 1e18;

struct Outcome {
  int64_t elements = 0;  // includes those before the checkpoint from which the run resumed
  int64_t resumed = 0;   // only those before the checkpoint
  int64_t errors = 0;
  double seconds = 0, first_element_seconds = 0, cpu_seconds = 0, waited_seconds = 0;
  int64_t peak_memory_bytes = 0;
  bool ended = false;
  ErrorPtr error;
  std::map<const PlanNode*, IgnoredErrors> ignored;
  std::vector<std::string> notes;
};

// Writes the file of --checkpoint when due.
class Checkpoints {
 public:
  Checkpoints(const Args& args, const LoadedPipeline& p)
      : path_(args.get("--checkpoint").value_or("")),
        every_(args.get_int("--checkpoint-every", INT64_MAX, 1)) {
    if (path_.empty() && (args.has("--checkpoint-every") || args.has("--resume")))
      throw UsageError{"--checkpoint-every and --resume go with --checkpoint FILE"};
    if (args.has("--resume")) from_ = read_checkpoint(path_, *p.built.plan);
    if (!from_) from_ = from_ranks(args, p);
    if (wanted()) stages_.emplace(*p.built.plan);
    if (from_) next_ = from_->elements;
    advance();
  }
  bool wanted() const { return !path_.empty(); }
  const std::optional<SavedRun>& from() const { return from_; }
  // Returns the number of elements until the next checkpoint.
  int64_t left(int64_t elements) const { return next_ - elements; }
  // REQUIRES a digest if checkpoints are on.
  void write(const BlockIterator& iterator, int64_t elements, const StreamDigest* digest) {
    if (!wanted()) return;
    write_checkpoint(path_, *stages_,
                     {{iterator.number(), iterator.position()},
                      elements,
                      digest->ordered(),
                      digest->unordered()});
    advance();
  }

 private:
  // Returns the start of this rank from the checkpoints of --resume-from.
  std::optional<SavedRun> from_ranks(const Args& args, const LoadedPipeline& p) const {
    std::vector<RankCheckpoint> ranks;
    for (const std::string& file : args.all("--resume-from")) {
      if (file == path_) {
        throw UsageError{"--checkpoint must not overwrite what --resume-from names, other ranks "
                         "need it: " +
                         file};
      }
      const std::optional<std::string> text = read_checkpoint_file(file);
      if (!text) throw UsageError{"--resume-from: there is no file " + file};
      ranks.push_back({file, *text});
    }
    if (ranks.empty()) return std::nullopt;
    return deal_anew(ranks, p.built.plan, p.plan, p.run_options);
  }

  void advance() { next_ = every_ > INT64_MAX - next_ ? INT64_MAX : next_ + every_; }

  const std::string path_;
  const int64_t every_;
  std::optional<SavedStages> stages_;  // set if checkpoints are on
  std::optional<SavedRun> from_;
  int64_t next_ = 0;
};

Outcome drain(const Args& args, const LoadedPipeline& p, StreamDigest* digest, Trace* trace) {
  const int64_t steps = args.get_int("--steps", INT64_MAX, 0);
  const double most_seconds = args.get_seconds("--seconds", kForEver);
  Outcome out;
  const int64_t start = now_ns();
  const double cpu = process_cpu_seconds();
  Checkpoints checkpoints = before_work([&] { return Checkpoints(args, p); });
  RunOptions run_options = p.run_options;
  run_options.marks = checkpoints.wanted();
  std::optional<ResumePoint> from;
  if (const auto& saved = checkpoints.from()) {
    from = saved->from;
    out.elements = out.resumed = saved->elements;
    if (digest) digest->resume(saved->elements, saved->ordered, saved->unordered);
  }
  BlockIterator iterator(p.plan, run_options, std::make_shared<PipelineState>(), {}, from);
  const CancelOnSignal cancel(&iterator);
  const Progress progress("elements", most_seconds < kForEver ? most_seconds : 0);
  const int64_t whole = steps < INT64_MAX ? steps : std::max<int64_t>(p.plan->cardinality, 0);
  const Deadline deadline(&iterator, most_seconds);
  Block block;
  bool first = true;
  while (out.elements < steps && !deadline.passed()) {
    try {
      const int64_t most = std::min(steps - out.elements, checkpoints.left(out.elements));
      if (!iterator.next(&block, first ? 1 : most)) {
        out.ended = true;
        break;
      }
    } catch (const Error& e) {
      if (e.code() != Code::cancelled) throw;
      break;
    }
    if (first) out.first_element_seconds = static_cast<double>(now_ns() - start) * 1e-9;
    first = false;
    if (digest) digest->add(block);
    out.errors += static_cast<int64_t>(block.errors.size());
    if (!block.errors.empty()) {  // the elements before the error count, then the run ends
      out.error = block.errors[0].error;
      out.elements += block.errors[0].row;
      break;
    }
    out.elements += block.rows;
    Progress::count(out.elements, whole);
    if (checkpoints.left(out.elements) == 0) checkpoints.write(iterator, out.elements, digest);
  }
  if (!out.error) checkpoints.write(iterator, out.elements, digest);
  block.clear();
  out.seconds = static_cast<double>(now_ns() - start) * 1e-9;
  out.cpu_seconds = process_cpu_seconds() - cpu;
  out.waited_seconds = static_cast<double>(iterator.waited_ns()) * 1e-9;
  out.peak_memory_bytes = peak_resident_bytes();
  out.ignored = iterator.run().ignored();
  out.notes = iterator.run().notes();
  *trace = capture_trace(iterator.run(), std::string());
  return out;
}

// Reports errors that failure policies dropped: their number at each stage, and the first ones.
Json ignored_json(const Outcome& o) {
  Json out = Json::array();
  for (const auto& [node, ignored] : o.ignored) {
    Json first = Json::array();
    for (const ErrorPtr& e : ignored.first) first.push_back(error_to_json(*e));
    out.push_back({{"stage", node->op->name}, {"count", ignored.count}, {"first", first}});
  }
  return out;
}

void print_ignored(const Outcome& o) {
  for (const auto& [node, ignored] : o.ignored) {
    std::printf("%s: %lld errors, the first of them:\n", node->op->name.c_str(),
                static_cast<long long>(ignored.count));
    for (const ErrorPtr& e : ignored.first)
      std::printf("  %s: %s\n", std::string(code_name(e->code())).c_str(), e->what());
  }
}

int report_value(const LoadedPipeline& p, bool json) {
  const std::vector<Tensor> value = [&] {
    const Progress progress("a value is computed");
    return run_sink(p.plan, p.run_options, std::make_shared<PipelineState>());
  }();
  size_t next = 0;
  const Json v = element_to_json(p.plan->spec, value, &next);
  print_json(json ? Json{{"value", v}} : v, -1);
  return 0;
}

int run(const Args& args) {
  const LoadedPipeline p = load_pipeline(args);
  if (p.plan->op->sink) return report_value(p, args.has("--json"));
  StreamDigest digest(p.plan->spec);
  const bool digested = args.has("--digest") || args.has("--checkpoint");
  Trace trace;
  const Outcome o = drain(args, p, digested ? &digest : nullptr, &trace);
  const double rate = o.seconds > 0 ? static_cast<double>(o.elements - o.resumed) / o.seconds : 0;
  if (args.has("--json")) {
    Json out{{"elements", o.elements},
             {"resumed_elements", o.resumed},
             {"seconds", o.seconds},
             {"cpu_seconds", o.cpu_seconds},
             {"rate", rate},
             {"first_element_seconds", o.first_element_seconds},
             {"waited_seconds", o.waited_seconds},
             {"peak_memory_bytes", o.peak_memory_bytes},
             {"threads", p.prepare.threads},
             {"seed", p.seed},
             {"ended", o.ended},
             {"cancelled", CancelOnSignal::requested()},
             {"digest", digested ? Json(digest.ordered().text()) : Json()},
             {"digest_unordered", digested ? Json(digest.unordered().text()) : Json()},
             {"ignored_errors", ignored_json(o)},
             {"notes", o.notes},
             {"error", o.error ? error_to_json(*o.error) : Json()},
             {"stages", trace_stages_json(trace)}};
    print_json(out);
  } else {
    std::printf("%lld elements in %s: %s\n", static_cast<long long>(o.elements),
                human_seconds(o.seconds).c_str(), human_rate(rate).c_str());
    std::printf("first element after %s, CPU %s, waited %s, peak memory %s\n",
                human_seconds(o.first_element_seconds).c_str(),
                human_seconds(o.cpu_seconds).c_str(), human_seconds(o.waited_seconds).c_str(),
                human_bytes(static_cast<double>(o.peak_memory_bytes)).c_str());
    if (digested) {
      std::printf("digest %s\n       %s in any order\n", digest.ordered().text().c_str(),
                  digest.unordered().text().c_str());
    }
    if (o.elements == o.resumed && !o.ended && !o.error && !CancelOnSignal::requested() &&
        args.has("--seconds"))
      std::puts("no element came in that time; give more with --seconds");
    print_ignored(o);
    for (const std::string& note : o.notes) std::printf("%s\n", wrapped(note, 80, 2).c_str());
  }
  if (o.error) {
    std::fprintf(stderr, "%s element %lld: %s: %s\n", signed_by("run").c_str(),
                 static_cast<long long>(o.elements),
                 paint(Stream::err, Style::red, code_name(o.error->code())).c_str(),
                 o.error->what());
    return 1;
  }
  if (CancelOnSignal::requested()) {
    std::fprintf(stderr, "penstock run: cancelled after %lld elements\n",
                 static_cast<long long>(o.elements));
    return 1;
  }
  return 0;
}

}  // namespace

Command run_command() {
  Command c{"run",
            "PIPE [flags]",
            "drain a pipeline: rate, CPU, memory, time to first element",
            "Runs a pipeline to its end, or to the limit of --steps or --seconds, drops the "
            "elements and reports "
            "the speed. The first element that fails ends the run with its error.",
            {{"--steps", "N", "stop after N elements"},
             {"--seconds", "S", "stop after this time, such as 10s"},
             {"--digest", "", "print digests of the elements: equal for equal data"},
             {"--checkpoint", "FILE", "write a checkpoint at the end and on Ctrl-C"},
             {"--checkpoint-every", "N", "also write one after every N elements"},
             {"--resume", "", "resume from the checkpoint, if there is one"},
             {"--resume-from", "FILE",
              "resume as one of another number of ranks; repeat it for the "
              "checkpoint of each former rank"},
             {"--json", "", "one JSON object (docs/format/run.md)"}},
            run};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
