// Counters and helpers that the programs of this folder share.
#pragma once

#include <penstock/penstock.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

inline int passed = 0, failed = 0;

inline void check(bool good, const std::string& what) {
  (good ? passed : failed) += 1;
  if (!good) std::printf("FAILED: %s\n", what.c_str());
}

// Prints the closing line; returns the exit status.
inline int closing_line() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

// Runs a group of checks; an exception that escapes counts as a failed check.
template <typename F>
void group(const char* name, const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    check(false, std::string(name) + ": " + e.what());
  } catch (...) {
    check(false, std::string(name) + ": an exception of another type");
  }
}

// Returns the Error that f throws; nothing if it throws none. Lets any other exception pass.
template <typename F>
std::optional<penstock::Error> error_of(const F& f) {
  try {
    f();
  } catch (const penstock::Error& e) {
    return e;
  }
  return std::nullopt;
}

// Checks that f throws an Error of this code whose text contains this part.
template <typename F>
void check_error(const F& f, penstock::Code code, const std::string& part,
                 const std::string& what) {
  const std::optional<penstock::Error> error = error_of(f);
  const std::string text = error ? error->what() : "nothing is thrown";
  const bool good = error && error->code() == code && text.find(part) != std::string::npos;
  check(good,
        what + ": " + (error ? std::string(penstock::code_name(error->code())) + ": " : "") + text);
}

inline std::vector<int64_t> integers(const penstock::Dataset& dataset) {
  std::vector<int64_t> out;
  for (const penstock::Element& e : dataset) out.push_back(e.value<int64_t>());
  return out;
}
