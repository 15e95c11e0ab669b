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

}  // namespace penstock
