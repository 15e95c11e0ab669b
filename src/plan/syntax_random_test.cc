#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <random>

#include "plan/diagnostic.h"
#include "plan/round_trip.h"

namespace penstock {
namespace {

using Kind = Expr::Kind;

// Random trees, as far as programs may build them.
class TreeMaker {
 public:
  explicit TreeMaker(uint32_t seed) : random_(seed) {}

  ExprPtr expr(int depth) {
    auto e = std::make_shared<Expr>();
    if (depth == 0 || pick(6) == 0) return leaf(*e), e;
    const Kind kinds[] = {Kind::list,   Kind::tuple,  Kind::dict,        Kind::call,
                          Kind::pipe,   Kind::field,  Kind::subscript,   Kind::unary,
                          Kind::binary, Kind::binary, Kind::conditional, Kind::lambda,
                          Kind::let};
    e->kind = kinds[pick(13)];
    fill(*e, depth - 1);
    return e;
  }

 private:
  size_t pick(size_t n) { return random_() % n; }
  std::string name() { return std::string(1, static_cast<char>('a' + pick(4))); }

  void leaf(Expr& e) {
    const Kind kinds[] = {Kind::integer, Kind::floating,  Kind::text, Kind::bytes, Kind::boolean,
                          Kind::none,    Kind::automatic, Kind::name, Kind::name,  Kind::quantity};
    e.kind = kinds[pick(10)];
    e.text = e.kind == Kind::name ? name() : "";
    if (e.kind == Kind::text || e.kind == Kind::bytes) {
      for (size_t i = pick(5); i > 0; --i) e.text += static_cast<char>(random_());
    }
    if (e.kind == Kind::integer) e.integer_value = random_() >> pick(32);
    if (e.kind == Kind::floating) e.float_value = std::ldexp(random_(), 20 - int(pick(60)));
    if (e.kind == Kind::quantity) e.text = pick(2) ? "seconds" : "bytes/s", e.float_value = 3.5;
    e.bool_value = e.kind == Kind::boolean && pick(2);
  }

  void fill(Expr& e, int depth) {
    size_t items = 0;
    switch (e.kind) {
      case Kind::call:
        e.operand = expr(depth);
        arguments(e, depth);
        break;
      case Kind::pipe: {
        auto call = std::make_shared<Expr>();
        call->kind = Kind::call;
        auto callee = std::make_shared<Expr>();
        callee->kind = Kind::name;
        callee->text = name();
        call->operand = callee;
        arguments(*call, depth);
        e.items = {expr(depth), call};
        break;
      }
      case Kind::list:
      case Kind::tuple:
      case Kind::dict: elements(e, depth); break;
      case Kind::field:
        e.text = pick(2) ? name() : "if";
        items = 1;
        break;
      case Kind::subscript:
        items = 1;
        subscripts(e, depth);
        break;
      case Kind::unary:
        e.text = pick(2) ? "-" : "not";
        items = 1;
        break;
      case Kind::binary: {
        const char* ops[] = {"+", "-", "*", "/", "//", "%", "**", "==", "<", ">=", "and", "or"};
        e.text = ops[pick(12)];
        items = 2;
        break;
      }
      case Kind::conditional: items = 3; break;
      case Kind::lambda:
        for (size_t i = pick(3); i > 0; --i) e.patterns.push_back(pattern(2, pick(4) == 0));
        items = 1;
        break;
      default:
        e.patterns.push_back(pattern(2, false));
        items = 2;
        break;
    }
    for (size_t i = 0; i < items; ++i) e.items.push_back(expr(depth));
  }

  void arguments(Expr& call, int depth) {
    for (size_t i = pick(3); i > 0; --i) {
      const bool keyed = pick(2);
      call.entries.push_back(
          {keyed ? Entry::Kind::keyed : Entry::Kind::plain, {}, keyed ? name() : "", expr(depth)});
    }
  }

  void elements(Expr& e, int depth) {
    for (size_t i = pick(4); i > 0; --i) {
      const auto plain = e.kind == Kind::dict ? Entry::Kind::keyed : Entry::Kind::plain;
      const auto kind = pick(4) ? plain : Entry::Kind::spread;
      const std::string key = kind != Entry::Kind::keyed ? "" : pick(3) ? name() : "a/\n";
      e.entries.push_back({kind, {}, key, expr(depth)});
    }
  }

  void subscripts(Expr& e, int depth) {
    for (size_t i = 1 + pick(3); i > 0; --i) {
      Subscript s;
      s.kind = static_cast<Subscript::Kind>(pick(3));
      const bool slice = s.kind == Subscript::Kind::slice;
      if (s.kind == Subscript::Kind::index) s.index = expr(depth);
      if (slice && pick(2)) s.begin = expr(depth);
      if (slice && pick(2)) s.end = expr(depth);
      if (slice && pick(2)) s.step = expr(depth);
      e.subscripts.push_back(s);
    }
  }

  PatternPtr pattern(int depth, bool with_default) {
    auto p = std::make_shared<Pattern>();
    p->kind = depth == 0 || with_default ? Pattern::Kind::name : Pattern::Kind(pick(3));
    if (p->kind == Pattern::Kind::name) p->name = name();
    if (with_default) p->default_value = expr(1);
    if (p->kind == Pattern::Kind::dict && pick(2)) p->rest = "_";
    for (size_t i = pick(3); i > 0 && p->kind != Pattern::Kind::name; --i) {
      p->items.push_back(pattern(depth - 1, false));
      if (p->kind == Pattern::Kind::dict) p->keys.push_back(pick(2) ? name() : "then");
    }
    return p;
  }

  std::mt19937 random_;
};

TEST_CASE("random trees print and read back") {
  const uint32_t first = std::random_device()();
  for (uint32_t seed = first; seed != first + 1000; ++seed) {
    CAPTURE(seed);
    const ExprPtr tree = TreeMaker(seed).expr(4);
    for (const int width : {100, 20, 1}) {
      const std::string text = format_expression(*tree, width);
      CAPTURE(text);
      const ExprPtr again = parse_expression(source_of(text));
      REQUIRE(same_tree(*tree, *again));
      REQUIRE(format_expression(*again, width) == text);
    }
    Program program;
    program.result = tree;
    check_round_trip(format_program(program));
  }
}

TEST_CASE("token soup is refused or printed, never a crash") {
  const char* pieces[] = {"(",    ")",      "[",    "]",        "{",     "}",          ",",  ";",
                          ":",    ".",      "...",  "|",        "->",    "=",          "==", "<",
                          "+",    "-",      "*",    "**",       "//",    "let",        "if", "then",
                          "else", "not",    "and",  "import",   "param", "a",          "f(", "b",
                          "x ->", "1",      "2.5",  "64MB",     "\"s\"", "b\"\\x00\"", "\"", "\n",
                          "\n",   "# c\n",  "\xff", "\xc3\xa9", "| f()", "let a = 1",  "'",  "none",
                          "_",    "{a} ->", "f(a)", "\n| g(b)"};
  const uint32_t first = std::random_device()();
  for (uint32_t seed = first; seed != first + 20000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string text;
    for (size_t i = random() % 12; i > 0; --i) {
      text += std::string(pieces[random() % std::size(pieces)]) + (random() % 2 ? " " : "");
    }
    CAPTURE(text);
    bool parsed = false;
    try {
      parse_program(source_of(text));
      parsed = true;
    } catch (const PipeError& error) {
      REQUIRE(!error.diagnostics().empty());
    }
    if (parsed) check_round_trip(text);
  }
}

// A comment wherever white space stands: all stay, in an order that stays.
TEST_CASE("comments anywhere") {
  const std::string text =
      "let f = ( a , b = 1 ) -> let ( c , d ) = { a : b , **e } ; if a then b else c\n"
      "f ( x [ 1 : 2 , ... ] , y = ( z | g ( 1 ) ) ) + [ 1 , 2 ]\n| h ( { a , **r } -> - a )";
  const uint32_t first = std::random_device()();
  for (uint32_t seed = first; seed != first + 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string spread;
    int comments = 0;
    int brackets = 0;
    for (const char c : text) {
      if (c == '(' || c == '[' || c == '{') ++brackets;
      if (c == ')' || c == ']' || c == '}') --brackets;
      const bool here = (c == '\n' || (c == ' ' && brackets > 0)) && random() % 8 == 0;
      if (here) spread += (random() % 2 ? "\n#c" : " #c") + std::to_string(comments++) + "\n";
      spread += c;
    }
    check_round_trip(spread);
    const std::string printed = formatted(spread);
    for (int i = 0; i < comments; ++i) {
      REQUIRE(printed.find("#c" + std::to_string(i)) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace penstock
