#!/bin/sh
# Installs build/PRESET, builds the programs here outside the repository against it, and runs them.
# Usage: tests/outside/run.sh [PRESET]    (default: dev; it must be built)
# With the preset `shared` it also checks that the library exports what the headers declare, and nothing else.
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
if [ "$preset" = shared ]; then
  library=$(find "$work/prefix" -name 'libpenstock.so')
  classes='Arguments|Array|Dataset|Element|ElementCursor|ElementSpec|Error|Iterator|SharedBytes|UserFunction|Value|job'
  functions='automatic|call|calls|code_name|cond|dict|from_memory|list|name|none|operator.*|register_.*|subscript|to_arrow|to_dlpack|tuple|type_name'
  if nm -DC --defined-only "$library" | cut -d' ' -f3- | sed 's/(.*//' |
    grep -vE "^(penstock::($classes)::|penstock::($functions)$|(typeinfo|typeinfo name|vtable) for penstock::Error$)"; then
    echo "the shared library exports internal names"
    failed=1
  else
    passed=1
  fi
fi
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
