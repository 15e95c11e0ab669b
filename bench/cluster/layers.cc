#include "bench/cluster/layers.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace penstock::rig {

Layers read_layers(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("rig_node: cannot read the layers: " + file);
  Layers out;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    const bool layer = what == "layer", tensor = what == "tensor" && !out.layers.empty();
    if (layer) {
      Layer& l = out.layers.emplace_back();
      words >> l.name >> l.forward_ms >> l.backward_ms;
    } else if (tensor) {
      Tensor& t = out.tensors.emplace_back();
      words >> t.name >> t.bytes >> t.server;
      t.layer = static_cast<int32_t>(out.layers.size()) - 1;
      out.layers.back().tensors.push_back(static_cast<int32_t>(out.tensors.size()) - 1);
    }
    if (!(layer || tensor) || !words)
      throw std::runtime_error("rig_node: " + file + ": line " + std::to_string(number) +
                               ": neither a layer nor a tensor of one: " + line);
  }
  if (out.tensors.empty()) throw std::runtime_error("rig_node: " + file + ": no tensor");
  return out;
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace penstock::rig
