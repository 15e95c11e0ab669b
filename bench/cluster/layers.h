// The model that the rig trains: layers with tensors on servers and times to sleep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::rig {

struct Tensor {
  std::string name;
  int64_t bytes = 0;  // a multiple of 4
  int32_t server = 0;
  int32_t layer = 0;
};

struct Layer {
  std::string name;
  double forward_ms = 0, backward_ms = 0;
  std::vector<int32_t> tensors;
};

struct Layers {
  std::vector<Layer> layers;  // in forward order
  std::vector<Tensor> tensors;
};

// Reads lines `layer NAME FORWARD_MS BACKWARD_MS`, each followed by its lines `tensor NAME BYTES
// SERVER`. Throws std::runtime_error naming the file and the line.
Layers read_layers(const std::string& file);

// Returns nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
int64_t now_ns();

}  // namespace penstock::rig
