// Any bytes as NET.json and as a measured pattern: constants that hold, or errors.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cluster/calibrate.h"
#include "cluster/rig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  using namespace penstock::cluster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr size_t kFlows = 6;
  Rig rig, again;
  std::vector<std::string> keys;
  try {
    read_rig("net", text, &rig);
    const nlohmann::json parsed = nlohmann::json::parse(text);
    for (const auto& [key, _] : parsed.items()) keys.push_back(key);
  } catch (const Error&) {  // refused with a message
  }
  const std::string written = write_rig(rig, keys);
  read_rig("written", written, &again);  // must not throw
  if (write_rig(again, keys) != written) __builtin_trap();
  try {
    const Pattern pattern = read_pattern("pattern", text);
    if (pattern.flows.size() <= kFlows) fit_pattern(pattern);
  } catch (const Error&) {
  }
  return 0;
}
