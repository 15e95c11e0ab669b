// penstock synth: data of real sizes and shapes, without any download.

#include <cstdio>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/synth_data.h"
#include "report/element_json.h"
#include "report/table.h"
#include "runtime/counters.h"

namespace penstock::cli {
namespace {

int synth(const Args& args) {
  if (args.positional().size() != 2)
    throw UsageError{"which kind, and where to? penstock synth imagenet DIR"};
  const std::string& kind = args.positional()[0];
  const std::string& folder = args.positional()[1];
  const auto seed = static_cast<uint64_t>(args.get_int("--seed", 0, 0));
  const int64_t start = now_ns();
  SynthSummary made;
  if (kind == "imagenet") {
    made = synth_imagenet(folder, args.get_int("--elements", 1500, 0), seed,
                          args.get_int("--shards", 16, 1));
  } else if (kind == "text") {
    made = synth_text(folder, args.get_int("--elements", 100'000, 0), seed,
                      args.get_int("--shards", 4, 1));
  } else if (kind == "numbers") {
    made = synth_numbers(folder, args.get_int("--elements", 100'000, 0), seed,
                         args.get_int("--shards", 4, 1));
  } else {
    throw UsageError{"there is no kind " + kind + "; imagenet, text or numbers"};
  }
  const double seconds = static_cast<double>(now_ns() - start) * 1e-9;
  if (args.has("--json")) {
    print_json({{"kind", kind},
                {"directory", folder},
                {"files", made.files},
                {"elements", made.elements},
                {"bytes", made.bytes},
                {"seconds", seconds}});
  } else {
    std::printf("%lld elements, %s, in %lld files in %s (%s)\n",
                static_cast<long long>(made.elements),
                human_bytes(static_cast<double>(made.bytes)).c_str(),
                static_cast<long long>(made.files), folder.c_str(), human_seconds(seconds).c_str());
  }
  return 0;
}

}  // namespace

Command synth_command() {
  return {"synth",
          "imagenet|text|numbers DIR [flags]",
          "data of the sizes and shapes of real sets",
          "Makes data that weighs what real data weighs: imagenet (photo-like JPEGs in TFRecord "
          "files), text (lines of "
          "words and numbers) or numbers (records of small features, and a CSV file). The same "
          "seed gives the same bytes.",
          {{"--elements", "N", "how many (default 1500 images, 100000 of the others)"},
           {"--shards", "N", "over how many files (default 16, or 4)"},
           {"--seed", "N", "default 0"},
           {"--json", "", "one JSON object (docs/format/synth.md)"}},
          synth};
}

}  // namespace penstock::cli
