#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "base/source_dir_test.h"

std::string penstock::source_dir() { return PENSTOCK_SOURCE_DIR; }
