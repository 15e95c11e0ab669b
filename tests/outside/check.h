// What the programs of this folder count and share.
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

// The closing line; the exit status.
inline int closing_line() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

// Runs a group of checks; an exception that leaves it is a failed one.
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

// The Error that f throws; nothing when it throws none. Any other exception leaves.
template <typename F>
std::optional<penstock::Error> error_of(const F& f) {
  try {
    f();
  } catch (const penstock::Error& e) {
    return e;
  }
  return std::nullopt;
}

// Whether f throws an Error of this code whose text has this part.
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
