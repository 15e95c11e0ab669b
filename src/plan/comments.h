// Comments of a text, handed out in order while its tree is printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/lexer.h"

namespace penstock {

class Comments {
 public:
  struct Taken {
    std::vector<std::string> trailing;  // stood behind something on its line
    std::vector<Comment> own_lines;
    bool empty() const { return trailing.empty() && own_lines.empty(); }
  };

  Comments() = default;
  Comments(const Source* source, std::vector<Comment> comments);

  // What has not been taken and stands before `where`; nothing when that is another source.
  Taken take_before(Span where);
  Taken take_rest();

  std::string text(const Comment& comment) const;

 private:
  Taken take_up_to(uint32_t offset);

  const Source* source_ = nullptr;
  std::vector<Comment> comments_;
  size_t next_ = 0;
};

}  // namespace penstock
