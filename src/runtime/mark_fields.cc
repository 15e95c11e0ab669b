#include "runtime/mark_fields.h"

#include "base/error.h"
#include "runtime/checkpoint.h"

namespace penstock {

MarkReader::MarkReader(const StageMark& mark, const MarkForm& form)
    : mark_(mark), numbers_(mark.encoded()) {
  if (mark.form() == form.name && mark.version() == form.version) return;
  throw Error(
      Code::failed_precondition,
      "the checkpoint's mark of `" + mark.stage() + "` has form " + mark.form() + " " +
          std::to_string(mark.version()) + ", this program reads " + std::string(form.name) + " " +
          std::to_string(form.version) +
          "; resume with the program that wrote it, or remove the checkpoint to start anew");
}

void MarkReader::damaged(const std::string& what) const {
  throw Error(Code::data_loss,
              "the checkpoint is damaged: the mark of `" + mark_.stage() + "` " + what);
}

int64_t MarkReader::next(const char* name) {
  if (at_ == numbers_.size()) damaged(std::string("has no field ") + name);
  return numbers_[at_++];
}

void MarkReader::count(const char* name, int64_t& to) {
  to = next(name);
  if (to < 0 || to > kMostResumed) damaged(std::string("says ") + name + " " + std::to_string(to));
}

void MarkReader::flag(const char* name, bool& to) {
  const int64_t value = next(name);
  if (value != 0 && value != 1) damaged(std::string("says ") + name + " " + std::to_string(value));
  to = value == 1;
}

int64_t MarkReader::size(const char* name) {
  int64_t out = 0;
  count(name, out);
  const auto left = static_cast<int64_t>(numbers_.size() - at_);
  if (out > left) {
    damaged("has " + std::to_string(left) + " of " + std::to_string(out) + " numbers of " + name);
  }
  return out;
}

void MarkReader::counts(const char* name, std::vector<int64_t>& to) {
  to.resize(static_cast<size_t>(size(name)));
  for (int64_t& value : to) count(name, value);
}

void MarkReader::flags(const char* name, std::vector<bool>& to) {
  to.assign(static_cast<size_t>(size(name)), false);
  for (size_t i = 0; i < to.size(); ++i) {
    bool value = false;
    flag(name, value);
    to[i] = value;
  }
}

void MarkReader::end() const {
  if (at_ < numbers_.size())
    damaged("has " + std::to_string(numbers_.size() - at_) + " numbers too many");
}

}  // namespace penstock
