#include "report/html_text.h"

namespace penstock {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

std::string list_section(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = std::string("<section><h2>") + title + "</h2><ol>\n";
  for (const std::string& l : lines) out += "<li>" + escaped(l) + "</li>\n";
  return out + "</ol></section>\n";
}

}  // namespace penstock
