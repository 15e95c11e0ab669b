#include "cli/pipeline.h"

#include <algorithm>
#include <iostream>
#include <random>

#include "io/file.h"
#include "plan/diagnostic.h"
#include "plan/throttle_text.h"

namespace penstock::cli {

std::vector<Flag> pipeline_flags() {
  return {
      {"--threads", "N", "threads that compute; others read files (default: all usable cores)"},
      {"--memory", "SIZE", "budget of buffers, such as 2GiB (default: 3/4 of memory)"},
      {"--seed", "N|random", "seed of ops without a seed in the text (default 0)"},
      {"--set", "K=V", "set a param; may be repeated"},
      {"--block-rows", "N", "most rows in a block (default 4096)"},
      {"--throttle", "SPEED",
       "slow storage down, as in bandwidth=10MB/s,open=20ms,read=1ms (none: not at all)"},
      {"--latency", "", "do no work ahead of demand, to answer requests one by one"},
      {"--no-optimize", "", "run the plan as written: no rewrites, auto means one thread"},
      {"--tune", "live|start|off",
       "unset knobs move while it runs (live, the default), stay as at the start, or mean one "
       "thread (off)"},
      {"--disable-rule", "NAME", "leave out a rewrite rule; may be repeated"},
      {"--only-rule", "NAME", "apply this rewrite rule alone"},
  };
}

std::string read_text(const std::string& path) {
  constexpr int64_t kMostBytes = 64 << 20;  // limit for traces; pipelines are shorter
  try {
    if (path != "-") return read_file(path, kMostBytes);
  } catch (const Error& e) {
    throw UsageError{e.message()};
  }
  std::string text;
  while (std::cin && static_cast<int64_t>(text.size()) <= kMostBytes) {
    char part[64 << 10];
    std::cin.read(part, sizeof part);
    text.append(part, static_cast<size_t>(std::cin.gcount()));
  }
  if (static_cast<int64_t>(text.size()) > kMostBytes)
    throw UsageError{"standard input holds more than " + std::to_string(kMostBytes) + " bytes"};
  return text;
}

Trace read_trace(const std::string& text, const std::string& path) {
  try {
    return parse_trace(text, path);
  } catch (const Error& e) {
    throw UsageError{e.message()};
  }
}

std::string pipe_argument(const Args& args) {
  if (args.positional().empty())
    throw UsageError{"which pipeline? give a .pipe file, or - for standard input"};
  if (args.positional().size() > 1)
    throw UsageError{"one pipeline at a time: " + args.positional()[1]};
  return args.positional()[0];
}

namespace {

uint64_t parse_seed(const Args& args) {
  const auto seed = args.get("--seed");
  if (!seed) return 0;
  if (*seed != "random") return static_cast<uint64_t>(args.get_int("--seed", 0, 0));
  const uint64_t drawn = std::random_device()();
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(drawn));
  return drawn;
}

PipelineChoices choices_of(const Args& args) {
  PipelineChoices out;
  out.run.memory_bytes = args.get_bytes("--memory", 0);
  out.seed = parse_seed(args);
  for (const std::string& setting : args.all("--set")) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError{"--set needs NAME=VALUE: " + setting};
    out.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return out;
}

void add_run_choices(const Args& args, PipelineChoices* out) {
  out->run.threads = static_cast<int>(args.get_int("--threads", 0, 1));
  out->run.block_rows = args.get_int("--block-rows", 4096, 1);
  out->run.latency = args.has("--latency");
  try {
    if (const auto speed = args.get("--throttle")) {
      out->run.throttle = parse_throttle(*speed);
      out->run.throttle.overrides = true;
    }
  } catch (const Error& e) {
    throw UsageError{"--" + e.message()};
  }
  out->rewrite = !args.has("--no-optimize");
  const std::string tune = args.get("--tune").value_or("live");
  if (tune != "live" && tune != "start" && tune != "off")
    throw UsageError{"--tune is live, start or off: " + tune};
  out->automatic = out->rewrite && tune != "off";
  out->live = tune == "live";
  out->disabled_rules = args.all("--disable-rule");
  out->only_rule = args.get("--only-rule").value_or("");
}

}  // namespace

LoadedPipeline load_pipeline(const Args& args) { return load_pipeline(args, pipe_argument(args)); }

LoadedPipeline load_pipeline(const Args& args, const std::string& path) {
  std::string text = read_text(path);
  if (looks_like_trace(text)) text = read_trace(text, path).program;
  PipelineChoices choices = choices_of(args);
  add_run_choices(args, &choices);
  try {
    LoadedPipeline out =
        load_pipeline(std::make_shared<const Source>(Source{path, std::move(text)}), choices);
    for (const std::string& w : out.built.warnings)
      std::fprintf(stderr, "warning: %s\n", w.c_str());
    return out;
  } catch (const PipeError&) {
    throw;
  } catch (const Error& e) {
    throw UsageError{e.message()};
  }
}

}  // namespace penstock::cli
