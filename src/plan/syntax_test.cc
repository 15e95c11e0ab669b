#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "plan/diagnostic.h"
#include "plan/format.h"
#include "plan/parser.h"

namespace penstock {
namespace {

using Kind = Expr::Kind;

SourcePtr source_of(std::string text, std::string name = "t.pipe") {
  return std::make_shared<const Source>(Source{std::move(name), std::move(text)});
}

// Printed on one line, which shows the parentheses that the tree needs.
std::string canonical(const std::string& text) {
  return format_expression(*parse_expression(source_of(text)), 1000);
}

std::string join(const std::vector<ExprPtr>& items);

// Every operator in parentheses.
std::string shape_of(const Expr& e) {
  switch (e.kind) {
    case Kind::pipe: return "(" + shape_of(*e.items[0]) + " | " + shape_of(*e.items[1]) + ")";
    case Kind::unary: return "(" + e.text + " " + shape_of(*e.items[0]) + ")";
    case Kind::binary:
      return "(" + shape_of(*e.items[0]) + " " + e.text + " " + shape_of(*e.items[1]) + ")";
    case Kind::conditional: return "if" + join(e.items);
    case Kind::lambda: return "fn" + join(e.items);
    case Kind::let: return "let" + join(e.items);
    case Kind::field: return shape_of(*e.items[0]) + "." + e.text;
    case Kind::subscript: return shape_of(*e.items[0]) + "[]";
    case Kind::call: {
      std::vector<ExprPtr> values;
      for (const Entry& entry : e.entries) values.push_back(entry.value);
      return shape_of(*e.operand) + join(values);
    }
    default: return format_expression(e);
  }
}

std::string join(const std::vector<ExprPtr>& items) {
  std::string out = "(";
  for (const ExprPtr& item : items) out += (out.size() > 1 ? ", " : "") + shape_of(*item);
  return out + ")";
}

std::string shape(const std::string& text) { return shape_of(*parse_expression(source_of(text))); }

std::string errors_of(const std::string& text) {
  const SourcePtr source = source_of(text);
  try {
    parse_program(source);
  } catch (const PipeError& error) {
    std::string all;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      const Position at = position_of(*source, diagnostic.span.begin);
      all += (all.empty() ? "" : "\n") + std::to_string(at.line) + ":" +
             std::to_string(at.column) + ": " + diagnostic.message;
    }
    return all;
  }
  return "";
}

bool refused_with(const std::string& text, const std::string& error) {
  const std::string all = errors_of(text);
  if (all.find(error) != std::string::npos) return true;
  MESSAGE("got: ", all);
  return false;
}

std::string formatted(const std::string& text) {
  return format_program(parse_program(source_of(text)));
}

void check_same(const Program& a, const Program& b) {
  REQUIRE(a.statements.size() == b.statements.size());
  for (size_t i = 0; i < a.statements.size(); ++i) {
    const Statement& x = a.statements[i];
    const Statement& y = b.statements[i];
    CHECK(x.kind == y.kind);
    CHECK(x.path == y.path);
    REQUIRE(!x.value == !y.value);
    if (x.value) CHECK(same_tree(*x.value, *y.value));
  }
  REQUIRE(!a.result == !b.result);
  if (a.result) CHECK(same_tree(*a.result, *b.result));
}

void check_round_trip(const std::string& text) {
  CAPTURE(text);
  const Program program = parse_program(source_of(text));
  const std::string once = format_program(program);
  CAPTURE(once);
  const Program again = parse_program(source_of(once));
  check_same(program, again);
  CHECK(format_program(again) == once);
}

TEST_CASE("precedence, loosest to tightest") {
  const std::pair<const char*, const char*> table[] = {
      {"a or b and c", "(a or (b and c))"},
      {"not a and b", "((not a) and b)"},
      {"not a == b", "(not (a == b))"},
      {"not not a", "(not (not a))"},
      {"a and not b or c", "((a and (not b)) or c)"},
      {"a < b + c * d", "(a < (b + (c * d)))"},
      {"a - b - c", "((a - b) - c)"},
      {"a / b // c % d * e", "((((a / b) // c) % d) * e)"},
      {"-a * b", "((- a) * b)"},
      {"a * -b", "(a * (- b))"},
      {"-2 ** 2", "(- (2 ** 2))"},
      {"2 ** -1", "(2 ** (- 1))"},
      {"2 ** -x ** y", "(2 ** (- (x ** y)))"},
      {"a ** b ** c", "(a ** (b ** c))"},
      {"-x.y[0](z) ** 2", "(- (x.y[](z) ** 2))"},
      {"a + b | f() | g(c or d)", "(((a + b) | f()) | g((c or d)))"},
      {"f -> t(f) | take(3)", "fn((t(f) | take(3)))"},
      {"let y = a | f(); y | g()", "let((a | f()), (y | g()))"},
      {"if c then a | f() else b | g()", "(if(c, (a | f()), b) | g())"},
      {"if c then a else x -> b | g()", "(if(c, a, fn(b)) | g())"},
      {"if c then a else let y = b; y | g()", "(if(c, a, let(b, y)) | g())"},
      {"if c then a else if d then e | f() else h | g()", "(if(c, a, if(d, (e | f()), h)) | g())"},
      {"x -> if c then a else b | g()", "fn((if(c, a, b) | g()))"},
      {"if c then a else b + 1 or d", "if(c, a, ((b + 1) or d))"},
      {"if c then x -> a else b", "if(c, fn(a), b)"},
      {"(a, x -> y)[0]", "(a, x -> y)[]"},
  };
  for (const auto& [text, expected] : table) {
    CAPTURE(text);
    CHECK(shape(text) == expected);
  }
}

TEST_CASE("every form prints back, without parentheses it does not need") {
  const char* as_written[] = {
      "1", "0x1f", "1_000", "2.5", "1e-3", "inf", "nan", "true", "false", "none", "auto",
      "64MB", "2GiB", "250ms", "10s", "100MB/s", "1Gbit", "1.5GiB", "3Mbit/s",
      R"("a\n\t\r\\\" é")", R"(b"\x00\xff")", R"("\x00\xff")",
      "[]", "[1, **a, b]", "()", "(a,)", "(a, **b)", "(**a,)", "{}",
      R"({image: e, "image/label": l, label, **rest, if: 1, let: let})",
      "f(a, b=c, if=d)", "f()(a)", "x.name.then", R"(x["name"])", "x[1:3, ..., ::-1, none, :, i:j]",
      "x -> e", "() -> e", "(a, b) -> e", "((a, b)) -> e", "((a,)) -> e", "(x, scale=1.0) -> e",
      R"({image, "image/label": label, box: (x0, y0), if: c, **rest} -> e)", "{**_} -> e",
      "(s, (a, {b})) -> e", "x -> y -> x", "let (a, _) = f(x); a", "not (a or b)", "(a or b) and c",
      "(a == b) == c", "(-2) ** 2", "(a ** b) ** c", "a - (b - c)", "(a | f()) + 1",
      "if c then a else (b | f())", "(x -> x)(1)", "(1)[0]", "(let y = 1; y) | f()",
      "if a then b else c | f()", "(if a then b else c) + 1", "import -> import", "f(import)",
      "x -> let y = x; let z = y; z",
  };
  for (const char* text : as_written) {
    std::string expected = text;
    if (expected.find("let: let") != std::string::npos) {
      CHECK(refused_with(expected, "stands only where an expression begins") == false);
      continue;
    }
    CAPTURE(text);
    CHECK(canonical(text) == expected);
    check_round_trip(text);
  }
  CHECK(canonical("{label: label, if: x}") == "{label, if: x}");
  CHECK(canonical("((a)) -> (e)") == "a -> e");
  CHECK(canonical("{a: a} -> [1,]") == "{a} -> [1]");
  CHECK(canonical("((a + b)) * (c)") == "(a + b) * c");
}

TEST_CASE("values of literals") {
  auto number = [](const char* text) { return parse_expression(source_of(text))->float_value; };
  CHECK(parse_expression(source_of("0xff_ff"))->integer_value == 0xffff);
  CHECK(parse_expression(source_of("18446744073709551615"))->integer_value == UINT64_MAX);
  CHECK(number("2GiB") == 2147483648.0);
  CHECK(number("250ms") == doctest::Approx(0.25));
  CHECK(number("1Gbit") == 125e6);
  CHECK(number("100MB/s") == 1e8);
  CHECK(number("1e-400") == 0);
  CHECK(shape("4MB/size") == "(4MB / size)");
  const ExprPtr rate = parse_expression(source_of("100MB/s"));
  CHECK(rate->kind == Kind::quantity);
  CHECK(rate->text == "bytes/s");
  CHECK(parse_expression(source_of(R"("\u{e9}\x41")"))->text == "\xc3\xa9" "A");
  CHECK(format_float(0.1) == "0.1");
  CHECK(format_float(0.1f) == "0.1");
  CHECK(format_float(3.0) == "3.0");
  CHECK(format_float(1e300) == "1e+300");
  CHECK(format_float(-HUGE_VAL) == "-inf");
  CHECK(format_string_literal("a\"b\n") == R"("a\"b\n")");
  CHECK(format_string_literal(std::string_view("\0\xff", 2)) == R"(b"\x00\xff")");
}

TEST_CASE("statements end with their line unless something is open") {
  CHECK(shape("(a\n+ b\n(c))") == "(a + b(c))");
  const Program p = parse_program(source_of(
      "import \"x.pipe\"\nparam a = 1; let b =\n  a +\n  2\nlet f = x ->\n  x\n  | g()\n"
      "let c = if b\n  then 1\n  else 2\n\n-a\n| h(b,\n  c)\n"));
  CHECK(p.statements.size() == 5);
  CHECK(shape_of(*p.statements[2].value) == "(a + 2)");
  CHECK(shape_of(*p.statements[3].value) == "fn((x | g()))");
  CHECK(shape_of(*p.result) == "((- a) | h(b, c))");
  CHECK(parse_program(source_of("")).result == nullptr);
  CHECK(formatted("let a = 1;;let b = 2") == "let a = 1\nlet b = 2\n");
}

TEST_CASE("errors say what and where") {
  const std::pair<const char*, const char*> table[] = {
      {"f(a,\n  b", "2:4: expected `)` to close `(` at 1:2, found the end of the text"},
      {"a | f(b\n| g(", "to close `(` at 2:4"},
      {"f(a b)", "1:5: expected `,` or `)` to close `(` at 1:2, found `b`"},
      {"f([1, 2)", "1:8: expected `,` or `]` to close `[` at 1:3, found `)`"},
      {"\"abc", "1:1: the string has no closing"},
      {R"(f("a\qb"))", "1:5: unknown escape"},
      {R"("\u{d800}")", "no character of Unicode"},
      {"'a'", "1:1: strings are written with double quotes"},
      {"x & y", "1:3: unexpected `&`; write `and`"},
      {"1XB", "1:1: unknown unit `XB`"},
      {"2.", "digits after its point"},
      {".5", "0.5"},
      {"18446744073709551616", "more than 64 bits"},
      {"1e999", "larger than any float64"},
      {"a < b < c", "1:7: comparisons do not chain"},
      {"a == not b", "1:6: `not` binds looser"},
      {"1 + if a then b else c", "1:5: `if` stands only where an expression begins"},
      {"1 + x -> x", "1:7: `->` needs its parameters before it"},
      {"if a then b", "expected `else`"},
      {"if a else b", "expected `then`"},
      {"let f = x ->\n  let a = g(x)\n  a + 1", "2:15: expected `;` behind the value of `a`"},
      {"f(x -> let a = 1 a)", "1:18: expected `;` behind the value of `a`"},
      {"let then = 1", "1:5: `then` is a word of the language and cannot be a name"},
      {"a | then(b)", "1:5: expected a stage behind `|`"},
      {"a | f", "1:5: a stage is a call: | f()"},
      {"a | f().x", "1:5: a stage is a call; put what stands before"},
      {"a | f() + 1", "1:9: a stage ends before `+`"},
      {"{true}", "1:2: `true` is a word of the language: write `true: value`"},
      {"{a = 1}", "1:4: entries of a dict are written with `:`"},
      {"f(a: 1)", "1:4: arguments are named with `=`: a=value"},
      {"{**r, a} -> a", "1:7: `**r` ends a pattern"},
      {"((a, b)=1) -> a", "only a single name has a default"},
      {"x[]", "1:2: expected an index or a slice"},
      {"x = 3", "1:3: a name is given with `let`"},
      {"import x", "1:8: expected a file name in quotes"},
      {"a\nb", "2:1: the result stands at 1:1 already"},
      {"a\nlet b = 1", "2:1: `let` stands behind the result"},
      {"f(\xc3\xa9)", "1:3: unexpected character `\xc3\xa9`"},
      {"\"\xc3\xa9\" \"b\"", "1:5: expected the end of the line"},
  };
  for (const auto& [text, expected] : table) {
    CAPTURE(text);
    CHECK(refused_with(text, expected));
  }
}

TEST_CASE("several errors in one go, ten at most") {
  CHECK(errors_of("let a = )\nparam 3 = 1\nd\n| map(x -> )\n| batch(,)\n| ok()") ==
        "1:9: expected an expression, found `)`\n2:7: expected a name, found `3`\n"
        "4:12: expected an expression, found `)`\n5:9: expected an expression, found `,`");
  std::string many;
  for (int i = 0; i < 30; ++i) many += "let a = )\n";
  try {
    parse_program(source_of(many));
    CHECK(false);
  } catch (const PipeError& error) {
    CHECK(error.diagnostics().size() == 10);
  }
}

TEST_CASE("a diagnostic shows its line") {
  auto shown = [](const SourcePtr& source, uint32_t begin, uint32_t end) {
    return render({{source.get(), begin, end}, "wrong", Code::invalid_argument});
  };
  CHECK(shown(source_of("a\nb\xc3\xa9 cd\n"), 6, 8) == "t.pipe:2:4: wrong\nb\xc3\xa9 cd\n   ^^");
  CHECK(shown(source_of("a"), 1, 1) == "t.pipe:1:2: wrong\na\n ^");
  CHECK(shown(source_of(""), 0, 0) == "t.pipe:1:1: wrong\n\n^");
  CHECK(shown(source_of("a(\nb"), 1, 4) == "t.pipe:1:2: wrong\na(\n ^");
  const std::string cut = shown(source_of(std::string(300, 'x')), 150, 400);
  std::istringstream lines(cut);
  std::string line;
  while (std::getline(lines, line)) CHECK(line.size() <= 100);
  CHECK(cut.find("...x") != std::string::npos);
  CHECK(render({{}, "alone", Code::internal}) == "alone");
}

TEST_CASE("limits") {
  auto repeated = [](const std::string& piece, size_t n) {
    std::string all;
    for (size_t i = 0; i < n; ++i) all += piece;
    return all;
  };
  check_round_trip(repeated("(", 200) + "a" + repeated(")", 200));
  const std::string deep = "nesting is deeper than 200";
  for (const char* piece : {"(", "[", "{a: ", "f(", "-", "not ", "x -> ", "let a = ", "let a = 1; ",
                            "if a then b else ", "if ", "a ** ", "x[", "{**", "((", "let (", "(a, "}) {
    CAPTURE(piece);
    CHECK(refused_with("(" + repeated(piece, 3000) + "a", deep));
  }
  CHECK(refused_with(repeated("(", 201) + "a) -> a", deep));
  CHECK(refused_with("a" + std::string(1 << 20, ' '), "larger than 1 MiB"));
  for (const char* piece : {"|b()", "+b", "(b)", ".b", "[b]", " or b"}) {
    CAPTURE(piece);
    const std::string most = "a" + repeated(piece, 10000);
    check_round_trip(most);
    CHECK(refused_with(most + repeated(piece, 90000), "more than 10000"));
    CHECK(refused_with("(" + most + ")" + piece, "more than 10000"));
  }
}

TEST_CASE("layout and comments") {
  CHECK(formatted("d|f(1)|g()") == "d\n| f(1)\n| g()\n");
  CHECK(formatted("# a\n\n\n# b\nlet x = 1 # c\n# d\nx # e\n# f\n|f()#g\n#h") ==
        "# a\n\n# b\nlet x = 1  # c\n# d\nx  # e\n# f\n| f()  # g\n# h\n");
  CHECK(formatted("f(a, # x\n # y\n b\n # z\n)") == "f(\n  a,  # x\n  # y\n  b\n  # z\n)\n");
  CHECK(formatted("(let y = 1; y)") == "(let y = 1; y)\n");
  CHECK(formatted("let f = x -> let y = x; # why\n y\r\n") ==
        "let f = x ->\n  let y = x;  # why\n  y\n");
  check_round_trip("(import)");
  check_round_trip("(import | f())");
}

TEST_CASE("the example programs") {
  const auto folder = std::filesystem::path(PENSTOCK_SOURCE_DIR) / "tests" / "examples";
  size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".pipe") continue;
    std::ifstream in(file.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    check_round_trip(text.str());
    ++count;
  }
  CHECK(count >= 22);
}

// Random trees, as far as programs may build them.
class TreeMaker {
 public:
  explicit TreeMaker(uint32_t seed) : random_(seed) {}

  ExprPtr expr(int depth) {
    auto e = std::make_shared<Expr>();
    if (depth == 0 || pick(6) == 0) return leaf(*e), e;
    const Kind kinds[] = {Kind::list, Kind::tuple, Kind::dict, Kind::call, Kind::pipe,
                          Kind::field, Kind::subscript, Kind::unary, Kind::binary, Kind::binary,
                          Kind::conditional, Kind::lambda, Kind::let};
    e->kind = kinds[pick(13)];
    fill(*e, depth - 1);
    return e;
  }

 private:
  size_t pick(size_t n) { return random_() % n; }
  std::string name() { return std::string(1, static_cast<char>('a' + pick(4))); }

  void leaf(Expr& e) {
    const Kind kinds[] = {Kind::integer, Kind::floating, Kind::text, Kind::bytes, Kind::boolean,
                          Kind::none, Kind::automatic, Kind::name, Kind::name, Kind::quantity};
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
      case Kind::field: e.text = pick(2) ? name() : "if"; items = 1; break;
      case Kind::subscript: items = 1; subscripts(e, depth); break;
      case Kind::unary: e.text = pick(2) ? "-" : "not"; items = 1; break;
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
      default: e.patterns.push_back(pattern(2, false)); items = 2; break;
    }
    for (size_t i = 0; i < items; ++i) e.items.push_back(expr(depth));
  }

  void arguments(Expr& call, int depth) {
    for (size_t i = pick(3); i > 0; --i) {
      const bool keyed = pick(2);
      call.entries.push_back({keyed ? Entry::Kind::keyed : Entry::Kind::plain, {},
                              keyed ? name() : "", expr(depth)});
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
  const char* pieces[] = {"(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "...", "|", "->", "=",
                          "==", "<", "+", "-", "*", "**", "//", "let", "if", "then", "else", "not",
                          "and", "import", "param", "a", "f(", "b", "x ->", "1", "2.5", "64MB",
                          "\"s\"", "b\"\\x00\"", "\"", "\n", "\n", "# c\n", "\xff", "\xc3\xa9",
                          "| f()", "let a = 1", "'", "none", "_", "{a} ->", "f(a)", "\n| g(b)"};
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
      if (here) spread += random() % 2 ? "\n#c" : " #c", spread += std::to_string(comments++) + "\n";
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
