// Waits of a run's threads for cores and storage, as far as its trace tells them.
#pragma once

#include "model/model.h"

namespace penstock {

Waits waits_of(const Trace& trace);

}  // namespace penstock
