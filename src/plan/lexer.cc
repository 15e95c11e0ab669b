#include "plan/lexer.h"

#include <algorithm>
#include <array>

#include "plan/habits.h"
#include "plan/literal.h"
#include "plan/utf8.h"

namespace penstock {
namespace {

constexpr std::array<std::string_view, 14> reserved = {"let",  "param", "if",  "then", "else",
                                                       "and",  "or",    "not", "true", "false",
                                                       "none", "auto",  "inf", "nan"};

// Longer ones first.
constexpr std::array<std::string_view, 27> marks = {
    "...", "->", "==", "!=", "<=", ">=", "**", "//", "(", ")", "[", "]", "{", "}",
    ",",   ";",  ":",  ".",  "|",  "=",  "<",  ">",  "+", "-", "*", "/", "%"};
constexpr size_t most_errors = 10;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_begin(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text) {}

  Tokens run() {
    if (text_.starts_with("\xef\xbb\xbf")) i_ = 3;
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")) {
      fail(0, 2, "the text is UTF-16; save it as UTF-8");
      i_ = text_.size();
    }
    while (skip_space()) token();
    push(Token::Kind::end, text_.size());
    match_brackets();
    return std::move(out_);
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  // White space and comments; false at the end of the text.
  bool skip_space() {
    for (; i_ < text_.size(); ++i_) {
      if (text_[i_] == '#') comment();
      if (i_ == text_.size()) break;
      if (text_[i_] == '\n') newline_ = true;
      if (!is_space(text_[i_])) return true;
    }
    return false;
  }

  // Stops at the end of the line.
  void comment() {
    const size_t begin = i_;
    i_ = std::min(text_.find('\n', begin), text_.size());
    size_t end = i_;
    while (is_space(text_[end - 1])) --end;
    const bool own_line = newline_ || out_.all.empty();
    out_.comments.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), own_line});
  }

  Token& push(Token::Kind kind, size_t end) {
    Token token;
    token.kind = kind;
    token.newline_before = newline_ || out_.all.empty();
    token.begin = static_cast<uint32_t>(i_);
    token.end = static_cast<uint32_t>(end);
    newline_ = false;
    i_ = end;
    return out_.all.emplace_back(token);
  }

  void fail(size_t begin, size_t end, std::string message) {
    if (out_.errors.size() >= most_errors) return;
    const Span span{&source_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
    out_.errors.push_back({span, std::move(message), Code::invalid_argument});
  }

  uint32_t keep(std::string value) {
    out_.values.push_back(std::move(value));
    return static_cast<uint32_t>(out_.values.size() - 1);
  }

  void token() {
    const char c = text_[i_];
    if (c == '"' || (c == 'b' && at(i_ + 1) == '"')) return string();
    if (is_digit(c)) return number();
    if (is_name_begin(c)) {
      size_t end = i_ + 1;
      while (is_name_begin(at(end)) || is_digit(at(end))) ++end;
      push(Token::Kind::name, end);
      return;
    }
    if (c == '.' && is_digit(at(i_ + 1))) return number_without_zero();
    for (const std::string_view mark : marks) {
      if (text_.substr(i_).starts_with(mark)) {
        push(Token::Kind::mark, i_ + mark.size());
        return;
      }
    }
    stray();
  }

  void string() {
    const size_t begin = i_;
    StringLiteral literal = read_string(text_.substr(i_));
    if (!literal.error.empty()) {
      fail(begin + literal.error_begin, begin + literal.error_end, literal.error);
    }
    const auto kind = literal.bytes ? Token::Kind::bytes : Token::Kind::text;
    push(kind, begin + literal.length).value = keep(std::move(literal.value));
  }

  void number() {
    const size_t begin = i_;
    const NumberLiteral literal = read_number(text_.substr(i_));
    if (!literal.error.empty()) fail(begin, begin + literal.length, literal.error);
    const auto kind = literal.kind == NumberLiteral::Kind::integer    ? Token::Kind::integer
                      : literal.kind == NumberLiteral::Kind::floating ? Token::Kind::floating
                                                                      : Token::Kind::quantity;
    Token& token = push(kind, begin + literal.length);
    token.integer = literal.integer;
    token.number = literal.number;
    if (kind == Token::Kind::quantity) token.value = keep(std::string(literal.unit_class));
  }

  void number_without_zero() {
    size_t end = i_ + 1;
    while (is_digit(at(end))) ++end;
    const std::string digits(text_.substr(i_, end - i_));
    const bool after_value = !out_.all.empty() && out_.all.back().end == i_;
    fail(i_, end,
         after_value ? "`" + digits + "` cannot follow here; a tuple is indexed with [" +
                           digits.substr(1) + "]"
                     : "a number needs a digit before its point: 0" + digits);
    push(Token::Kind::error, end);
  }

  bool is_no_text(size_t at) const {
    const auto byte = static_cast<unsigned char>(text_[at]);
    return (byte < 0x20 && byte != '\n') || byte == 0x7f || utf8_length_at(text_, at) == 0;
  }

  void stray() {
    const size_t begin = i_;
    size_t end = i_ + std::max<size_t>(utf8_length_at(text_, i_), 1);
    const std::string shown(text_.substr(begin, end - begin));
    const auto byte = static_cast<unsigned char>(text_[begin]);
    if (byte == '\'') return single_quoted();
    if (byte == '&') {
      if (at(end) == '&') ++end;
      fail(begin, end,
           "unexpected `" + std::string(text_.substr(begin, end - begin)) + "`; write `and`");
    } else if (const std::string message = foreign_character(shown); !message.empty()) {
      fail(begin, end, message);
    } else if (byte == '!') {
      fail(begin, end, "unexpected `!`; write `not`");
    } else if (is_no_text(begin)) {
      while (end < text_.size() && is_no_text(end)) ++end;  // many: one mistake
      fail(begin, end, "unexpected byte " + std::to_string(byte));
    } else {
      fail(begin, end, "unexpected character `" + shown + "`");
    }
    push(Token::Kind::error, end);
  }

  // 'text': up to the other quote if it stands on the line, so that what follows is read.
  void single_quoted() {
    const size_t line_end = std::min(text_.find('\n', i_), text_.size());
    const size_t close = std::min(text_.find('\'', i_ + 1), line_end);
    constexpr size_t longest = 40;
    const std::string inner(text_.substr(i_ + 1, close - i_ - 1));
    const bool closed = close < line_end;
    const bool shown = closed && inner.size() <= longest && inner.find('"') == std::string::npos;
    fail(i_, closed ? close + 1 : i_ + 1,
         "strings are written with double quotes" + (shown ? ": \"" + inner + "\"" : ""));
    push(Token::Kind::error, closed ? close + 1 : line_end);
  }

  void match_brackets() {
    std::vector<size_t> open;
    for (size_t i = 0; i < out_.all.size(); ++i) {
      const Token& token = out_.all[i];
      if (token.kind != Token::Kind::mark) continue;
      const char c = text_[token.begin];
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      if (open.empty() || (c != ')' && c != ']' && c != '}')) continue;
      const char opened = text_[out_.all[open.back()].begin];
      if (c != (opened == '(' ? ')' : opened == '[' ? ']' : '}')) continue;
      out_.all[open.back()].match = static_cast<int32_t>(i);
      open.pop_back();
    }
  }

  const Source& source_;
  std::string_view text_;
  size_t i_ = 0;
  bool newline_ = false;
  Tokens out_;
};

}  // namespace

Tokens tokenize(const Source& source) { return Lexer(source).run(); }

bool is_name(std::string_view text) {
  if (text.empty() || !is_name_begin(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_name_begin(c) || is_digit(c); });
}

bool is_reserved(std::string_view name) {
  return std::find(reserved.begin(), reserved.end(), name) != reserved.end();
}

}  // namespace penstock
