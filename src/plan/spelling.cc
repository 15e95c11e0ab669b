#include "plan/spelling.h"

#include <algorithm>

namespace penstock {
namespace {

constexpr Spelling kSpellings[] = {
    {"add", "+", Form::binary},
    {"subtract", "-", Form::binary},
    {"multiply", "*", Form::binary},
    {"divide", "/", Form::binary},
    {"floor_divide", "//", Form::binary},
    {"modulo", "%", Form::binary},
    {"power", "**", Form::binary},
    {"equal", "==", Form::binary},
    {"not_equal", "!=", Form::binary},
    {"less", "<", Form::binary},
    {"less_equal", "<=", Form::binary},
    {"greater", ">", Form::binary},
    {"greater_equal", ">=", Form::binary},
    {"logical_and", "and", Form::lazy},
    {"logical_or", "or", Form::lazy},
    {"logical_not", "not", Form::prefix},
    {"negative", "-", Form::prefix},
    {"reduce_sum", "sum", Form::plain},
    {"reduce_mean", "mean", Form::plain},
    {"reduce_min", "min", Form::plain},
    {"reduce_max", "max", Form::plain},
    {"reduce_any", "any", Form::plain},
    {"reduce_all", "all", Form::plain},
    {"reduce_prod", "prod", Form::plain},
    {"reduce_std", "std", Form::plain},
    {"reduce_variance", "variance", Form::plain},
    {"reduce_logsumexp", "logsumexp", Form::plain},
    {"split_text", "split", Form::of_strings},
    {"split_tensor", "split", Form::of_others},
    {"cast", "", Form::cast},
    {"stack", "", Form::list},
    {"subscript", "", Form::subscript},
    {"ragged_subscript", "", Form::subscript},
    {"lookup_in", "lookup", Form::lookup},
    {"value_of", "", Form::pipeline},
};

}  // namespace

std::span<const Spelling> spellings() { return kSpellings; }

Spelling spelling_of(std::string_view op) {
  const auto* found = std::ranges::find(kSpellings, op, &Spelling::op);
  return found == std::end(kSpellings) ? Spelling{op, op, Form::call} : *found;
}

std::string_view op_written(std::string_view text, Form form) {
  for (const Spelling& s : kSpellings) {
    if (s.form == form && s.text == text) return s.op;
  }
  return {};
}

std::string_view name_in_text(std::string_view op, std::string_view text) {
  std::string_view plain = op;
  for (const std::string_view prefix : {"ragged_", "sparse_"}) {
    if (plain.starts_with(prefix)) plain.remove_prefix(prefix.size());
  }
  if (text == op || text == plain) return text;
  const Spelling own = spelling_of(op),
                 spelling = own.form == Form::call ? spelling_of(plain) : own;
  switch (spelling.form) {
    case Form::plain:
    case Form::of_strings:
    case Form::of_others:
    case Form::lookup: return spelling.text;
    default: return op;
  }
}

}  // namespace penstock
