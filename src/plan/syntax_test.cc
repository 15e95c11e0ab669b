#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/source_dir_test.h"
#include "plan/diagnostic.h"
#include "plan/format.h"
#include "plan/parser.h"
#include "plan/round_trip.h"

namespace penstock {
namespace {

using Kind = Expr::Kind;

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
      all += (all.empty() ? "" : "\n") + std::to_string(at.line) + ":" + std::to_string(at.column) +
             ": " + diagnostic.message;
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
      "1",
      "0x1f",
      "1_000",
      "2.5",
      "1e-3",
      "inf",
      "nan",
      "true",
      "false",
      "none",
      "auto",
      "64MB",
      "2GiB",
      "250ms",
      "10s",
      "100MB/s",
      "1Gbit",
      "1.5GiB",
      "3Mbit/s",
      R"("a\n\t\r\\\" é")",
      R"(b"\x00\xff")",
      R"("\x00\xff")",
      "[]",
      "[1, **a, b]",
      "()",
      "(a,)",
      "(a, **b)",
      "(**a,)",
      "{}",
      R"({image: e, "image/label": l, label, **rest, if: 1, let: 2})",
      "f(a, b=c, if=d)",
      "f()(a)",
      "x.name.then",
      R"(x["name"])",
      "x[1:3, ..., ::-1, none, :, i:j]",
      "x -> e",
      "() -> e",
      "(a, b) -> e",
      "((a, b)) -> e",
      "((a,)) -> e",
      "(x, scale=1.0) -> e",
      R"({image, "image/label": label, box: (x0, y0), if: c, **rest} -> e)",
      "{**_} -> e",
      "(s, (a, {b})) -> e",
      "x -> y -> x",
      "let (a, _) = f(x); a",
      "not (a or b)",
      "(a or b) and c",
      "(a == b) == c",
      "(-2) ** 2",
      "(a ** b) ** c",
      "a - (b - c)",
      "(a | f()) + 1",
      "if c then a else (b | f())",
      "(x -> x)(1)",
      "(1)[0]",
      "(let y = 1; y) | f()",
      "if a then b else c | f()",
      "(if a then b else c) + 1",
      "f(import)",
      "f(import -> import)",
      "x -> let y = x; let z = y; z",
  };
  for (const char* text : as_written) {
    CAPTURE(text);
    CHECK(canonical(text) == text);
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
  CHECK(parse_expression(source_of(R"("\u{e9}\x41")"))->text == "\xc3\xa9"
                                                                "A");
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
  const Program p = parse_program(
      source_of("import \"x.pipe\"\nparam a = 1; let b =\n  a +\n  2\nlet f = x ->\n  x\n  | g()\n"
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
      {"f(x => x)", "1:5: a function is written with `->`"},
      {"f(a == = b)", "1:8: expected an expression, found `=`"},
      {"f(a === b)", "1:5: equality is written `==`"},
      {"f(a = b, c = = d)", "1:14: expected an expression, found `=`"},
      {"for x in y", "1:1: there are no loops"},
      {"f('a', 'b)", "1:3: strings are written with double quotes: \"a\""},
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
                            "if a then b else ", "if ", "a ** ", "x[", "{**", "((", "(a, "}) {
    CAPTURE(piece);
    CHECK(refused_with("(" + repeated(piece, 3000) + "a", deep));
  }
  CHECK(refused_with(repeated("(", 201) + "a) -> a", deep));
  CHECK(refused_with("let " + repeated("(", 3000) + "a", deep));
  CHECK(refused_with(repeated("({a: ", 3000) + "a" + repeated("})", 3000) + " -> a", deep));
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
        "# a\n\n# b\nlet x = 1  # c\n# d\nx  # e\n# f\n| f()  #g\n#h\n");
  CHECK(formatted("f(a, # x\n # y\n b\n # z\n)") == "f(\n  a,  # x\n  # y\n  b\n  # z\n)\n");
  CHECK(formatted("(let y = 1; y)") == "(let y = 1; y)\n");
  CHECK(formatted("let f = x -> let y = x; # why\n y\r\n") ==
        "let f = x ->\n  let y = x;  # why\n  y\n");
  check_round_trip("(import)");
  check_round_trip("(import | f())");
}

TEST_CASE("the example programs") {
  const auto folder = std::filesystem::path(source_dir()) / "examples";
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

}  // namespace
}  // namespace penstock
