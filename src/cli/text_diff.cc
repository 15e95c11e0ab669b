#include "cli/text_diff.h"

#include <sstream>
#include <vector>

#include "cli/terminal.h"

namespace penstock::cli {

std::string text_diff(const std::string& before, const std::string& after) {
  auto lines = [](const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  };
  const std::vector<std::string> a = lines(before), b = lines(after);
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t k = b.size(); k-- > 0;) {
      common[i][k] =
          a[i] == b[k] ? common[i + 1][k + 1] + 1 : std::max(common[i + 1][k], common[i][k + 1]);
    }
  }
  std::string out;
  size_t i = 0, k = 0;
  while (i < a.size() || k < b.size()) {
    if (i < a.size() && k < b.size() && a[i] == b[k]) {
      out += "  " + a[i++] + "\n";
      ++k;
    } else if (i < a.size() && (k == b.size() || common[i + 1][k] >= common[i][k + 1])) {
      out += paint(Stream::out, Style::red, "- " + a[i++]) + "\n";
    } else {
      out += paint(Stream::out, Style::green, "+ " + b[k++]) + "\n";
    }
  }
  return out;
}

}  // namespace penstock::cli
