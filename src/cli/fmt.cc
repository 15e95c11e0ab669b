// penstock fmt: the canonical form of a .pipe file.

#include <cstdio>

#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "io/file.h"
#include "plan/format.h"
#include "plan/parser.h"
#include "report/element_json.h"

namespace penstock::cli {
namespace {

int fmt(const Args& args) {
  const std::string path = pipe_argument(args);
  const std::string text = read_text(path);
  const std::string formatted =
      format_program(parse_program(std::make_shared<const Source>(Source{path, text})));
  const bool changed = formatted != text;
  const bool check = args.has("--check");
  if (args.has("--json")) {
    print_json({{"file", path}, {"changed", changed}, {"text", formatted}});
  } else if (path == "-" && !check) {
    std::fputs(formatted.c_str(), stdout);
  }
  if (check) return changed ? 1 : 0;
  if (changed && path != "-") write_file_atomically(path, formatted);
  return 0;
}

}  // namespace

Command fmt_command() {
  return {
      "fmt",
      "FILE [flags]",
      "rewrite a .pipe file in canonical form",
      "Rewrites the file in its canonical form, comments kept. - reads standard input and prints.",
      {{"--check", "", "write nothing; exit status 1 when the file is not canonical"},
       {"--json", "", "one JSON object (docs/format/fmt.md)"}},
      fmt};
}

}  // namespace penstock::cli
