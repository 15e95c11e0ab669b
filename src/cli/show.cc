// penstock show: the first elements, or the plan.

#include <cstdio>
#include <sstream>

#include "cli/pipeline.h"
#include "plan/json_form.h"
#include "plan/unparse.h"
#include "report/element_json.h"
#include "runtime/checkpoint.h"

namespace penstock::cli {
namespace {

void print_line(const Json& line) {
  std::puts(line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

// Elements of one pass, one outcome a call. Small blocks: nothing is made that is not shown.
class Outcomes {
 public:
  Outcomes(const PlanPtr& plan, const RunOptions& options, std::shared_ptr<PipelineState> state,
           std::vector<Tensor> environment = {})
      : plan_(plan), options_(options), state_(std::move(state)) {
    iterator_.emplace(plan_, options_, state_, std::move(environment));
  }

  // False at the end.
  bool next(int64_t most, std::vector<Tensor>* element, ErrorPtr* error) {
    if (row_ == block_.rows) {
      row_ = 0;
      block_.clear();
      before_ = iterator_->position();
      if (!iterator_->next(&block_, most)) return false;
    }
    element->clear();
    const ErrorPtr* e = block_.error_at(row_);
    *error = e ? *e : nullptr;
    if (!e) {
      for (const Column& c : block_.columns) element->push_back(c.row(row_));
    }
    ++row_;
    return true;
  }
  BlockIterator& iterator() { return *iterator_; }
  // Ends the iterator, and goes on with a new one that knows where it stood as a checkpoint says
  // it.
  void restart() {
    const std::string place =
        write_position(row_ == block_.rows ? iterator_->position()
                                           : StreamPosition{before_.mark, before_.rows + row_});
    const uint64_t number = iterator_->number();
    block_.clear();
    row_ = 0;
    iterator_.reset();
    iterator_.emplace(plan_, options_, state_, std::vector<Tensor>(),
                      ResumePoint{number, read_position(place)});
  }

 private:
  PlanPtr plan_;
  RunOptions options_;
  std::shared_ptr<PipelineState> state_;
  std::optional<BlockIterator> iterator_;
  StreamPosition before_;  // of block_
  Block block_;
  int64_t row_ = 0;
};

// Nested datasets are shown by running them.
Json element_json(const Spec& spec, const std::vector<Tensor>& leaves, const RunOptions& options) {
  size_t next = 0;
  return element_to_json(spec, leaves, &next, [&options](const Object& object) {
    Json items = Json::array();
    if (const auto* value = dynamic_cast<const DatasetValue*>(&object)) {
      Outcomes inner(value->plan(), options, std::make_shared<PipelineState>(),
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

std::string people_text(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr size_t kLongest = 200;
  if (text.size() > kLongest)
    text = text.substr(0, kLongest) + " ... (" + std::to_string(text.size()) + " characters)";
  return text;
}

struct Pass {
  bool failed = false;
};

Pass show_pass(const LoadedPipeline& p, const std::shared_ptr<PipelineState>& state, int64_t limit,
               bool jsonl, int64_t restart_every) {
  Pass out;
  Outcomes outcomes(p.plan, p.run_options, state);
  std::vector<Tensor> element;
  ErrorPtr error;
  for (int64_t i = 0; i < limit; ++i) {
    if (i > 0 && i % restart_every == 0) outcomes.restart();
    const int64_t ahead = std::min<int64_t>(limit - i, 256);
    const CancelOnSignal cancel(&outcomes.iterator());
    if (!outcomes.next(ahead, &element, &error)) {
      if (jsonl) print_line({{"end", true}});
      return out;
    }
    if (error) {
      out.failed = true;
      if (jsonl) {
        print_line({{"error", error_to_json(*error)}});
      } else {
        std::printf("error %s: %s\n", std::string(code_name(error->code())).c_str(), error->what());
      }
    } else {
      const Json value = element_json(p.plan->spec, element, p.run_options);
      if (jsonl) {
        print_line({{"element", value}});
      } else {
        std::puts(people_text(value).c_str());
      }
    }
  }
  return out;
}

// Random access by running: what a pipeline gives at an index, as an iteration would.
bool show_at(const LoadedPipeline& p, const std::string& list) {
  std::istringstream in(list);
  std::string word;
  bool failed = false;
  while (std::getline(in, word, ',')) {
    int64_t index = 0;
    try {
      index = std::stoll(word);
    } catch (const std::exception&) {
      throw UsageError{"--at takes integers: " + word};
    }
    Json line{{"at", index}};
    const int64_t n = p.plan->cardinality;
    auto refuse = [&](Code code, const std::string& message) {
      line["error"] = error_to_json(Error(code, message));
      failed = true;
    };
    if (n == kInfinite) {
      refuse(Code::failed_precondition, "at: the pipeline is infinite");
    } else if (n == kUnknown) {
      refuse(Code::unimplemented, "at: the number of elements is not known");
    } else if (index < 0 || index >= n) {
      refuse(Code::out_of_range, "at: index is out of range for " + std::to_string(n) +
                                     " elements: " + std::to_string(index));
    } else {
      Outcomes outcomes(p.plan, p.run_options, std::make_shared<PipelineState>());
      std::vector<Tensor> element;
      ErrorPtr error;
      bool there = true;
      for (int64_t i = 0; i <= index && there; ++i)
        there = outcomes.next(index + 1 - i, &element, &error);
      if (!there) {
        refuse(Code::out_of_range, "at: index is out of range: " + std::to_string(index));
      } else if (error) {
        refuse(error->code(), error->what());
      } else {
        line["element"] = element_json(p.plan->spec, element, p.run_options);
      }
    }
    print_line(line);
  }
  return failed;
}

int refuse(const Error& e, bool jsonl) {
  if (jsonl) {
    print_line({{"error",
                 {{"at", "construction"}, {"code", code_name(e.code())}, {"message", e.what()}}}});
  } else {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return 2;
}

int show(const Args& args) {
  const bool jsonl = args.has("--jsonl");
  LoadedPipeline p;
  try {
    p = load_pipeline(args);
  } catch (const Error& e) {
    return refuse(e, jsonl);
  }
  if (args.has("--plan")) {
    if (args.has("--json")) {
      std::puts(plan_to_json(*p.plan).dump(2).c_str());
    } else {
      std::fputs(format_program(unparse(*p.plan)).c_str(), stdout);
    }
    return 0;
  }
  const bool all_passes = args.has("--passes");
  if (p.plan->op->sink) {
    try {
      const std::vector<Tensor> value =
          run_sink(p.plan, p.run_options, std::make_shared<PipelineState>());
      const Json v = element_json(p.plan->spec, value, p.run_options);
      if (jsonl) {
        print_line({{"value", v}});
      } else {
        std::puts(people_text(v).c_str());
      }
      return 0;
    } catch (const Error& e) {
      if (e.code() == Code::cancelled) throw;
      if (jsonl) {
        print_line({{"error", error_to_json(e)}});
      } else {
        std::fprintf(stderr, "error %s: %s\n", std::string(code_name(e.code())).c_str(), e.what());
      }
      return 1;
    }
  }
  if (jsonl) {
    print_line({{"spec", spec_to_json(p.plan->spec)}, {"cardinality", p.plan->cardinality}});
  } else {
    std::printf("%s\n", p.plan->spec.text().c_str());
  }
  if (const auto at = args.get("--at")) return show_at(p, *at) ? 1 : 0;
  const auto state = std::make_shared<PipelineState>();
  const int64_t limit = args.get_int("--limit", all_passes ? INT64_MAX : 10, 0);
  const int64_t every = args.get_int("--checkpoint-every", INT64_MAX, 1);
  p.run_options.marks = args.has("--checkpoint-every");
  bool failed = false;
  try {
    if (!all_passes) {
      failed = show_pass(p, state, limit, jsonl, every).failed;
    } else {
      std::istringstream passes(*args.get("--passes"));
      std::string word;
      for (int64_t k = 0; std::getline(passes, word, ','); ++k) {
        if (jsonl) {
          print_line({{"pass", k}});
        } else {
          std::printf("pass %lld\n", static_cast<long long>(k));
        }
        const int64_t most = word == "all" ? INT64_MAX : std::stoll(word);
        failed |= show_pass(p, state, most, jsonl, every).failed;
      }
    }
  } catch (const Error& e) {  // cannot be opened
    if (e.code() == Code::cancelled) throw;
    return refuse(e, jsonl);
  }
  return failed ? 1 : 0;
}

}  // namespace

Command show_command() {
  Command c{
      "show",
      "PIPE [flags]",
      "print the first elements with their types, or the plan",
      "Prints what the pipeline gives: its element type, then the first elements. Elements that "
      "fail are "
      "shown as errors, and the next ones follow.",
      {{"--limit", "N", "so many outcomes, elements and errors (default 10)"},
       {"--passes", "3,all", "several passes over one pipeline object, each of so many outcomes"},
       {"--at", "0,-1", "elements by index"},
       {"--checkpoint-every", "N", "after each N elements go on from a checkpoint, in a new run"},
       {"--jsonl", "", "one JSON object a line, for programs (docs/format/elements.md)"},
       {"--plan", "", "the plan as it would be run, in canonical form"},
       {"--json", "", "with --plan: the plan as JSON (docs/format/plan-json.md)"}},
      show};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
