#include "plan/comments.h"

#include <utility>

namespace penstock {

Comments::Comments(const Source* source, std::vector<Comment> comments)
    : source_(source), comments_(std::move(comments)) {}

Comments::Taken Comments::take_before(Span where) {
  if (!source_ || where.source != source_) return {};
  return take_up_to(where.begin);
}

Comments::Taken Comments::take_rest() { return take_up_to(UINT32_MAX); }

Comments::Taken Comments::take_up_to(uint32_t offset) {
  Taken taken;
  for (; next_ < comments_.size() && comments_[next_].begin < offset; ++next_) {
    const Comment& comment = comments_[next_];
    if (comment.own_line) {
      taken.own_lines.push_back(comment);
    } else {
      taken.trailing.push_back(text(comment));
    }
  }
  return taken;
}

std::string Comments::text(const Comment& comment) const {
  return source_->text.substr(comment.begin, comment.end - comment.begin);
}

}  // namespace penstock
