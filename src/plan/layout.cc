#include "plan/layout.h"

#include <utility>

#include "plan/utf8.h"

namespace penstock {
namespace {

constexpr int nest_columns = 2;

Layout leaf(Layout::Kind kind, std::string text) {
  Layout layout;
  layout.kind = kind;
  layout.broken = kind == Layout::Kind::hard_line;
  layout.text = std::move(text);
  return layout;
}

Layout wrap(Layout::Kind kind, Layout part) {
  Layout layout;
  layout.kind = kind;
  layout.add(std::move(part));
  return layout;
}

class Printer {
 public:
  Printer(int width, int indent) : width_(width) { base_ = indent; }

  std::string print(const Layout& root) {
    todo_.push_back({&root, base_, false});
    while (!todo_.empty()) {
      const Item item = todo_.back();
      todo_.pop_back();
      put(item);
    }
    flush_trailing();
    return std::move(out_);
  }

 private:
  struct Item {
    const Layout* layout;
    int indent;
    bool flat;
  };

  void put(const Item& item) {
    const Layout& layout = *item.layout;
    switch (layout.kind) {
      case Layout::Kind::text:
        out_ += layout.text;
        column_ += static_cast<int>(utf8_columns(layout.text));
        break;
      case Layout::Kind::trailing: trailing_ += layout.text; break;
      case Layout::Kind::hard_line: end_line(item.indent); break;
      case Layout::Kind::line:
      case Layout::Kind::soft_line:
        if (!item.flat) {
          end_line(item.indent);
        } else if (layout.kind == Layout::Kind::line) {
          out_ += ' ';
          ++column_;
        }
        break;
      case Layout::Kind::concat: push_parts(todo_, layout, item.indent, item.flat); break;
      case Layout::Kind::nest:
        push_parts(todo_, layout, item.indent + nest_columns, item.flat);
        break;
      case Layout::Kind::group: {
        const bool flat = item.flat || (!layout.broken && fits(layout));
        push_parts(todo_, layout, item.indent, flat);
        break;
      }
    }
  }

  static void push_parts(std::vector<Item>& to, const Layout& layout, int indent, bool flat) {
    for (size_t i = layout.parts.size(); i-- > 0;) to.push_back({&layout.parts[i], indent, flat});
  }

  void end_line(int indent) {
    flush_trailing();
    out_ += '\n';
    out_.append(static_cast<size_t>(indent), ' ');
    column_ = indent;
  }

  void flush_trailing() {
    out_ += trailing_;
    trailing_.clear();
  }

  // Whether the group on one line, and what follows it up to the next possible end of a line,
  // leaves the width in peace.
  bool fits(const Layout& layout) const {
    int left = width_ - column_;
    size_t behind = todo_.size();
    std::vector<Item> ahead;
    push_parts(ahead, layout, 0, true);
    for (;;) {
      if (ahead.empty()) {
        if (behind == 0) return true;
        ahead.push_back(todo_[--behind]);
      }
      const Item item = ahead.back();
      ahead.pop_back();
      switch (item.layout->kind) {
        case Layout::Kind::text: left -= static_cast<int>(utf8_columns(item.layout->text)); break;
        case Layout::Kind::trailing: break;
        case Layout::Kind::hard_line: return true;
        case Layout::Kind::line:
          if (!item.flat) return true;
          --left;
          break;
        case Layout::Kind::soft_line:
          if (!item.flat) return true;
          break;
        default: push_parts(ahead, *item.layout, 0, item.flat); break;
      }
      if (left < 0) return false;
    }
  }

  int width_;
  int base_ = 0;
  int column_ = 0;
  std::string out_;
  std::string trailing_;
  std::vector<Item> todo_;
};

}  // namespace

Layout& Layout::add(Layout part) {
  broken = broken || part.broken;
  parts.push_back(std::move(part));
  return *this;
}

Layout text_layout(std::string text) { return leaf(Layout::Kind::text, std::move(text)); }
Layout trailing_layout(std::string text) { return leaf(Layout::Kind::trailing, std::move(text)); }
Layout line_layout() { return leaf(Layout::Kind::line, {}); }
Layout soft_line_layout() { return leaf(Layout::Kind::soft_line, {}); }
Layout hard_line_layout() { return leaf(Layout::Kind::hard_line, {}); }

Layout concat() { return leaf(Layout::Kind::concat, {}); }

Layout nest(Layout part) { return wrap(Layout::Kind::nest, std::move(part)); }
Layout group(Layout part) { return wrap(Layout::Kind::group, std::move(part)); }

std::string print_layout(const Layout& layout, int width, int indent) {
  return Printer(width, indent).print(layout);
}

}  // namespace penstock
