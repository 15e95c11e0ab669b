#include "cli/failure.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/terminal.h"
#include "job/traced_run.h"
#include "plan/diagnostic.h"
#include "report/element_json.h"

namespace penstock::cli {
namespace {

struct Failure {
  int status;
  const char* at;  // the part of the work that failed
  Code code;
  std::string message;
  std::string text;  // for people
  Json places = Json::array();
};

Failure of_usage(const UsageError& e, const std::string& command) {
  const std::string name = command.empty() ? "penstock" : "penstock " + command;
  return {
      2, "call", Code::invalid_argument, e.message,
      paint(Stream::err, Style::bold, name + ":") + " " + e.message + "\nTry: " + name + " --help"};
}

Failure of_text(const PipeError& e) {
  Failure out{2, "construction", e.code(), e.what(), painted(e)};
  for (const PipeError::Place& p : e.places()) {
    out.places.push_back({{"file", p.file},
                          {"line", p.position.line},
                          {"column", p.position.column},
                          {"message", p.message}});
  }
  return out;
}

Failure of_error(const Error& e, const char* at, int status, const std::string& before) {
  const std::string what =
      e.code() == Code::cancelled
          ? "cancelled"
          : paint(Stream::err, Style::red, code_name(e.code())) + ": " + e.what();
  return {status, at, e.code(), e.what(), before + what};
}

Failure failure_in_flight(const std::string& command) {
  const std::string name = signed_by(command) + " ";
  try {
    throw;
  } catch (const UsageError& e) {
    return of_usage(e, command);
  } catch (const PipeError& e) {
    return of_text(e);
  } catch (const OpenError& e) {
    return of_error(e, "opening", 2, name + "refused: ");
  } catch (const Refusal& e) {
    return of_error(e, "opening", 2, name);
  } catch (...) {
    return of_error(*current_error(), "work", 1, name);
  }
}

bool wants_json(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::find(words.begin(), end, "--json") != end;
}

}  // namespace

int report_failure(const std::string& command, const std::vector<std::string>& words) {
  try {
    throw;
  } catch (const OutputError& e) {
    if (e.number == EPIPE) return 128 + SIGPIPE;
    std::fprintf(stderr, "penstock: standard output: %s\n", std::strerror(e.number));
    return 1;
  } catch (...) {
    const Failure f = failure_in_flight(command);
    std::fprintf(stderr, "%s\n", f.text.c_str());
    if (!wants_json(words)) return f.status;
    Json error{{"at", f.at}, {"code", code_name(f.code)}, {"message", f.message}};
    if (!f.places.empty()) error["places"] = f.places;
    std::puts(Json{{"error", error}}.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return f.status;
  }
}

}  // namespace penstock::cli
