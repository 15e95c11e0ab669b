// penstock synth: data of real sizes and shapes, without any download.

#include <cstdio>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/synth_data.h"
#include "io/staging_folder.h"
#include "report/element_json.h"
#include "report/table.h"
#include "runtime/counters.h"

namespace penstock::cli {
namespace {

struct Request {
  const std::string& folder;
  int64_t elements;
  uint64_t seed;
  int64_t shards;
  std::string split;
};

struct Kind {
  const char* name;
  int64_t elements, shards;  // default values
  SynthSummary (*make)(const Request&);
};

constexpr Kind kKinds[] = {
    {"imagenet", 1500, 16,
     [](const Request& r) {
       return synth_imagenet(r.folder, r.elements, r.seed, r.shards, r.split);
     }},
    {"images", 500, 1, [](const Request& r) { return synth_images(r.folder, r.elements, r.seed); }},
    {"coco", 200, 16,
     [](const Request& r) { return synth_coco(r.folder, r.elements, r.seed, r.shards); }},
    {"text", 100'000, 4,
     [](const Request& r) { return synth_text(r.folder, r.elements, r.seed, r.shards); }},
    {"numbers", 100'000, 4,
     [](const Request& r) { return synth_numbers(r.folder, r.elements, r.seed, r.shards); }},
    {"clicks", 100'000, 4,
     [](const Request& r) { return synth_clicks(r.folder, r.elements, r.seed, r.shards); }},
    {"translation", 20'000, 4,
     [](const Request& r) { return synth_translation(r.folder, r.elements, r.seed, r.shards); }},
    {"documents", 2000, 4,
     [](const Request& r) { return synth_documents(r.folder, r.elements, r.seed, r.shards); }},
    {"speech", 200, 1, [](const Request& r) { return synth_speech(r.folder, r.elements, r.seed); }},
};

std::string names_of_kinds() {
  std::string out;
  for (const Kind& kind : kKinds) out += (out.empty() ? "" : ", ") + std::string(kind.name);
  return out;
}

std::vector<std::string> list_of_kinds() {
  std::vector<std::string> out;
  for (const Kind& kind : kKinds) out.emplace_back(kind.name);
  return out;
}

int synth(const Args& args) {
  if (args.positional().size() != 2)
    throw UsageError{"which kind, and where to? penstock synth imagenet DIR"};
  const std::string& kind = args.positional()[0];
  const std::string& folder = args.positional()[1];
  const auto seed = static_cast<uint64_t>(args.get_int("--seed", 0, 0));
  const int64_t start = now_ns();
  const Kind* made_by = nullptr;
  for (const Kind& candidate : kKinds) {
    if (kind == candidate.name) made_by = &candidate;
  }
  if (!made_by) throw UsageError{"there is no kind " + kind + "; there are: " + names_of_kinds()};
  StagingFolder staged(folder, args.has("--overwrite"));
  const Request request{staged.path(), args.get_int("--elements", made_by->elements, 0), seed,
                        args.get_int("--shards", made_by->shards, 1),
                        args.get("--split").value_or("train")};
  if (constexpr int64_t kMostShards = 99'999; request.shards > kMostShards)
    throw UsageError{"--shards must be at most 99999: " + std::to_string(request.shards)};
  const SynthSummary made = [&] {
    const Progress progress("writing " + kind + " to " + folder);
    return made_by->make(request);
  }();
  staged.publish();
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
          "KIND DIR [flags]",
          "make data with the sizes and shapes of real data sets",
          "Makes data with the sizes of real data. Kinds: imagenet (photo-like JPEGs in "
          "TFRecord files), images (the same in folders of classes), coco (with boxes and masks), "
          "text (lines of words and numbers), numbers (records of small features, and a CSV file), "
          "clicks (tab-separated, plain and gzipped), translation (pairs of sentences as text, ids "
          "and packed records), documents (tar archives, JSON lines, tokens), speech (FLAC clips "
          "and a manifest), with vocabularies and SentencePiece models where needed. The same seed "
          "gives the same bytes. All files appear together at the end; if one fails, none appears.",
          {{"--elements", "N", "number of elements (default 200 to 100000, by kind)"},
           {"--shards", "N", "number of files (default 4 or 16)"},
           {"--split", "NAME", "imagenet: prefix of the files' names (default train)"},
           {"--seed", "N", "default 0"},
           {"--overwrite", "", "replace existing files (default: fail)"},
           {"--json", "", "one JSON object (docs/format/synth.md)"}},
          synth,
          list_of_kinds()};
}

}  // namespace penstock::cli
