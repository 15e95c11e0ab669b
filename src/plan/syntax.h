// The text of a pipeline as a tree: what the parser makes and the formatter prints.
//
// docs/format/pipe.md is the grammar. Nothing here knows dtypes or operators.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock {

// One source text; spans point into it. Shared by all trees parsed from it.
struct Source {
  std::string name;  // file name as the user gave it, "-" for standard input
  std::string text;
};
using SourcePtr = std::shared_ptr<const Source>;

// Bytes [begin, end) of a source; a null source means made by a program (C++ method chains).
struct Span {
  const Source* source = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct OpDef;  // functions/op.h
struct Pattern;
struct Expr;
using PatternPtr = std::shared_ptr<const Pattern>;
using ExprPtr = std::shared_ptr<const Expr>;

// `x`, `_`, `(x, (a, b))`, `{image, "image/label": label, **rest}`.
struct Pattern {
  enum class Kind { name, tuple, dict };
  Kind kind = Kind::name;
  Span span;
  std::string name;                 // name; "_" binds nothing
  std::vector<std::string> keys;    // dict: one for each of items
  std::vector<PatternPtr> items;    // tuple, dict
  std::optional<std::string> rest;  // dict: name after **, "_" for **_
  ExprPtr default_value;            // lambda parameters only: `scale=1.0`
};

// One of `a`, `k=v` (call), `k: v`, `label` (dict), `**rest` (dict, list), `a` (list, tuple).
struct Entry {
  enum class Kind { plain, keyed, spread };
  Kind kind = Kind::plain;
  Span span;
  std::string key;  // keyed
  ExprPtr value;
};

// One piece of `x[...]`: an index, a slice, `...` or `none` (a plain index whose value is none).
struct Subscript {
  enum class Kind { index, slice, ellipsis };
  Kind kind = Kind::index;
  Span span;
  ExprPtr index;             // index
  ExprPtr begin, end, step;  // slice; null where left out
};

struct Expr {
  enum class Kind {
    integer,   // 1, 0x1f, 1_000: integer_value
    floating,  // 2.5, 1e-3, inf, nan: float_value
    quantity,  // 64MB, 250ms, 100MB/s: float_value in bytes, seconds or bytes/s; text = unit class
               // ("bytes", "seconds", "bytes/s"); spelling kept in `spelling`
    text,      // "...": text (UTF-8)
    bytes,     // b"...": text
    boolean,   // bool_value
    none,
    automatic,    // auto
    name,         // text
    list,         // entries (plain, spread)
    tuple,        // entries (plain, spread)
    dict,         // entries (keyed, spread)
    call,         // operand is the callee (usually a name), entries are arguments (plain, keyed)
    pipe,         // left | call: items[0] is left, items[1] the call
    field,        // items[0].text
    subscript,    // items[0][subscripts]
    unary,        // text: "-", "not"; items[0]
    binary,       // text: "+ - * / // % ** == != < <= > >= and or"; items[0], items[1]
    conditional,  // if items[0] then items[1] else items[2]
    lambda,       // patterns -> items[0]
    let,          // let pattern = items[0]; items[1]
  };
  Kind kind = Kind::none;
  Span span;
  std::string text;
  std::string spelling;  // numbers: as written
  uint64_t integer_value = 0;
  double float_value = 0;
  bool bool_value = false;
  ExprPtr operand;
  std::shared_ptr<const OpDef> own_op;  // call: an op that no registry knows; operand is its name
  std::vector<ExprPtr> items;
  std::vector<Entry> entries;
  std::vector<Subscript> subscripts;
  std::vector<PatternPtr> patterns;  // lambda: its parameters (x -> e has one; (a, b) -> e has two;
                                     // ((a, b)) -> e has one tuple pattern; () -> e has none);
                                     // let: one

  ~Expr();  // in a loop: the left side of a chain may be ten thousand nodes deep
};

struct Statement {
  enum class Kind { import_file, param, let };
  Kind kind = Kind::let;
  Span span;
  std::string path;    // import
  PatternPtr pattern;  // let; param: a name pattern
  ExprPtr value;       // let, param
};

// A file: statements, then one expression (null in files that are only imported).
struct Program {
  SourcePtr source;
  std::vector<Statement> statements;
  ExprPtr result;
};

}  // namespace penstock
