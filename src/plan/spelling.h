// How ops are written in text where they are not called by their name: one table for reading and
// printing.
#pragma once

#include <span>
#include <string_view>

namespace penstock {

enum class Form : uint8_t {
  call,        // NAME(x): ops that the table does not list
  binary,      // a + b
  lazy,        // a and b: b is not computed if a decides
  prefix,      // -x
  plain,       // sum(x) for reduce_sum(x)
  of_strings,  // split(x): one name for several ops, this one if the first argument holds strings
  of_others,   // ... this one if not
  cast,        // float32(x): the name is a dtype
  list,        // [a, b]
  subscript,   // x[i], x[1:3]
  lookup,      // lookup(table(dataset), x)
  pipeline,    // the pipeline whose value it is
};

struct Spelling {
  std::string_view op, text;
  Form form;
};

std::span<const Spelling> spellings();

// Returns the entry of the op; its form is `call` and its text the name if the table has none.
Spelling spelling_of(std::string_view op);
// Returns the op that `text` stands for in this form; "" if there is none.
std::string_view op_written(std::string_view text, Form form);
// Returns the name by which messages call the op: `text` if it is a name of the op (of its form for
// ragged or sparse tensors too), else the name that is written most.
std::string_view name_in_text(std::string_view op, std::string_view text);

}  // namespace penstock
