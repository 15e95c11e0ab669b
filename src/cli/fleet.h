// The command about the traces of many jobs.
#pragma once

#include "cli/args.h"

namespace penstock::cli {

Command fleet_command();

}  // namespace penstock::cli
