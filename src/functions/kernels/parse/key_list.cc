#include "functions/kernels/parse/key_list.h"

#include <algorithm>

#include "functions/kernels/text/strings.h"

namespace penstock {

std::string keys_there(std::string_view what, std::vector<std::string_view> keys) {
  constexpr size_t kMost = 20;
  // bounded: a message
  std::string out = "; " + std::string(what) + " has ";
  if (keys.empty()) return out + "no keys";
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  for (size_t i = 0; i < std::min(keys.size(), kMost); ++i)
    out += (i == 0 ? "" : ", ") + quoted(keys[i]);
  if (keys.size() > kMost) out += " and " + std::to_string(keys.size() - kMost) + " more";
  return out;
}

}  // namespace penstock
