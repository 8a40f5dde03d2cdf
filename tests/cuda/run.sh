#!/usr/bin/env bash
# Runs what needs a GPU, from the folder that tools/pack_cuda_test.sh makes. Logs go to $1 (default: ./logs).
# The last lines are a summary: suite, tests that passed, tests that failed.
set -uo pipefail

cd "$(dirname "$0")"
logs="${1:-logs}"
mkdir -p "$logs"
logs="$(cd "$logs" && pwd)"
export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export EBB_CUDA_PLUGIN="$PWD/lib/libebb_cuda.so"
export EBB_EXPECTED_LIST="$PWD/expected/list.txt" EBB_FILES="$PWD/files"
export EBB_TORCH_GRADIENTS="$PWD/gradients.jsonl"
export EBB_TEST_DEVICE="${EBB_TEST_DEVICE:-cuda:0}"

# cuBLAS and cuDNN where the system's loader does not know them: those of Python's packages.
if command -v python3 >/dev/null; then
  folders="$(python3 - 2>/dev/null <<'PY'
import glob, site, sys
roots = site.getsitepackages() + [p for p in sys.path if p.endswith("site-packages")]
found = {f for root in roots for f in glob.glob(root + "/nvidia/*/lib")}
print(":".join(sorted(found)))
PY
)"
  export EBB_CUDA_LIBRARIES="${EBB_CUDA_LIBRARIES:-}${EBB_CUDA_LIBRARIES:+:}$folders"
fi
nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used --format=csv 2>/dev/null

failed=0
summary=""
suite() { # NAME PROGRAM ARGUMENTS...
  local name="$1" program="$2"
  shift 2
  [[ -e $program ]] || return 0
  local start=$SECONDS
  timeout "${SUITE_SECONDS:-240}" "./$program" --gtest_brief=1 "$@" >"$logs/$name.log" 2>&1
  local status=$?
  local passed broken
  passed="$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$logs/$name.log" | tail -n 1)"
  broken="$(grep -c '^\[  FAILED  \] [A-Za-z]*\.[^ ]* (' "$logs/$name.log")"
  summary+="$(printf '%-14s passed %5s  failed %4s  exit %3d  %4d s' "$name" "${passed:-?}" "$broken" "$status" $((SECONDS - start)))"$'\n'
  [[ $status -eq 0 ]] || failed=1
  grep '^\[  FAILED  \]' "$logs/$name.log" | sort -u | head -n 400
}

# Each test in a process of its own, some at once: one that takes the device down takes nothing else along.
apart() { # NAME PROGRAM FILTER
  local name="$1" program="$2" start=$SECONDS
  rm -rf "$logs/$name"
  mkdir -p "$logs/$name"
  "./$program" --gtest_list_tests "--gtest_filter=$3" |
    awk '/^[^ ]/ { suite = $1; next } /^ / { print suite $1 }' |
    xargs -P "${PROCESSES:-8}" -I {} bash -c \
      'log="$1/${2//\//_}.log"; timeout 120 "./$0" --gtest_brief=1 "--gtest_filter=$2" >"$log" 2>&1 && mv "$log" "$log.passed"' \
      "$program" "$logs/$name" {}
  local passed broken
  passed=$(find "$logs/$name" -name '*.passed' | wc -l)
  broken=$(find "$logs/$name" -name '*.log' | wc -l)
  for log in "$logs/$name"/*.log; do
    [[ -e $log ]] || continue
    echo "[  FAILED  ] $(basename "$log" .log)"
    grep -v -e '^Running main' -e '^unknown file' -e '^\[' -e '^$' "$log" | head -n "${LINES_OF_EACH:-6}" | cut -c 1-400
  done
  find "$logs/$name" -name '*.passed' -delete
  tar -C "$logs" -czf "$logs/$name.tar.gz" "$name" && rm -rf "${logs:?}/$name"
  summary+="$(printf '%-14s passed %5d  failed %4d            %4d s' "$name" "$passed" "$broken" $((SECONDS - start)))"$'\n'
  [[ $broken -eq 0 ]] || failed=1
}

apart conformance test_conformance "${FILTER:-*}"
suite gpu test_cuda "--gtest_filter=Gpu.*"

from_node() {
  local start=$SECONDS status
  timeout 120 node/node --expose-gc node_test.cjs >"$logs/node.log" 2>&1
  status=$?
  count() { sed -n "s/^# $1 //p" "$logs/node.log" | tail -n 1; }
  summary+="$(printf '%-14s passed %5s  failed %4s  exit %3d  %4d s' node "$(count pass)" "$(count fail)" "$status" $((SECONDS - start)))"$'\n'
  [[ $status -eq 0 ]] || failed=1
  grep -A 14 '^not ok' "$logs/node.log" | head -n 80
}
specs() { # off, on, or untaped: off, with TensorFlow.js's own gradients
  local start=$SECONDS status counted result="$logs/specs_$1.json"
  (cd node && EBB_DEVICE="$EBB_TEST_DEVICE" timeout 400 ./node --expose-gc specs/child.cjs "$PWD/build/specs/specs.cjs" \
    ebb-cuda "${1/untaped/off}" "$result") >"$logs/specs_$1.log" 2>&1
  status=$?
  counted="$(python3 count_specs.py "$result" "$EBB_TAPE")" || failed=1
  summary+="$(printf '%-14s %s  exit %3d  %4d s' "specs $1" "$counted" "$status" $((SECONDS - start)))"$'\n'
  [[ $status -eq 0 ]] || failed=1
}
if [[ -x node/node ]]; then
  from_node
  for mode in ${SPEC_MODES:-off on untaped}; do
    export EBB_TAPE=1
    if [[ $mode == untaped ]]; then EBB_TAPE=0; fi
    specs "$mode"
  done
fi

echo "$summary"
exit $failed
