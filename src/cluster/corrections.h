// Corrections of the paper's rule in the default model, one by one.
#pragma once

#include <array>

#include "cluster/rig.h"

namespace penstock::cluster {

struct Correction {
  const char* name;
  void (*take)(const Rig& from, Rig* to);  // copies the fields of this correction
};

// "With" one correction: the paper's rig plus this field group of the default rig. "Without" it:
// the default rig with this field group of the paper's. docs/cluster-model.md explains each.
extern const std::array<Correction, 7> kCorrections;

}  // namespace penstock::cluster
