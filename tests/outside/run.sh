#!/bin/sh
# Installs build/PRESET, builds main.cc outside the repository against it, and runs it.
# Usage: tests/outside/run.sh [PRESET]    (default: dev; it must be built)
set -eu
preset=${1:-dev}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $preset in
  dev) flags="-fsanitize=address,undefined" ;;
  tsan) flags="-fsanitize=thread" ;;
  *) flags="" ;;
esac
cmake --install "$root/build/$preset" --prefix "$work/prefix" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
cp "$root/tests/outside/CMakeLists.txt" "$root/tests/outside/main.cc" "$work/"
{
  cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-Wall -Wextra $flags"
  cmake --build "$work/build"
} >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$work"
"$work/build/outside" "$work"
