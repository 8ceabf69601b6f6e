#!/usr/bin/env bash
# Everything there is to check on a machine with a GPU, in one command: native build, all tests, compute-sanitizer,
# the promises of docs/cuda.md one by one, benches, and PyTorch on the same shapes where it is installed.
#
#   scripts/gpu-check.sh [--out FOLDER] [--minutes N] [--part NAME]...
#
# Needs nvcc, CMake and a C++ compiler; Node only for the part "node". Parts, each at most N minutes (10):
#   build tests promises bench peers memcheck racecheck node
# FOLDER (default gpu-check-<date>) gets of every part its log, PART.json (how it went) and PART.jsonl (a line for each
# thing it looked at, written at once), and summary.json. `node scripts/gpu-table.mjs FOLDER` makes a table of it.
# Exit: 0 all parts passed; 1 a part failed; 2 wrong usage; 3 nothing failed, but something was left out (summary says what).
set -uo pipefail
SELF="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"
cd "$(dirname "$SELF")/.."

PARTS=(build tests promises bench peers memcheck racecheck node)  # in the order of their worth, should time run out
OUT="" MINUTES=10 CHOSEN=()
usage() { sed -n '2,11{s/^# \{0,1\}//;p}' "$SELF" >&2; exit 2; }
while (($#)); do
  case "$1" in
    --out) OUT="${2:?--out needs a folder}"; shift 2 ;;
    --minutes) MINUTES="${2:?--minutes needs a number}"; [[ "$MINUTES" =~ ^[1-9][0-9]*$ ]] || usage; shift 2 ;;
    --part) CHOSEN+=("${2:?--part needs a name}"); shift 2 ;;
    *) usage ;;
  esac
done
((${#CHOSEN[@]})) || CHOSEN=("${PARTS[@]}")
for name in "${CHOSEN[@]}"; do [[ " ${PARTS[*]} " == *" $name "* ]] || usage; done

OUT="${OUT:-gpu-check-$(date -u +%Y-%m-%d)}"
mkdir -p "$OUT" || exit 2
OUT="$(cd "$OUT" && pwd)"
BUILD="$PWD/build/gpu"
{ mkdir -p "$BUILD" && [[ -w "$BUILD" ]]; } 2>/dev/null || BUILD="$OUT/build"
PART="${HONE_GPU_CHECK_PART:-}"  # set in the process that does one part
CHILD=""

have() { command -v "$1" >/dev/null 2>&1; }
quoted() { printf '"%s"' "$(printf '%s' "$1" | tr '\n\t\r' '   ' | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }
# A tool of the CUDA toolkit, on the PATH or where toolkits are installed.
toolkit() {
  local place
  command -v "$1" && return
  for place in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda /usr/local/cuda-* /opt/cuda; do
    for place in "$place/bin/$1" "$place/$1/$1"; do [[ -x "$place" && ! -d "$place" ]] && echo "$place" && return; done
  done
  return 1
}
# Runs a command for at most so many seconds: 124 or 137 if it was stopped. What ends this script ends it too.
limited() {
  timeout -k 5 "$@" &
  CHILD=$!
  wait "$CHILD"
  local code=$?
  CHILD=""
  return $code
}

# ---- what is here ----------------------------------------------------------------------------------------------------
DEVICE="" DRIVER="" ARCH="" NVCC="${CUDACXX:-$(toolkit nvcc)}"
if have nvidia-smi; then
  IFS=, read -r DEVICE DRIVER capability < <(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
  DRIVER="${DRIVER# }" ARCH="$(tr -d ' .' <<<"${capability:-}")"
  [[ "$ARCH" =~ ^[0-9]+$ ]] || DEVICE="" DRIVER="" ARCH=""
  [[ "$ARCH" == 90 ]] && ARCH=90a
fi
HOPPER=""  # its kernels are to be used
[[ "$ARCH" == 90a && "${HONE_CUDA_PORTABLE:-0}" == 0 ]] && HOPPER=1
# NCCL and cublasLt as pip installs them are in no folder that the loader looks into.
wheels() {
  have python3 && python3 - <<'PYTHON' 2>/dev/null
import glob, nvidia
print(":".join(folder for root in nvidia.__path__ for folder in sorted(glob.glob(root + "/*/lib"))))
PYTHON
}

# ---- parts: each prints to its log, returns 0 or 1, or prints "SKIP reason" last and returns 77 ----------------------
skip() { echo "SKIP $*"; return 77; }
left() { echo $((MINUTES * 60 - 20 - SECONDS)); }  # seconds until a part must have ended
row() { echo "{$*}" >>"$OUT/$PART.jsonl"; }

part_build() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  [[ -n "$NVCC" ]] || { skip "nvcc is neither on the PATH nor in /usr/local/cuda"; return; }
  have cmake || { skip "cmake is not on the PATH"; return; }
  local generator=() go_on=-k
  have ninja && generator=(-G Ninja) && go_on=-k0
  configure() {
    CUDACXX="$NVCC" limited "$(left)" cmake -S . -B "$BUILD" "${generator[@]}" -DHONE_TESTS=ON -DHONE_ADDON=OFF \
      -DHONE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$ARCH" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CUDA_FLAGS=-lineinfo  # the sanitizers name lines; the code is the same
  }
  configure || { echo "again, from nothing"; rm -rf "$BUILD"; configure; } || return
  limited "$(left)" cmake --build "$BUILD" -j "$(nproc)" -- $go_on  # one file that does not compile stops no other
}

built() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  compgen -G "$BUILD/test_*" >/dev/null || { skip "nothing is built: the part build did not pass"; return; }
  local folders
  folders="$(wheels)"
  [[ -n "$folders" ]] && export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folders"
  return 0
}

# The test programs of this checkout whose names fit the patterns, in the order of the patterns; none of an older build.
programs() {
  local all pattern name
  all="$(ctest --test-dir "$BUILD" -N | sed -n 's/^ *Test *#[0-9]*: /test_/p')"
  for pattern in "$@"; do
    for name in $all; do [[ "$name" == $pattern ]] && echo "$name"; done
  done | awk '!seen[$0]++'
}
HOPPER_FIRST=('test_kernels_cuda_tma' 'test_kernels_cuda_matmul' 'test_kernels_cuda_*_sm90' 'test_kernels_cuda_*')

# Runs one test program (under a prefix) and says in $status and $reason how it went. No device found, or no Hopper on a
# Hopper, is a failure: nothing was checked.
run_program() {
  local seconds="$1" program="$2" log="$OUT/$PART.one.log" code missing='no device'
  shift 2
  [[ -n "$HOPPER" ]] && missing='no device|no Hopper'
  status=failed reason=""
  [[ -x "$BUILD/$program" ]] || { reason="not built"; : >"$log"; return; }
  limited "$seconds" "$@" "$BUILD/$program" >"$log" 2>&1
  code=$?
  counts="$(grep -E '^[0-9]+ cases, ' "$log" | tail -n 1)"
  if ((code == 124 || code == 137)); then reason="stopped after $seconds s"
  elif grep -qE "^ *skipped: ($missing)" "$log"; then reason="it found $(grep -oE "$missing" "$log" | head -n 1)"
  elif ((code)); then reason="exit $code: $(grep -m 1 -E '^FAIL |SUMMARY|rror' "$log" || tail -n 1 "$log")"
  elif [[ -z "$counts" ]]; then reason="it ended without its count of cases"
  else status=passed reason="$counts"
  fi
}

# Every program of the list, each for so many seconds; the list's tail is left out when the part's time is up.
each_program() {
  local seconds="$1" list="$2" program status reason begin rest bad=0 judge=0 missed=0
  shift 2
  rm -f "$OUT/$PART.jsonl"
  [[ -n "$list" ]] || { echo "FAIL ctest lists no programs"; return 1; }
  for program in $list; do
    begin=$SECONDS rest=$(left)
    if ((rest < 10)); then status=left reason="no time" missed=$((missed + 1))
    else
      run_program $((seconds < rest ? seconds : rest)) "$program" "$@"
      [[ "$PART" == *check && "$reason" == stopped* ]] && status=left  # slow under the tool; what hangs, hangs in "tests"
      [[ "$PART" == racecheck && "$status" == failed ]] && judge_races
      case $status in failed) bad=1 ;; judge) judge=$((judge + 1)) ;; left) missed=$((missed + 1)) ;; esac
    fi
    printf '%-7s %-42s %4ss  %s\n' "$status" "$program" $((SECONDS - begin)) "$reason"
    row "\"program\": \"$program\", \"status\": \"$status\", \"seconds\": $((SECONDS - begin)), \"reason\": $(quoted "$reason")"
    [[ "$reason" == "no time" ]] || sed 's/^/    /' "$OUT/$PART.one.log"
  done
  rm -f "$OUT/$PART.one.log"
  ((bad)) && return 1
  ((missed + judge)) || return 0
  skip "$missed programs not done, $judge with reports of races that a person must judge (docs/cuda.md)"
}

part_tests() {
  built || return
  each_program 40 "$(programs 'test_core_*device*' 'test_core_cuda_*' "${HOPPER_FIRST[@]}" 'test_contract_*' 'test_*')"
}

# A checker over every kernel test: what ran outside its memory, or beside another thread. Refused calls are the tests' own.
sanitized() {
  local tool="$1" list="$2" sanitizer
  shift 2
  built || return
  sanitizer="$(toolkit compute-sanitizer)" || { skip "compute-sanitizer is neither on the PATH nor in /usr/local/cuda"; return; }
  "$sanitizer" --version | tail -n 2
  each_program 150 "$list" "$sanitizer" --tool "$tool" --error-exitcode 9 --require-cuda-init no "$@"
}
part_memcheck() {
  sanitized memcheck "$(programs "${HOPPER_FIRST[@]}" 'test_core_*device*' 'test_core_cuda_*' 'test_contract_cuda*')" --report-api-errors no
}
part_racecheck() { sanitized racecheck "$(programs "${HOPPER_FIRST[@]}" 'test_core_cuda_*')"; }
# Racecheck up to 2026.2 has false reports of barriers that a copy completes: those of a Hopper kernel are for a person.
judge_races() {
  local log="$OUT/$PART.one.log"
  grep -q 'Race reported' "$log" && ! grep 'Race reported' "$log" | grep -qv 'sm90\|:tile_kernel' && ! grep -q '^FAIL ' "$log" &&
    status=judge reason="$(grep 'RACECHECK SUMMARY' "$log" | tail -n 1)"
}

# The cases that prove a promise, by name: a case that is missing or skipped is a failure, not a pass. Those of a program
# named _sm90 are a Hopper's.
part_promises() {
  built || return
  local bad=0 program promise cases name text="" last="" kept status reason
  rm -f "$OUT/$PART.jsonl"
  while IFS='|' read -r program promise cases; do
    [[ "$program" == *_sm90 && -z "$HOPPER" ]] && continue
    if [[ "$program" != "$last" ]]; then  # once for all its promises
      run_program 60 "$program"
      text="$(cat "$OUT/$PART.one.log")" last="$program"
      echo "== $program: $status, $reason"
      [[ "$status" == passed ]] || cat "$OUT/$PART.one.log"
    fi
    for name in $cases; do
      kept=false
      grep -qx "ok   $name" <<<"$text" && ! grep -B1 -x "ok   $name" <<<"$text" | grep -q '^ *skipped: ' && kept=true
      [[ $kept == true ]] && echo "kept    $promise ($name)" || { echo "BROKEN  $promise ($program: $name)"; bad=1; }
      row "\"promise\": $(quoted "$promise"), \"case\": \"$name\", \"kept\": $kept"
    done
  done <<'LIST'
test_contract_cuda|the same bits twice|a_step_is_the_same_bits_twice_and_clips_where_the_norm_is
test_contract_cuda|alone as in a batch, graphs on as off|a_request_gets_the_same_bits_alone_and_in_a_batch_with_and_without_graphs
test_contract_cuda|weights in place as in a fresh engine|weights_taken_in_place_are_those_of_a_fresh_engine_graphs_included
test_contract_cuda|a group that shares its pages as each alone|rollouts_of_a_group_that_share_their_prompts_pages_have_the_bits_of_each_alone
test_contract_cuda|gradients as on the CPU|gradients_are_the_cpus_within_the_rounding_of_bf16
test_contract_cuda_packs|packs written by the optimizer are those of its masters|the_optimizer_writes_the_packs_that_packing_its_masters_would_give packs_meant_for_a_step_that_is_skipped_are_not_published
test_contract_engine_trainer|actor and trainer agree to the bit|engine_equals_trainer_on_a_gpu_at_every_batch_size_and_split engine_equals_trainer_on_a_gpu_after_preemption
test_contract_engine_trainer_sm90|actor and deterministic trainer agree to the bit with heads of 64 and 128|engine_equals_deterministic_trainer_on_a_hopper
test_contract_engine_trainer_sm90|actor and fast trainer agree within the bound|engine_and_fast_trainer_on_a_hopper_part_within_the_bound fast_and_deterministic_trainer_on_a_hopper_part_within_the_bound_over_many_tokens
LIST
  rm -f "$OUT/$PART.one.log"
  return $bad
}

# Rows go to bench.jsonl one by one, the table to the log. On a Hopper mma.sync comes first, in processes of its own.
part_bench() {
  built || return
  local bench name portable before bad=0 list="0:gemm 0:attention 0:lm_head 0:rows 0:model"
  [[ "$ARCH" == 90a ]] && list="1:gemm 1:attention 1:lm_head 1:model $list"
  : >"$OUT/bench.jsonl"
  for bench in $list; do
    portable="${bench%%:*}" name="${bench#*:}" before="$(wc -l <"$OUT/bench.jsonl")"
    echo "== $name$([[ $portable == 1 ]] && echo ', mma.sync')"
    [[ -x "$BUILD/bench_cuda_$name" ]] || { echo "FAIL $name: not built"; bad=1; continue; }
    (($(left) > 10)) || { echo "FAIL $name: no time left"; bad=1; continue; }
    HONE_CUDA_PORTABLE=$portable limited $(($(left) < 150 ? $(left) : 150)) "$BUILD/bench_cuda_$name" --json >>"$OUT/bench.jsonl" ||
      { echo "FAIL $name: exit $?"; bad=1; }
    (($(wc -l <"$OUT/bench.jsonl") > before + 1)) || { echo "FAIL $name: it measured nothing"; bad=1; }
  done
  return $bad
}

part_peers() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  have python3 || { skip "python3 is not on the PATH"; return; }
  python3 -c 'import torch; assert torch.cuda.is_available()' || { skip "python3 has no torch that sees the GPU"; return; }
  limited "$(left)" python3 bench/cuda/peers.py --json "$OUT/peers.jsonl"
  local code=$?
  ((code == 124)) && { skip "not all were measured in $MINUTES minutes"; return; }
  return $code
}

part_node() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  have node || { skip "node is not on the PATH"; return; }
  [[ -d node_modules && -d dist ]] || { skip "node_modules and dist are not here: npm ci, or carry them along"; return; }
  node dist/lib/cli/main.js doctor && node dist/recipes/quickstart.js --smoke --device cuda --dir "$OUT/quickstart" &&
    HONE_DEVICE=cuda HONE_TEST_NATIVE=0 node node_modules/vitest/vitest.mjs run test/native
}

# ---- run -------------------------------------------------------------------------------------------------------------
# A part runs in a process of its own, so that its time can be limited with everything it started.
stop() { [[ -n "$CHILD" ]] && kill "$CHILD" 2>/dev/null && wait "$CHILD"; exit 143; }
if [[ -n "$PART" ]]; then trap stop INT TERM; "part_$PART"; exit $?; fi

# What happened to each part that has run so far, here or in an earlier call with the same folder.
summarize() {
  local rows=() name
  for name in "${PARTS[@]}"; do [[ -s "$OUT/$name.json" ]] && rows+=("$(cat "$OUT/$name.json")"); done
  {
    printf '{"date": "%s", "device": %s, "driver": %s, "architecture": %s, "nvcc": %s, "parts": [' \
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(quoted "$DEVICE")" "$(quoted "$DRIVER")" "$(quoted "$ARCH")" \
      "$(quoted "$([[ -n "$NVCC" ]] && "$NVCC" --version | tail -n 1)")"
    (IFS=,; printf '%s' "${rows[*]-}")
    printf ']}\n'
  } >"$OUT/summary.json"
}

FAILED=0 SKIPPED=0
run_part() {
  local name="$1" log="$OUT/$1.log" begin=$SECONDS code status reason=""
  HONE_GPU_CHECK_PART="$name" limited $((MINUTES * 60)) "$SELF" --out "$OUT" --minutes "$MINUTES" >"$log" 2>&1
  code=$?
  case $code in
    0) status=passed ;;
    77) status=skipped; reason="$(grep '^SKIP ' "$log" | tail -n 1 | cut -c6-)"; SKIPPED=1 ;;
    124 | 137) status=failed; reason="stopped after $MINUTES minutes"; FAILED=1 ;;
    130 | 143) status=failed; reason="interrupted"; FAILED=1 ;;
    *) status=failed; FAILED=1; reason="$(grep -m 1 -E '^(failed |FAIL|BROKEN|CMake Error)' "$log" || tail -n 1 "$log")"
       reason="exit $code: $(tr -s ' ' <<<"$reason")" ;;
  esac
  printf '%-10s %-8s %4ss  %s\n' "$name" "$status" $((SECONDS - begin)) "$reason"
  printf '{"part": "%s", "status": "%s", "seconds": %s, "reason": %s}\n' "$name" "$status" $((SECONDS - begin)) \
    "$(quoted "$reason")" >"$OUT/$name.json"
  summarize
}

INTERRUPTED=""
interrupt() { INTERRUPTED=1; [[ -n "$CHILD" ]] && kill "$CHILD" 2>/dev/null; }
trap interrupt INT TERM
echo "device: ${DEVICE:-none}  driver: ${DRIVER:-none}  nvcc: ${NVCC:-none}  out: $OUT"
for name in "${PARTS[@]}"; do
  [[ -z "$INTERRUPTED" && " ${CHOSEN[*]} " == *" $name "* ]] && run_part "$name"
done
[[ -n "$INTERRUPTED" ]] && exit 130
((FAILED)) && exit 1
((SKIPPED)) && exit 3
exit 0
