// What the default model puts right of the paper's rule, one by one.
#pragma once

#include <array>

#include "cluster/rig.h"

namespace penstock::cluster {

struct Correction {
  const char* name;
  void (*take)(const Rig& from, Rig* to);  // copies what belongs to it
};

// With one of them: the paper's rig that takes it from the default one; without it: the other way
// round. docs/cluster-model.md says what each is.
extern const std::array<Correction, 7> kCorrections;

}  // namespace penstock::cluster
