// For tests: print a text's tree, read the print, compare.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "plan/format.h"
#include "plan/parser.h"

namespace penstock {

inline SourcePtr source_of(std::string text, std::string name = "t.pipe") {
  return std::make_shared<const Source>(Source{std::move(name), std::move(text)});
}

inline std::string formatted(const std::string& text) {
  return format_program(parse_program(source_of(text)));
}

inline bool same_pattern(const PatternPtr& a, const PatternPtr& b) {
  Expr holder_a;
  Expr holder_b;
  if (a) holder_a.patterns = {a};
  if (b) holder_b.patterns = {b};
  return same_tree(holder_a, holder_b);
}

inline void check_same(const Program& a, const Program& b) {
  REQUIRE(a.statements.size() == b.statements.size());
  for (size_t i = 0; i < a.statements.size(); ++i) {
    const Statement& x = a.statements[i];
    const Statement& y = b.statements[i];
    CHECK(x.kind == y.kind);
    CHECK(x.path == y.path);
    CHECK(same_pattern(x.pattern, y.pattern));
    REQUIRE(!x.value == !y.value);
    if (x.value) CHECK(same_tree(*x.value, *y.value));
  }
  REQUIRE(!a.result == !b.result);
  if (a.result) CHECK(same_tree(*a.result, *b.result));
}

inline void check_round_trip(const std::string& text) {
  CAPTURE(text);
  const Program program = parse_program(source_of(text));
  const std::string once = format_program(program);
  CAPTURE(once);
  const Program again = parse_program(source_of(once));
  check_same(program, again);
  CHECK(format_program(again) == once);
}

}  // namespace penstock
