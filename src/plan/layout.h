// Text that may be broken into lines: groups stay on one line where they fit.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace penstock {

struct Layout {
  enum class Kind {
    text,
    line,       // a space, or the end of the line where the group is broken
    soft_line,  // nothing, or the end of the line
    hard_line,  // always the end of the line; breaks every group around it
    trailing,   // text that waits for the end of the line: a comment
    concat,
    nest,  // two columns more behind the lines' ends inside
    group,
  };
  Kind kind = Kind::text;
  bool broken = false;  // a hard line is inside
  std::string text;
  std::vector<Layout> parts;

  // To a concat.
  Layout& add(Layout part);
};

Layout text_layout(std::string text);
Layout trailing_layout(std::string text);
Layout line_layout();
Layout soft_line_layout();
Layout hard_line_layout();
Layout concat();
template <class... Parts>
Layout concat(Layout first, Parts... rest) {
  Layout layout = concat();
  layout.add(std::move(first));
  (layout.add(std::move(rest)), ...);
  return layout;
}
Layout nest(Layout part);
Layout group(Layout part);

// The first line begins at column 0, later ones are indented by `indent`.
std::string print_layout(const Layout& layout, int width, int indent);

}  // namespace penstock
