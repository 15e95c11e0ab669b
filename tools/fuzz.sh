#!/usr/bin/env bash
# fuzz.sh SECONDS: runs each fuzzer of build/fuzz for that time, from fuzz/corpus/NAME and the finds of earlier
# runs. Inputs that crash are in build/fuzz/found.
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/fuzz/found
passed=0 failed=0
for program in build/fuzz/fuzz_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  name=${name#fuzz_}
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  seeds=fuzz/corpus/$name
  [ -d "$seeds" ] || seeds=
  log=build/fuzz/$name.log
  # shellcheck disable=SC2086
  if "$program" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$name-" "$corpus" $seeds >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$name: $runs inputs"
    passed=$((passed + 1))
  else
    echo "$name: failed; the end of $log:"
    tail -n 40 "$log"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
