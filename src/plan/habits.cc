#include "plan/habits.h"

#include <algorithm>
#include <array>

namespace penstock {
namespace {

// Classes of tokens in the table below; any other word stands for itself.
constexpr std::string_view kAny = "ANY";
constexpr std::string_view kName = "NAME";    // words of the language left out
constexpr std::string_view kText = "TEXT";    // a string
constexpr std::string_view kValue = "VALUE";  // the last token of an expression
constexpr std::string_view kOpen = "OPEN";    // an opening bracket or a comma

enum class Gap : uint8_t { any, none };  // none: no space between the two

// Two neighbouring tokens, each a class or one of several words. The first row that fits counts.
struct Pair {
  std::string_view first;
  Gap gap;
  std::string_view second;
  std::string_view message;
};

constexpr std::string_view kFunction =
    "a function is written with `->`: x -> x + 1, (a, b) -> a + b";
constexpr std::string_view kNamed = "a function is a value that gets a name: let f = x -> x + 1";
constexpr std::string_view kLet = "a name is given with `let`: let name = value";
constexpr std::string_view kNoChange =
    "values do not change; give the new one a name: let y = x + 1";
constexpr std::string_view kComment = "a comment begins with `#`";
constexpr std::string_view kLoop =
    "there are no loops: map works on each element, map_fn, scan and while_loop on the items of a "
    "tensor";
constexpr std::string_view kConditional = "write `if c then a else b`: the condition comes first";
constexpr std::string_view kElseIf = "write `else if c then b else d`";
constexpr std::string_view kMember = "membership is any(x == [1, 2, 3])";
constexpr std::string_view kEqual = "equality is written `==`";

constexpr std::array kPairs = std::to_array<Pair>({
    {"=", Gap::none, ">", kFunction},
    {"lambda", Gap::any, kName, kFunction},
    {"lambda", Gap::any, ":", kFunction},
    {"def function func fun fn", Gap::any, kName, kNamed},
    {"return", Gap::any, kAny,
     "there is no `return`: a function gives the value of the expression after `->`"},
    {"==", Gap::none, "=", kEqual},
    {"!=", Gap::none, "=", "inequality is written `!=`"},
    {"<", Gap::none, ">", "inequality is written `!=`"},
    {"+", Gap::none, "+", kNoChange},
    {"+ - * / // % **", Gap::none, "=", kNoChange},
    {":", Gap::none, "=", kLet},
    {"var const val mut int float double", Gap::any, kName, kLet},
    {"from", Gap::any, kName, "definitions come from files: import \"boxes.pipe\""},
    {"|", Gap::none, "|", "unexpected `||`; write `or`"},
    {"|", Gap::none, ">", "a stage follows `|` alone: | batch(32)"},
    {"/", Gap::none, "*", kComment},
    {"f F", Gap::none, kText,
     "there are no f-strings; write \"text\" + as_string(x), or format(\"{} of {}\", a, b)"},
    {"r R u U rb", Gap::none, kText,
     "strings have no prefix but `b`; a backslash is written `\\\\`"},
    {kText, Gap::none, kText, "there are no triple quotes; `+` joins strings, # begins a comment"},
    {kValue, Gap::any, "elif elsif elseif", kElseIf},
    {"elif elsif elseif", Gap::any, kAny, kElseIf},
    {kValue, Gap::any, "if", kConditional},
    {"for while foreach", Gap::any, kName, kLoop},
    {kValue, Gap::any, "for while", kLoop},
    {kValue, Gap::any, "in not", kMember},
    {kValue, Gap::any, "is", kEqual},
    {";", Gap::any, "|", "`;` ended the pipeline before; leave it out"},
    {kOpen, Gap::any, "*", "`*` does not spread; a function takes a tuple apart: (a, b) -> a + b"},
});
// These inside brackets only: outside, the parser knows better.
constexpr std::array kBracketPairs = std::to_array<Pair>({
    {kValue, Gap::any, "=", "equality is written `==`; arguments are named name=value"},
    {kValue, Gap::any, ";",
     "`;` stands after a statement, and inside an expression in `let name = value; result`"},
});
// Stages whose argument is a function, for `map(x x + 1)`.
constexpr std::string_view kTakeFunctions =
    "map filter flat_map interleave take_while map_fn group_by_window unique apply";

struct Replacement {
  std::string_view from;  // alternatives, separated by spaces
  std::string_view to;
};

constexpr std::array kCharacters = std::to_array<Replacement>({
    {"?", "there is no `?`; write `if c then a else b`"},
    {"~", "there is no `~`; write `not`, or bitwise_invert(x)"},
    {"^", "there is no `^`; write `**` for powers, or bitwise_xor(a, b)"},
    {"@", "there is no `@`; write matmul(a, b)"},
    {"$", "there is no `$`; a param goes by its name alone"},
    {"`", "there are no backquotes; strings are written with double quotes"},
    {"\\", "there is no `\\` at the end of a line; a line goes on inside brackets, after an "
           "operator, and where the next one begins with `|`"},
    {"\u2192 \u21d2", "write `->`"},
    {"\u2264", "write `<=`"},
    {"\u2265", "write `>=`"},
    {"\u2260", "write `!=`"},
    {"\u00d7 \u22c5", "write `*`"},
    {"\u00f7", "write `/` or `//`"},
    {"\u2212 \u2013 \u2014", "this is no minus sign; write `-`"},
    {"\u2026", "write three points: `...`"},
    {"\u201c \u201d \u201e \u00ab \u00bb", "strings are written with straight double quotes: \""},
    {"\u2018 \u2019", "strings are written with straight double quotes: \""},
    {"\u00a0 \u2003 \u3000", "this space is no plain one (U+0020); write one that is"},
    {"\u200b \u2060 \ufeff", "an invisible character stands here; delete it"},
});

constexpr std::array kWords = std::to_array<Replacement>({
    {"True TRUE", "true"},
    {"False FALSE", "false"},
    {"None null nil NULL nullptr undefined NIL", "none"},
    {"NaN NAN Nan", "nan"},
    {"Infinity Inf INFINITY infinity", "inf"},
    {"AUTOTUNE AUTO", "auto"},
    {"int long", "int64"},
    {"float", "float32"},
    {"double", "float64"},
    {"half", "float16"},
    {"byte", "uint8"},
    {"str char", "bytes"},
    {"pi PI", "3.141592653589793"},
});

constexpr std::array kCalls = std::to_array<Replacement>({
    {"len length count numel", "size(x), or string_length(s) for the bytes of a string"},
    {"str repr toString to_string string_of", "as_string(x)"},
    {"int long astype_int", "int64(x)"},
    {"float", "float32(x)"},
    {"double", "float64(x)"},
    {"bytes_of ord", "decode_raw(s, uint8)"},
    {"parseInt atoi stoi", "to_number(s, dtype=int64)"},
    {"parseFloat atof stof", "to_number(s)"},
    {"astype as_type", "a dtype as a call: float32(x)"},
    {"array constant tensor convert_to_tensor as_tensor", "a literal: [1, 2, 3]"},
    {"print printf println echo console log_info", "nothing: `penstock show` prints elements"},
    {"sprintf f_string", "format(\"{} of {}\", a, b)"},
    {"pow", "a ** b"},
    {"mod fmod", "a % b"},
    {"tolower toLowerCase lowercase casefold", "lower(s)"},
    {"toupper toUpperCase uppercase", "upper(s)"},
    {"trim", "strip(s)"},
    {"substring", "substr(s, begin, length)"},
    {"replace gsub", "regex_replace(s, pattern, rewrite)"},
    {"contains includes startswith endswith startsWith endsWith",
     "regex_partial_match(s, \"^begin\"), regex_partial_match(s, \"end$\")"},
    {"concat_strings", "a + b"},
    {"unsqueeze", "expand_dims(x, axis)"},
    {"permute", "transpose(x, perm)"},
    {"view flatten ravel", "reshape(x, [-1])"},
    {"sorted", "sort(x)"},
    {"fold foldl foldr accumulate", "reduce(init, (s, x) -> s + x)"},
    {"select each forEach foreach", "map(x -> x)"},
    {"flatMap flatmap SelectMany", "flat_map(x -> range(x))"},
    {"limit head first", "take(n)"},
    {"drop offset tail", "skip(n)"},
    {"chunk chunks", "batch(n)"},
    {"open fopen imread", "read_file(name)"},
    {"loads json_loads", "parse_json(s, {key: int64})"},
    {"TFRecordDataset", "tfrecord(files)"},
    {"TextLineDataset", "text_line(files)"},
    {"FixedLengthRecordDataset", "fixed_length_record(files, record_bytes)"},
    {"CsvDataset make_csv_dataset read_csv", "csv(files, columns)"},
    {"parse_single_example", "parse_example(record, {key: int64})"},
    {"FixedLenFeature", "feature(dtype, shape=[])"},
    {"VarLenFeature", "feature(dtype, kind=\"sparse\")"},
    {"RaggedFeature", "feature(dtype, kind=\"ragged\")"},
});

constexpr std::string_view kModules =
    "tf tensorflow np numpy torch jnp jax keras math re os json random torchvision pd pandas F T";

bool is_among(std::string_view word, std::string_view alternatives) {
  for (size_t at = 0; at <= alternatives.size();) {
    const size_t end = std::min(alternatives.find(' ', at), alternatives.size());
    if (alternatives.substr(at, end - at) == word) return !word.empty();
    at = end + 1;
  }
  return false;
}

template <size_t n>
std::string_view replacement(const std::array<Replacement, n>& table, std::string_view word) {
  for (const Replacement& r : table)
    if (is_among(word, r.from)) return r.to;
  return {};
}

class Neighbours {
 public:
  Neighbours(std::string_view text, const std::vector<Token>& tokens)
      : text_(text), tokens_(tokens) {}

  std::string_view word(size_t i) const {
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }

  bool is_name(size_t i) const {
    return tokens_[i].kind == Token::Kind::name && !is_reserved(word(i));
  }

  bool fits(size_t i, std::string_view expected) const {
    const Token::Kind kind = tokens_[i].kind;
    const bool text = kind == Token::Kind::text || kind == Token::Kind::bytes;
    if (kind == Token::Kind::end || kind == Token::Kind::error) return false;
    if (expected == kAny) return true;
    if (expected == kName) return is_name(i);
    if (expected == kText) return text;
    if (expected == kOpen) return is_among(word(i), "( [ { ,");
    if (expected != kValue) return !text && is_among(word(i), expected);
    if (kind == Token::Kind::mark) return is_among(word(i), ") ] }");
    const bool constant = is_among(word(i), "true false none auto inf nan");
    return kind != Token::Kind::name || constant || is_name(i);
  }

  bool fits(size_t i, const Pair& pair) const {
    if (i + 1 >= tokens_.size()) return false;
    if (pair.gap == Gap::none && tokens_[i].end != tokens_[i + 1].begin) return false;
    return fits(i, pair.first) && fits(i + 1, pair.second);
  }

  // `//` before token `i` on its line: a comment that was read as a division.
  std::optional<size_t> comment_before(size_t i) const {
    while (i > 0 && !tokens_[i].newline_before)
      if (word(--i) == "//") return i;
    return std::nullopt;
  }

  // map(x x + 1)
  bool lacks_arrow(size_t i) const {
    return i >= 3 && (is_name(i) || tokens_[i].kind == Token::Kind::integer) && is_name(i - 1) &&
           word(i - 2) == "(" && is_among(word(i - 3), kTakeFunctions);
  }

 private:
  std::string_view text_;
  const std::vector<Token>& tokens_;
};

}  // namespace

std::optional<ForeignForm> foreign_form(std::string_view text, const std::vector<Token>& tokens,
                                        size_t found, bool in_brackets) {
  const Neighbours near(text, tokens);
  const auto search = [&](const auto& table) -> std::optional<ForeignForm> {
    for (const Pair& pair : table) {
      for (const size_t first : {found - 1, found}) {
        if (first >= tokens.size() || !near.fits(first, pair)) continue;
        // What may be any token is not underlined.
        const bool begins = pair.first != kAny && pair.first != kValue && pair.first != kOpen;
        const bool ends = pair.second != kAny && (pair.second != kName || !begins);
        return ForeignForm{begins ? first : first + 1, ends || !begins ? first + 1 : first,
                           std::string(pair.message)};
      }
    }
    return std::nullopt;
  };
  if (found >= tokens.size()) return std::nullopt;
  if (near.word(found) == "//") return ForeignForm{found, found, std::string(kComment)};
  if (near.word(found) == "." && tokens[found].newline_before)
    return ForeignForm{found, found, "a stage follows `|`: range(5) | map(x -> x + 1) | batch(2)"};
  if (near.lacks_arrow(found)) return ForeignForm{found - 1, found, std::string(kFunction)};
  if (auto form = search(kPairs)) return form;
  if (in_brackets) {
    if (auto form = search(kBracketPairs)) return form;
  }
  if (const auto comment = near.comment_before(found))
    return ForeignForm{*comment, *comment, std::string(kComment)};
  return std::nullopt;
}

bool follows_slashes(Span span) {
  if (!span.source) return false;
  const std::string_view before = std::string_view(span.source->text).substr(0, span.begin);
  const size_t last = before.find_last_not_of(' ');
  return last != std::string_view::npos && last > 0 && before.substr(last - 1, 2) == "//";
}

std::string foreign_character(std::string_view character) {
  return std::string(replacement(kCharacters, character));
}

std::string_view word_for(std::string_view name) { return replacement(kWords, name); }

std::string_view call_for(std::string_view name) { return replacement(kCalls, name); }

bool is_foreign_module(std::string_view name) { return is_among(name, kModules); }

std::vector<std::string> dotted_names(const Expr& expr) {
  std::vector<std::string> out;
  const Expr* at = &expr;
  for (; at->kind == Expr::Kind::field; at = at->items[0].get()) out.push_back(at->text);
  if (at->kind != Expr::Kind::name) return {};
  out.push_back(at->text);
  std::ranges::reverse(out);
  return out;
}

}  // namespace penstock
