// Any bytes as NET.json and as a measured pattern: constants that hold, or errors.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "cluster/calibrate.h"
#include "cluster/rig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  using namespace penstock::cluster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr size_t kFlows = 6;
  Rig rig, again;
  try {
    read_rig("net", text, &rig);
  } catch (const Error&) {
    rig = {};  // refused with a message
  }
  read_rig("written", write_rig(rig), &again);  // must not throw
  if (write_rig(again) != write_rig(rig)) __builtin_trap();
  try {
    const Pattern pattern = read_pattern("pattern", text);
    if (pattern.flows.size() <= kFlows) fit_pattern(pattern);
  } catch (const Error&) {
  }
  return 0;
}
