// Headers that nearly every source includes, parsed once for a build (PENSTOCK_PCH). A source still
// includes what it uses: builds without this file must pass. Headers of later rooms stay out, so
// that their names do not reach sources of earlier ones.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "data/block.h"
