#include "plan/format_expression.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/format.h"
#include "plan/format_literal.h"
#include "plan/lexer.h"

namespace penstock {
namespace {

using Kind = Expr::Kind;

constexpr int pipe_level = 1;
constexpr int not_level = 4;
constexpr int comparison_level = 5;
constexpr int minus_level = 8;
constexpr int power_level = 9;
constexpr int postfix_level = 10;

bool is_number(const Expr& expr) {
  return expr.kind == Kind::integer || expr.kind == Kind::floating || expr.kind == Kind::quantity;
}

bool is_scalar_literal(const Expr& expr) {
  return is_number(expr) || expr.kind == Kind::text || expr.kind == Kind::bytes ||
         expr.kind == Kind::boolean || expr.kind == Kind::none || expr.kind == Kind::automatic;
}

int binary_level(const std::string& op) {
  if (op == "or") return 2;
  if (op == "and") return 3;
  if (op == "+" || op == "-") return 6;
  if (op == "*" || op == "/" || op == "//" || op == "%") return 7;
  return op == "**" ? power_level : comparison_level;
}

int level_of(const Expr& expr) {
  switch (expr.kind) {
    case Kind::let:
    case Kind::lambda:
    case Kind::conditional: return 0;
    case Kind::pipe: return pipe_level;
    case Kind::binary: return binary_level(expr.text);
    case Kind::unary: return expr.text == "not" ? not_level : minus_level;
    default: break;
  }
  const bool negative = is_number(expr) && expr.spelling.empty() &&
                        std::signbit(expr.float_value) && !std::isnan(expr.float_value);
  return negative ? minus_level : postfix_level;
}

// The child that stands first in the text, where a chain goes on.
const Expr* left_of(const Expr& expr) {
  switch (expr.kind) {
    case Kind::pipe:
    case Kind::binary:
    case Kind::field:
    case Kind::subscript: return expr.items[0].get();
    case Kind::call: return expr.operand.get();
    default: return nullptr;
  }
}

ExpressionFormatter::Place left_place(const Expr& expr) {
  if (expr.kind == Kind::pipe) return {pipe_level, false, true, false};
  if (expr.kind != Kind::binary) return {postfix_level, false, false, true};
  const int level = binary_level(expr.text);
  if (level == power_level) return {postfix_level, false, false, false};
  return {level == comparison_level ? level + 1 : level, false, false, false};
}

bool needs_parentheses(const Expr& expr, const ExpressionFormatter::Place& place) {
  if (expr.kind == Kind::conditional && place.left_of_stage) return false;
  if (expr.kind == Kind::pipe && place.else_side) return true;
  return level_of(expr) < place.level || (place.base && is_scalar_literal(expr));
}

// Better begun on a line of its own than broken inside.
bool is_block(const Expr& expr) {
  switch (expr.kind) {
    case Kind::let:
    case Kind::lambda:
    case Kind::conditional:
    case Kind::pipe:
    case Kind::binary:
    case Kind::unary: return true;
    default: return false;
  }
}

bool is_short(const Entry& entry) {
  if (entry.kind != Entry::Kind::plain) return false;
  const Expr& value = *entry.value;
  return is_scalar_literal(value) ||
         (value.kind == Kind::unary && value.text == "-" && is_number(*value.items[0]));
}

// {label} for {label: label}.
bool says_key_alone(const std::string& key, const std::string& name) {
  return key == name && is_name(key) && !is_reserved(key);
}

Layout parenthesised(Layout inside) {
  Layout indented = concat();
  indented.add(soft_line_layout()).add(std::move(inside));
  Layout out = concat();
  out.add(text_layout("(")).add(nest(std::move(indented))).add(soft_line_layout());
  out.add(text_layout(")"));
  return group(std::move(out));
}

}  // namespace

// One step down the left side of an expression.
struct ExpressionFormatter::Link {
  const Expr* expr;
  bool parentheses;
  bool else_side;
};

Layout ExpressionFormatter::expression(const Expr& expr, Place place, bool stage_a_line) {
  std::vector<Link> links;
  size_t outer_stages = 0;
  for (const Expr* here = &expr; here; here = left_of(*here)) {
    const bool parentheses = needs_parentheses(*here, place);
    links.push_back({here, parentheses, place.else_side && !parentheses});
    const bool outer = here->kind == Kind::pipe && !parentheses;
    if (outer && outer_stages + 1 == links.size()) ++outer_stages;
    place = left_place(*here);
  }
  Layout out = leaf(*links.back().expr, links.back().else_side);
  if (links.back().parentheses) out = parenthesised(std::move(out));
  bool open = false;  // out is a concat to append to
  for (size_t i = links.size() - 1; i-- > 0;) {
    const Link& link = links[i];
    if (!open) out = concat(std::move(out));
    open = true;
    append_link(out, link, stage_a_line && i < outer_stages);
    const bool goes_on = i > 0 && links[i - 1].expr->kind == Kind::pipe && !link.parentheses;
    if (link.expr->kind == Kind::pipe && !goes_on) {
      out = group(std::move(out));
      open = false;
    }
    if (link.parentheses) {
      out = parenthesised(std::move(out));
      open = false;
    }
  }
  return out;
}

void ExpressionFormatter::append_link(Layout& out, const Link& link, bool stage_a_line) {
  const Expr& expr = *link.expr;
  switch (expr.kind) {
    case Kind::pipe:
      out.add(break_before(expr.items[1]->span, stage_a_line ? hard_line_layout() : line_layout()));
      out.add(text_layout("| "));
      out.add(expression(*expr.items[1], {postfix_level, false, false, false}));
      break;
    case Kind::binary: {
      const int level = binary_level(expr.text);
      out.add(text_layout(" " + expr.text + " "));
      const int right = level == power_level ? minus_level : level + 1;
      out.add(expression(*expr.items[1], {right, false, false, false}));
      break;
    }
    case Kind::field: out.add(text_layout("." + expr.text)); break;
    case Kind::subscript: out.add(subscripts(expr)); break;
    default: out.add(arguments(expr)); break;
  }
}

Layout ExpressionFormatter::leaf(const Expr& expr, bool else_side) {
  switch (expr.kind) {
    case Kind::text: return text_layout(quote_text(expr.text));
    case Kind::bytes: return text_layout(quote_bytes(expr.text));
    case Kind::boolean: return text_layout(expr.bool_value ? "true" : "false");
    case Kind::none: return text_layout("none");
    case Kind::automatic: return text_layout("auto");
    case Kind::name: return text_layout(expr.text);
    case Kind::list: return entries(expr, "[", "]");
    case Kind::tuple: return entries(expr, "(", ")");
    case Kind::dict: return entries(expr, "{", "}");
    case Kind::let: return let(expr, else_side);
    case Kind::lambda: return lambda(expr, else_side);
    case Kind::conditional: return conditional(expr);
    case Kind::unary: {
      const bool is_not = expr.text == "not";
      Layout out = concat(text_layout(is_not ? "not " : "-"));
      const int level = is_not ? not_level : minus_level;
      out.add(expression(*expr.items[0], {level, false, false, false}));
      return out;
    }
    default: return text_layout(format_number(expr));
  }
}

// The place between two tokens where a line may end; comments that stood before `next` go here.
Layout ExpressionFormatter::break_before(Span next, Layout plain) {
  const Comments::Taken taken = comments_.take_before(next);
  if (taken.empty()) return plain;
  Layout out = concat();
  for (const std::string& comment : taken.trailing) out.add(trailing_layout("  " + comment));
  out.add(hard_line_layout());
  for (const Comment& comment : taken.own_lines) {
    out.add(text_layout(comments_.text(comment))).add(hard_line_layout());
  }
  return out;
}

template <class SpanOf, class LayoutOf>
Layout ExpressionFormatter::bracketed(const char* open, const char* close, Span whole, size_t count,
                                      SpanOf span_of, LayoutOf layout_of, bool filled,
                                      bool last_comma) {
  if (count == 0) return text_layout(std::string(open) + close);
  Layout inside = concat();
  for (size_t i = 0; i < count; ++i) {
    Layout part = concat();
    part.add(break_before(span_of(i), i == 0 ? soft_line_layout() : line_layout()));
    part.add(layout_of(i));
    if (i + 1 < count || last_comma) part.add(text_layout(","));
    inside.add(filled && i > 0 ? group(std::move(part)) : std::move(part));
  }
  const uint32_t end = whole.end == 0 ? 0 : whole.end - 1;
  const Comments::Taken rest = comments_.take_before({whole.source, end, end});
  for (const std::string& comment : rest.trailing) inside.add(trailing_layout("  " + comment));
  for (const Comment& comment : rest.own_lines) {
    inside.add(hard_line_layout()).add(text_layout(comments_.text(comment)));
  }
  Layout out = concat();
  out.add(text_layout(open)).add(nest(std::move(inside)));
  out.add(rest.empty() ? soft_line_layout() : hard_line_layout()).add(text_layout(close));
  return group(std::move(out));
}

Layout ExpressionFormatter::value(const Expr& expr) {
  const bool breaks_at_top =
      expr.kind == Kind::pipe || expr.kind == Kind::conditional || expr.kind == Kind::let;
  Layout layout = expression(expr);
  return breaks_at_top ? nest(std::move(layout)) : layout;
}

Layout ExpressionFormatter::let(const Expr& expr, bool else_side) {
  Layout out = concat();
  const Expr* here = &expr;
  for (; here->kind == Kind::let; here = here->items[1].get()) {
    out.add(text_layout("let ")).add(pattern(*here->patterns[0])).add(text_layout(" = "));
    out.add(value(*here->items[0])).add(text_layout(";"));
    out.add(break_before(here->items[1]->span, line_layout()));
  }
  out.add(expression(*here, {0, else_side, false, false}));
  return group(std::move(out));
}

// As the only argument of a call the bracket behind it closes on a line of its own.
Layout ExpressionFormatter::lambda(const Expr& expr, bool else_side, bool in_call) {
  const Expr& body = *expr.items[0];
  Layout out = concat();
  out.add(parameters(expr));
  if (!is_block(body)) {
    out.add(text_layout(" -> ")).add(expression(body, {0, else_side, false, false}));
    return out;
  }
  Layout inside = concat();
  inside.add(break_before(body.span, line_layout()));
  inside.add(expression(body, {0, else_side, false, false}));
  out.add(text_layout(" ->")).add(nest(std::move(inside)));
  if (in_call) out.add(soft_line_layout());
  return group(std::move(out));
}

Layout ExpressionFormatter::conditional(const Expr& expr) {
  Layout out = concat();
  const Expr* here = &expr;
  for (; here->kind == Kind::conditional; here = here->items[2].get()) {
    out.add(text_layout("if ")).add(value(*here->items[0])).add(text_layout(" then "));
    out.add(value(*here->items[1]));
    out.add(break_before(here->items[2]->span, line_layout())).add(text_layout("else "));
  }
  out.add(expression(*here, {0, true, false, false}));
  return group(std::move(out));
}

Layout ExpressionFormatter::parameters(const Expr& lambda) {
  const auto& all = lambda.patterns;
  const bool bare =
      all.size() == 1 && !all[0]->default_value && all[0]->kind != Pattern::Kind::tuple;
  if (bare) return pattern(*all[0]);
  return bracketed(
      "(", ")", {}, all.size(), [&](size_t i) { return all[i]->span; },
      [&](size_t i) { return pattern(*all[i]); });
}

Layout ExpressionFormatter::pattern(const Pattern& pattern_) {
  const auto& items = pattern_.items;
  auto span_of = [&](size_t i) { return i < items.size() ? items[i]->span : Span{}; };
  if (pattern_.kind == Pattern::Kind::tuple) {
    return bracketed(
        "(", ")", pattern_.span, items.size(), span_of,
        [&](size_t i) { return pattern(*items[i]); }, false, items.size() == 1);
  }
  if (pattern_.kind == Pattern::Kind::dict) {
    return bracketed(
        "{", "}", pattern_.span, items.size() + (pattern_.rest ? 1 : 0), span_of, [&](size_t i) {
          if (i == items.size()) return text_layout("**" + *pattern_.rest);
          const std::string& key = pattern_.keys[i];
          const bool alone =
              items[i]->kind == Pattern::Kind::name && says_key_alone(key, items[i]->name);
          if (alone) return text_layout(key);
          return concat(text_layout(format_key(key) + ": "), pattern(*items[i]));
        });
  }
  if (!pattern_.default_value) return text_layout(pattern_.name);
  return concat(text_layout(pattern_.name + "="), value(*pattern_.default_value));
}

Layout ExpressionFormatter::entry(const Entry& entry, const char* separator) {
  if (entry.kind == Entry::Kind::plain) return expression(*entry.value);
  if (entry.kind == Entry::Kind::spread) {
    return concat(text_layout("**"), value(*entry.value));
  }
  const bool in_dict = separator[0] == ':';
  const bool is_name_value = entry.value->kind == Kind::name;
  if (in_dict && is_name_value && says_key_alone(entry.key, entry.value->text)) {
    return text_layout(entry.key);
  }
  const std::string key = in_dict ? format_key(entry.key) : entry.key;
  return concat(text_layout(key + separator), value(*entry.value));
}

Layout ExpressionFormatter::entries(const Expr& expr, const char* open, const char* close) {
  const auto& all = expr.entries;
  const bool filled = expr.kind == Kind::list && std::all_of(all.begin(), all.end(), is_short);
  const bool last_comma = expr.kind == Kind::tuple && all.size() == 1;
  return bracketed(
      open, close, expr.span, all.size(), [&](size_t i) { return all[i].span; },
      [&](size_t i) { return entry(all[i], ": "); }, filled, last_comma);
}

Layout ExpressionFormatter::arguments(const Expr& call) {
  const auto& all = call.entries;
  if (all.size() == 1 && all[0].kind == Entry::Kind::plain) {
    const Expr& only = *all[0].value;
    if (only.kind == Kind::lambda) {
      return concat(text_layout("("), lambda(only, false, true), text_layout(")"));
    }
    if (only.kind == Kind::list || only.kind == Kind::dict || only.kind == Kind::tuple) {
      return concat(text_layout("("), expression(only), text_layout(")"));
    }
  }
  return bracketed(
      "(", ")", call.span, all.size(), [&](size_t i) { return all[i].span; },
      [&](size_t i) { return entry(all[i], "="); });
}

// An index stays on the line of what it indexes; only a comment in it ends the line.
Layout ExpressionFormatter::subscripts(const Expr& expr) {
  Layout inside = concat();
  for (size_t i = 0; i < expr.subscripts.size(); ++i) {
    inside.add(break_before(expr.subscripts[i].span, text_layout(i == 0 ? "" : " ")));
    inside.add(subscript(expr.subscripts[i]));
    if (i + 1 < expr.subscripts.size()) inside.add(text_layout(","));
  }
  return concat(text_layout("["), nest(std::move(inside)), text_layout("]"));
}

Layout ExpressionFormatter::subscript(const Subscript& piece) {
  if (piece.kind == Subscript::Kind::ellipsis) return text_layout("...");
  if (piece.kind == Subscript::Kind::index) return expression(*piece.index);
  Layout out = concat();
  if (piece.begin) out.add(expression(*piece.begin));
  out.add(text_layout(":"));
  if (piece.end) out.add(expression(*piece.end));
  if (piece.step) out.add(text_layout(":")).add(expression(*piece.step));
  return out;
}

}  // namespace penstock
