// penstock show: the first elements, or the plan.

#include <charconv>
#include <cstdio>
#include <sstream>

#include "cli/interrupt.h"
#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "job/element_stream.h"
#include "plan/json_form.h"
#include "report/element_json.h"
#include "report/element_text.h"

namespace penstock::cli {
namespace {

// Destination of lines for programs: standard output one by one, or one object at the end.
class Lines {
 public:
  explicit Lines(const Args& args) : json_(args.has("--json")), on_(json_ || args.has("--jsonl")) {}

  void finish() const {
    if (json_) print_json({{"lines", all_}});
  }
  // Returns false if the output is for people.
  bool on() const { return on_; }
  void print(Json line) {
    if (json_) {
      all_.push_back(std::move(line));
    } else {
      print_json(line, -1);
    }
  }

 private:
  const bool json_, on_;
  Json all_ = Json::array();
};

int64_t parse_integer(std::string_view flag, const std::string& word) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    throw UsageError{std::string(flag) + " takes integers, separated by commas: " + word};
  return value;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) out.push_back(word);
  return out;
}

// Converts one element; shows nested datasets by running them.
Json element_json(const Spec& spec, const std::vector<Tensor>& leaves, const RunOptions& options) {
  size_t next = 0;
  return element_to_json(spec, leaves, &next, [&options](const Object& object) {
    Json items = Json::array();
    if (const auto* value = dynamic_cast<const DatasetValue*>(&object)) {
      ElementStream inner(value->plan(), options, std::make_shared<PipelineState>(),
                          value->environment());
      std::vector<Tensor> element;
      ErrorPtr error;
      while (items.size() < 1000 && inner.next(64, &element, &error)) {
        items.push_back(error ? Json{{"error", error_to_json(*error)}}
                              : element_json(value->plan()->spec, element, options));
      }
    }
    return Json{{"dataset", items}};
  });
}

std::string people_text(const Error& e) {
  return paint(Stream::out, Style::red, "error " + std::string(code_name(e.code()))) + ": " +
         e.what();
}

// Formats one element for people; shows the first elements of nested datasets by running them.
std::string people_text(const Spec& spec, const std::vector<Tensor>& leaves,
                        const RunOptions& options, bool full, bool lines = true) {
  constexpr int64_t kFew = 10;
  const auto inner_text = [&](const Object& object) -> std::string {
    const auto* value = dynamic_cast<const DatasetValue*>(&object);
    if (!value) return "dataset";
    ElementStream inner(value->plan(), options, std::make_shared<PipelineState>(),
                        value->environment());
    std::vector<Tensor> element;
    ErrorPtr error;
    std::string out = "dataset(";
    for (int64_t i = 0; inner.next(full ? 64 : kFew + 1, &element, &error); ++i) {
      if (i > 0) out += ", ";
      if (!full && i == kFew) {
        out += "...";
        break;
      }
      out += error ? "error " + std::string(code_name(error->code()))
                   : people_text(value->plan()->spec, element, options, full, false);
    }
    return out + ")";
  };
  size_t next = 0;
  return element_text(spec, leaves, &next, {full, lines, inner_text});
}

struct Pass {
  bool failed = false;
};

Pass show_pass(const LoadedPipeline& p, const std::shared_ptr<PipelineState>& state, int64_t limit,
               Lines* lines, int64_t restart_every, bool full) {
  Pass out;
  ElementStream outcomes(p.plan, p.run_options, state);
  std::vector<Tensor> element;
  ErrorPtr error;
  const Progress progress("the next element is computed");
  for (int64_t i = 0; i < limit; ++i) {
    if (i > 0 && i % restart_every == 0) outcomes.restart();
    const int64_t ahead = std::min<int64_t>(limit - i, 256);
    const CancelOnSignal cancel(&outcomes.iterator());
    const bool there = outcomes.next(ahead, &element, &error);
    Progress::hide();
    if (!there) {
      if (lines->on()) lines->print({{"end", true}});
      return out;
    }
    if (error) {
      out.failed = true;
      if (lines->on()) {
        lines->print({{"error", error_to_json(*error)}});
      } else {
        std::puts(people_text(*error).c_str());
        check_output();
      }
    } else if (lines->on()) {
      lines->print({{"element", element_json(p.plan->spec, element, p.run_options)}});
    } else {
      std::puts(people_text(p.plan->spec, element, p.run_options, full).c_str());
      check_output();
    }
  }
  return out;
}

bool show_at(const LoadedPipeline& p, const std::vector<int64_t>& indices, Lines* lines,
             bool full) {
  CommandRun observer;
  ElementsByIndex elements(p.plan, p.run_options, &observer);
  bool failed = false;
  const Progress progress("an element is computed");
  for (const int64_t index : indices) {
    Json line{{"at", index}};
    std::string text;
    try {
      const std::vector<Tensor> element = elements.get(index);
      if (lines->on()) {
        line["element"] = element_json(p.plan->spec, element, p.run_options);
      } else {
        text = people_text(p.plan->spec, element, p.run_options, full);
      }
    } catch (const Error& e) {
      if (e.code() == Code::cancelled) throw;
      line["error"] = error_to_json(e);
      text = people_text(e);
      failed = true;
    }
    Progress::hide();
    if (lines->on()) {
      lines->print(line);
    } else {
      std::printf("%lld: %s\n", static_cast<long long>(index), text.c_str());
    }
  }
  return failed;
}

int refuse(const Error& e, Lines* lines) {
  if (lines->on()) {
    lines->print(
        {{"error",
          {{"at", "construction"}, {"code", code_name(e.code())}, {"message", e.what()}}}});
  } else {
    const auto* place = dynamic_cast<const PipeError*>(&e);
    std::fprintf(stderr, "%s\n", place ? painted(*place).c_str() : e.what());
  }
  return 2;
}

int show_plan(const Args& args) {
  const LoadedPipeline p = load_pipeline(args);
  if (args.has("--json")) {
    print_json(plan_to_json(*p.plan));
  } else {
    std::fputs(plan_text(p.plan).c_str(), stdout);
  }
  return 0;
}

int show_value(const LoadedPipeline& p, Lines* lines, bool full) {
  try {
    const std::vector<Tensor> value = [&] {
      const Progress progress("a value is computed");
      return run_sink(p.plan, p.run_options, std::make_shared<PipelineState>());
    }();
    if (lines->on()) {
      lines->print({{"value", element_json(p.plan->spec, value, p.run_options)}});
    } else {
      std::puts(people_text(p.plan->spec, value, p.run_options, full).c_str());
    }
    return 0;
  } catch (const Error& e) {
    if (e.code() == Code::cancelled) throw;
    if (lines->on()) {
      lines->print({{"error", error_to_json(e)}});
    } else {
      std::fprintf(stderr, "error %s: %s\n", std::string(code_name(e.code())).c_str(), e.what());
    }
    return 1;
  }
}

int show_elements(const Args& args, Lines* lines) {
  const int64_t limit = args.get_int("--limit", args.has("--passes") ? INT64_MAX : 10, 0);
  std::vector<int64_t> indices, passes;
  for (const std::string& word : words_of(args.get("--at").value_or("")))
    indices.push_back(parse_integer("--at", word));
  for (const std::string& word : words_of(args.get("--passes").value_or("")))
    passes.push_back(word == "all" ? INT64_MAX : parse_integer("--passes", word));
  LoadedPipeline p;
  try {
    p = load_pipeline(args);
  } catch (const Error& e) {
    return refuse(e, lines);
  }
  if (p.plan->op->sink) return show_value(p, lines, args.has("--full"));
  if (lines->on()) {
    lines->print({{"spec", spec_to_json(p.plan->spec)}, {"cardinality", p.plan->cardinality}});
  } else {
    std::printf("%s\n", paint(Stream::out, Style::bold, p.plan->spec.text()).c_str());
  }
  if (args.has("--at")) return show_at(p, indices, lines, args.has("--full")) ? 1 : 0;
  const auto state = std::make_shared<PipelineState>();
  const int64_t every = args.get_int("--checkpoint-every", INT64_MAX, 1);
  p.run_options.marks = args.has("--checkpoint-every");
  bool failed = false;
  try {
    const bool full = args.has("--full");
    if (!args.has("--passes")) failed = show_pass(p, state, limit, lines, every, full).failed;
    for (size_t k = 0; k < passes.size(); ++k) {
      if (lines->on()) {
        lines->print({{"pass", k}});
      } else {
        std::printf("pass %zu\n", k);
      }
      failed |= show_pass(p, state, passes[k], lines, every, full).failed;
    }
  } catch (const Error& e) {  // the plan cannot be opened
    if (e.code() == Code::cancelled) throw;
    return refuse(e, lines);
  }
  return failed ? 1 : 0;
}

int show(const Args& args) {
  if (args.has("--plan")) return show_plan(args);
  Lines lines(args);
  const int status = show_elements(args, &lines);
  lines.finish();
  return status;
}

}  // namespace

Command show_command() {
  Command c{
      "show",
      "PIPE [flags]",
      "print the first elements with their types, or the plan",
      "Prints the element type of the pipeline, then the first elements. Elements that "
      "fail are "
      "shown as errors, and the next ones follow. Large tensors and strings are summarised; "
      "programs (--jsonl, --json) get all of them.",
      {{"--limit", "N", "show N outcomes: elements and errors (default 10)"},
       {"--passes", "3,all",
        "several passes over one pipeline object, each with that many outcomes"},
       {"--at", "0,-1", "elements by index"},
       {"--checkpoint-every", "N", "after every N elements resume from a checkpoint in a new run"},
       {"--full", "", "print large tensors and strings in full"},
       {"--jsonl", "", "one JSON object per line, for programs (docs/format/elements.md)"},
       {"--plan", "", "print the plan that would run, in canonical form"},
       {"--json", "",
        "all of these in one object; with --plan, the plan (docs/format/plan-json.md)"}},
      show};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
