#!/bin/sh
# Installs build/PRESET, builds the programs here outside the repository against it, and runs them.
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
cp "$root/tests/outside/CMakeLists.txt" "$root"/tests/outside/*.cc "$root"/tests/outside/*.h "$work/"
{
  cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-Wall -Wextra $flags"
  cmake --build "$work/build"
} >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$work"
# The thread sanitizer would end a child that starts threads.
export TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS:-}"
passed=0
failed=0
for program in outside abuse user_code facts forks job; do
  mkdir "$work/$program"
  status=0
  "$work/build/$program" "$work/$program" >"$work/said" 2>&1 || status=$?
  last=$(tail -n 1 "$work/said")
  good=$(echo "$last" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p')
  bad=$(echo "$last" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p')
  [ "$status" = 0 ] || { sed "s/^/$program: /" "$work/said"; [ "${bad:-0}" != 0 ] || bad=1; }
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-1}))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
