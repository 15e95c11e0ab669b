// What stands in brackets, and patterns.
#include "plan/parser_state.h"

namespace penstock {
ExprPtr Parser::parenthesised() {
  const Token& open = take();
  std::vector<Entry> entries;
  const bool comma = comma_list(open, ")", [&] { entries.push_back(element()); });
  if (entries.size() == 1 && !comma) {
    if (entries[0].kind == Entry::Kind::plain) return entries[0].value;
    report(entries[0].span, "a tuple of one needs a comma: (**rest,)");
    throw Abandon{};
  }
  auto expr = new_node(Expr::Kind::tuple, span_from(open.begin));
  expr->entries = std::move(entries);
  chain_ = 0;
  return expr;
}

ExprPtr Parser::list() {
  const Token& open = take();
  std::vector<Entry> entries;
  comma_list(open, "]", [&] { entries.push_back(element()); });
  auto expr = new_node(Expr::Kind::list, span_from(open.begin));
  expr->entries = std::move(entries);
  chain_ = 0;
  return expr;
}

ExprPtr Parser::dict() {
  const Token& open = take();
  std::vector<Entry> entries;
  comma_list(open, "}", [&] { entries.push_back(dict_entry()); });
  auto expr = new_node(Expr::Kind::dict, span_from(open.begin));
  expr->entries = std::move(entries);
  chain_ = 0;
  return expr;
}

ExprPtr Parser::call(ExprPtr callee, uint32_t begin) {
  const Token& open = take();
  std::vector<Entry> entries;
  comma_list(open, ")", [&] { entries.push_back(argument()); });
  auto expr = new_node(Expr::Kind::call, span_from(begin));
  expr->operand = std::move(callee);
  expr->entries = std::move(entries);
  return expr;
}

ExprPtr Parser::subscripts(ExprPtr base, uint32_t begin) {
  const Token& open = take();
  std::vector<Subscript> pieces;
  comma_list(open, "]", [&] { pieces.push_back(subscript()); });
  if (pieces.empty()) fail(open, "expected an index or a slice in [ ]");
  auto expr = new_node(Expr::Kind::subscript, span_from(begin));
  expr->items = {std::move(base)};
  expr->subscripts = std::move(pieces);
  return expr;
}

Entry Parser::element() {
  Entry entry;
  const uint32_t begin = peek().begin;
  if (take_if("**")) entry.kind = Entry::Kind::spread;
  entry.value = expression();
  entry.span = span_from(begin);
  return entry;
}

Entry Parser::argument() {
  Entry entry;
  const Token& first = peek();
  const Token& second = tokens_.all[next_ + (at_end() ? 0 : 1)];
  if (first.kind == Token::Kind::name && is_mark(second, "=")) {
    entry.kind = Entry::Kind::keyed;
    entry.key = std::string(text(first));
    take();
    take();
  } else if (first.kind == Token::Kind::name && is_mark(second, ":")) {
    fail(second, "arguments are named with `=`: " + std::string(text(first)) +
                     "=value; a function is written " + std::string(text(first)) + " -> ...");
  } else if (at("**")) {
    fail(first, "`**` does not spread into arguments; write them out: name=value");
  }
  entry.value = expression();
  entry.span = span_from(first.begin);
  return entry;
}

std::string Parser::key() {
  if (peek().kind == Token::Kind::text) return tokens_.values[take().value];
  if (peek().kind == Token::Kind::name) return std::string(text(take()));
  fail_expected("a key: a name or a string");
}

Entry Parser::dict_entry() {
  const Token& first = peek();
  if (at("**")) return element();
  Entry entry;
  entry.kind = Entry::Kind::keyed;
  entry.key = key();
  if (take_if(":")) {
    entry.value = expression();
  } else if (at("=")) {
    fail(peek(), "entries of a dict are written with `:`, as in {key: value}");
  } else if (first.kind == Token::Kind::text) {
    fail_expected("`:` and a value behind this key");
  } else if (is_reserved(entry.key)) {
    fail(first, "`" + entry.key + "` is a word of the language: write `" + entry.key + ": value`");
  } else {
    auto name = new_node(Expr::Kind::name, span_of(first));
    name->text = entry.key;
    entry.value = std::move(name);
  }
  entry.span = span_from(first.begin);
  return entry;
}

Subscript Parser::subscript() {
  Subscript piece;
  const uint32_t begin = peek().begin;
  auto optional_part = [&]() -> ExprPtr {
    return at(":") || at(",") || at("]") ? nullptr : expression();
  };
  if (take_if("...")) {
    piece.kind = Subscript::Kind::ellipsis;
  } else {
    ExprPtr first = at(":") ? nullptr : expression();
    if (take_if(":")) {
      piece.kind = Subscript::Kind::slice;
      piece.begin = std::move(first);
      piece.end = optional_part();
      if (take_if(":")) piece.step = optional_part();
    } else {
      piece.index = std::move(first);
    }
  }
  piece.span = span_from(begin);
  return piece;
}

const Token& Parser::binding_name() {
  if (peek().kind != Token::Kind::name) fail_expected("a name");
  if (is_reserved(text(peek()))) {
    fail(peek(), describe(peek()) + " is a word of the language and cannot be a name");
  }
  return take();
}

PatternPtr Parser::name_pattern() {
  const Token& name = binding_name();
  auto pattern = std::make_shared<Pattern>();
  pattern->span = span_of(name);
  pattern->name = std::string(text(name));
  return pattern;
}

PatternPtr Parser::pattern() {
  const Nesting nesting(*this);
  if (at("(")) return tuple_pattern();
  if (at("{")) return dict_pattern();
  if (peek().kind != Token::Kind::name) {
    fail_expected("a pattern: a name, (a, b) or {a, b}");
  }
  return name_pattern();
}

PatternPtr Parser::tuple_pattern() {
  const Token& open = take();
  std::vector<PatternPtr> items;
  const bool comma = comma_list(open, ")", [&] { items.push_back(pattern()); });
  if (items.size() == 1 && !comma) return items[0];
  auto tuple = std::make_shared<Pattern>();
  tuple->kind = Pattern::Kind::tuple;
  tuple->items = std::move(items);
  tuple->span = span_from(open.begin);
  return tuple;
}

PatternPtr Parser::dict_pattern() {
  const Token& open = take();
  auto dict = std::make_shared<Pattern>();
  dict->kind = Pattern::Kind::dict;
  comma_list(open, "}", [&] { dict_pattern_entry(*dict); });
  dict->span = span_from(open.begin);
  return dict;
}

void Parser::dict_pattern_entry(Pattern& dict) {
  const Token& first = peek();
  if (dict.rest) fail(first, "`**" + *dict.rest + "` ends a pattern; nothing stands behind it");
  if (take_if("**")) {
    dict.rest = std::string(text(binding_name()));
    return;
  }
  const std::string field = key();
  PatternPtr item;
  if (take_if(":")) {
    item = pattern();
  } else if (first.kind == Token::Kind::text) {
    fail_expected("`:` and a name behind this key");
  } else {
    --next_;
    item = name_pattern();
  }
  dict.keys.push_back(field);
  dict.items.push_back(std::move(item));
}

// (a, b): the parameters of a function; only here (a) is one and () is none.
std::vector<PatternPtr> Parser::parameters() {
  const Token& open = take();
  std::vector<PatternPtr> taken;
  comma_list(open, ")", [&] { taken.push_back(parameter()); });
  return taken;
}

PatternPtr Parser::parameter() {
  const uint32_t begin = peek().begin;
  PatternPtr plain = pattern();
  if (!at("=")) return plain;
  if (plain->kind != Pattern::Kind::name) fail(peek(), "only a single name has a default value");
  take();
  auto with_default = std::make_shared<Pattern>(*plain);
  with_default->default_value = expression();
  with_default->span = span_from(begin);
  return with_default;
}

}  // namespace penstock
