#!/usr/bin/env bash
# Everything there is to check on a machine with a GPU, in one command: native build, the tests that a device decides,
# compute-sanitizer, the promises of docs/how-to/cuda.md one by one, benches, and PyTorch on the same shapes where it is installed.
#
#   scripts/gpu-check.sh [--out FOLDER] [--prebuilt ARCHIVE] [--minutes N] [--total N] [--part NAME]...
#
# ARCHIVE is what scripts/gpu-pack.mjs made of these sources. The part "build" takes its programs instead of compiling
# them, unless they do not fit the device or the sources; the part "node" takes its Node and its package.
# Needs nvcc, CMake and a C++ compiler; Node only for the part "node". Parts, each at most N minutes (8), all of them at
# most --total minutes (no limit):
#   build tests promises portable bench node peers memcheck racecheck
# FOLDER (default gpu-check-<date>) gets two files, complete at any time even if the script is killed: summary.json, and
# gpu-check.tar.gz with every part's log, PART.json (how it went) and PART.jsonl (a line for each thing it looked at). A
# folder that has them already is added to. `node scripts/gpu-table.mjs FOLDER...` makes a table of it.
# Exit: 0 all parts passed; 1 a part failed; 2 wrong usage; 3 nothing failed, but something was left out (summary says
# what; "peers" and "node" may be left out).
set -uo pipefail
SELF="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"
cd "$(dirname "$SELF")/.."

PARTS=(build tests promises portable bench node peers memcheck racecheck)  # in the order of their worth, should time run out
OPTIONAL="peers node"
OUT="" MINUTES=8 TOTAL="" CHOSEN=() PREBUILT=""
usage() { sed -n '2,16{s/^# \{0,1\}//;p}' "$SELF" >&2; exit 2; }
# The files that the programs are compiled from.
sources() { find CMakeLists.txt csrc test/csrc bench/cuda -type f 2>/dev/null | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16; }
is_minutes() { [[ "$1" =~ ^[0-9]+(\.[0-9]+)?$ && "$1" =~ [1-9] ]]; }
seconds_of() { awk -v m="$1" 'BEGIN { s = int(m * 60); print s < 1 ? 1 : s }'; }
while (($#)); do
  case "$1" in
    --out) OUT="${2:?--out needs a folder}"; shift 2 ;;
    --minutes) MINUTES="${2:?--minutes needs a number}"; is_minutes "$MINUTES" || usage; shift 2 ;;
    --total) TOTAL="${2:?--total needs a number}"; is_minutes "$TOTAL" || usage; shift 2 ;;
    --prebuilt) PREBUILT="${2:?--prebuilt needs an archive}"; [[ -r "$PREBUILT" ]] || usage; PREBUILT="$(realpath "$PREBUILT")"; shift 2 ;;
    --sources) sources; exit ;;  # for gpu-pack.mjs
    --part) CHOSEN+=("${2:?--part needs a name}"); shift 2 ;;
    *) usage ;;
  esac
done
ASKED=()
[[ -n "$PREBUILT" ]] && ASKED=(--prebuilt "$PREBUILT")
for name in "${CHOSEN[@]}"; do ASKED+=(--part "$name"); done
((${#CHOSEN[@]})) || CHOSEN=("${PARTS[@]}")
for name in "${CHOSEN[@]}"; do [[ " ${PARTS[*]} " == *" $name "* ]] || usage; done
chosen() { [[ " ${CHOSEN[*]} " == *" $1 "* ]]; }

OUT="${OUT:-gpu-check-$(date -u +%Y-%m-%d)}"
mkdir -p "$OUT" || exit 2
OUT="$(cd "$OUT" && pwd)"
BUILD="$PWD/build/gpu"
{ mkdir -p "$BUILD" && [[ -w "$BUILD" ]]; } 2>/dev/null || BUILD="$OUT/build"
PACK="$BUILD/prebuilt"  # where the archive is unpacked
# Set in the process that does one part: which, when it must have ended, and who waits for it.
PART="${HONE_GPU_CHECK_PART:-}" UNTIL="${HONE_GPU_CHECK_UNTIL:-0}"
MAIN="${HONE_GPU_CHECK_MAIN:-$$}"
WORK="${HONE_GPU_CHECK_WORK:-${BUILD%/*}/gpu-check/$$}"  # what the archive is made of
CHILD=""

have() { command -v "$1" >/dev/null 2>&1; }
# Writes a JSON string without starting a process: the script calls this hundreds of times.
quoted() {
  local text="${1//[$'\n\t\r']/ }" backslash='\'
  text="${text//[[:cntrl:]]/}"
  text=${text//"$backslash"/"$backslash$backslash"}
  text=${text//'"'/"$backslash\""}
  printf '"%s"' "$text"
}
# Finds a tool of the CUDA toolkit, on the PATH or where toolkits are installed.
toolkit() {
  local place
  command -v "$1" && return
  for place in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda /usr/local/cuda-* /opt/cuda; do
    for place in "$place/bin/$1" "$place/$1/$1"; do [[ -x "$place" && ! -d "$place" ]] && echo "$place" && return; done
  done
  return 1
}
# Runs a command for at most so many seconds: 124 or 137 if it was stopped. What ends this script ends it too. A process
# that waits for the driver cannot be ended even by SIGKILL: then the inner timeout is, and the process left behind.
limited() {
  (($1 > 0)) || return 124
  timeout -s KILL $(($1 + 10)) timeout -k 5 "$@" &
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
# pip installs NCCL and cublasLt in folders that the loader does not search.
wheels() {
  have python3 && python3 - <<'PYTHON' 2>/dev/null
import glob, nvidia
print(":".join(folder for root in nvidia.__path__ for folder in sorted(glob.glob(root + "/*/lib"))))
PYTHON
}

# ---- parts: each prints to its log, returns 0 or 1, or prints "SKIP reason" last and returns 77 ----------------------
skip() { echo "SKIP $*"; return 77; }
left() { echo $((UNTIL - $(date +%s))); }  # seconds until a part must have ended
least() { echo $(($1 < $2 ? $1 : $2)); }
most() { echo "${HONE_GPU_CHECK_SECONDS:-$1}"; }  # seconds for one program; a rehearsal has less patience
row() { echo "{$*}" >>"$WORK/$PART.jsonl"; }
# Writes the archive completely before it gets its name. Of a log that still grows (status 1) it has what was written.
pack() {
  tar -C "$WORK" -czf "$OUT/.gpu-check.$BASHPID" . 2>/dev/null
  (($? <= 1)) && mv -f "$OUT/.gpu-check.$BASHPID" "$OUT/gpu-check.tar.gz"
}
# Packs again and again while a part runs, because a bench, a build and the peers take long.
pack_now_and_then() { while sleep 5 && kill -0 "$MAIN" 2>/dev/null; do pack; done; }
# Between two things of a part: what was found is packed, and a part whose caller was killed goes no further.
checkpoint() { pack; kill -0 "$MAIN" 2>/dev/null || exit 143; }

# Unpacks the archive and says whether its programs can be run on this device, and are of these sources.
unpack() {
  rm -rf "$PACK" && mkdir -p "$PACK" || return
  if have xz; then tar -C "$PACK" -xJf "$PREBUILT"
  else python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$PREBUILT" "$PACK"
  fi || { echo "$PREBUILT cannot be unpacked"; return 1; }
  local architecture="" made="" program
  { read -r _ architecture && read -r _ made; } <"$PACK/manifest"
  [[ "$architecture" == "$ARCH" ]] || { echo "the archive is for sm_$architecture, this device is sm_$ARCH"; return 1; }
  [[ "$made" == "$(sources)" ]] || { echo "the archive was made of other sources ($made) than these ($(sources))"; return 1; }
  for program in "$PACK"/test_*; do break; done
  ! ldd "$program" 2>&1 | grep 'not found' || { echo "its programs do not start on this machine"; return 1; }
  echo "taken from the archive: $(wc -l <"$PACK/device-tests") tests, benches, $("$PACK/bin/node" --version 2>&1 | tail -n 1)"
}

part_build() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  if [[ -n "$PREBUILT" ]]; then
    unpack && return
    echo "so they are compiled"; rm -rf "$PACK"
  fi
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
  local targets="" bad=0
  { chosen tests || chosen promises || chosen portable || chosen memcheck || chosen racecheck; } && targets=device_tests
  chosen bench && targets+=" device_benches"
  for target in ${targets:-device_tests device_benches}; do  # one file that does not compile stops no other
    limited "$(left)" cmake --build "$BUILD" -j "$(nproc)" --target "$target" -- $go_on || bad=1
    echo "== $target: $SECONDS s since the start"
  done
  return $bad
}

built() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  [[ -n "$PREBUILT" && -s "$PACK/device-tests" ]] && BUILD="$PACK"
  compgen -G "$BUILD/test_*" >/dev/null || { skip "nothing is built: the part build did not pass"; return; }
  local folders
  folders="$(wheels)"
  [[ -n "$folders" ]] && export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folders"
  return 0
}

# The test programs of this checkout that ask for a device and whose names fit the patterns, in the order of the patterns;
# none of an older build.
programs() {
  local all pattern name
  if [[ -s "$BUILD/device-tests" ]]; then all="$(sed 's/^/test_/' "$BUILD/device-tests")"
  else all="$(ctest --test-dir "$BUILD" -N -L device 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: /test_/p')"
  fi
  for pattern in "$@"; do
    for name in $all; do [[ "$name" == $pattern ]] && echo "$name"; done
  done | awk '!seen[$0]++'
}
# The tests that only a device can decide come first.
HOPPER_FIRST=('test_kernels_cuda_tma' 'test_kernels_cuda_wgmma_sm90' 'test_kernels_cuda_matmul_release_sm90'
  'test_kernels_cuda_matmul_sm90' 'test_kernels_cuda_lm_head_device_sm90' 'test_kernels_cuda_early' 'test_kernels_cuda_matmul' 'test_kernels_cuda_*_sm90'
  'test_kernels_cuda_*')

# Runs one test program (under a prefix) and says in $status and $reason how it went. No device found, or no Hopper on a
# Hopper, is a failure: nothing was checked.
run_program() {
  local seconds="$1" program="$2" log="$WORK/$PART/$2.log" code missing='no device$'
  shift 2
  [[ -n "$HOPPER" ]] && missing='no device|no Hopper'
  status=failed reason=""
  mkdir -p "$WORK/$PART"
  [[ -x "$BUILD/$program" ]] || { reason="not built"; : >"$log"; return; }
  limited "$seconds" "$@" "$BUILD/$program" >"$log" 2>&1
  code=$?
  counts="$(grep -E '^[0-9]+ cases, ' "$log" | tail -n 1)"
  if ((code == 124 || code == 137)); then reason="stopped after $seconds s, $(grep -c '^ok  ' "$log") cases were done"
  elif grep -qE "^ *skipped: ($missing)" "$log"; then reason="it found $(grep -oE "no device|no Hopper" "$log" | head -n 1)"
  elif ((code > 128)); then reason="exit $code: signal $((code - 128)), $(grep -c '^ok  ' "$log") cases were done"
  elif ((code)); then reason="exit $code: $(grep -m 1 -E '^FAIL |SUMMARY|rror' "$log" || tail -n 1 "$log")"
  elif [[ -z "$counts" ]]; then reason="it ended without its count of cases"
  else status=passed reason="$counts"
  fi
}

# What the program noted, as a JSON list.
notes_of() {
  local line list=""
  while IFS= read -r line; do list+="${list:+, }$(quoted "$line")"; done < <(sed -n 's/^ *noted: //p' "$1")
  printf '[%s]' "$list"
}

# Runs every program of the list, each for so many seconds; leaves out the rest when the part's time is up.
each_program() {
  local seconds="$1" list="$2" program status reason begin rest bad=0 judge=0 missed=0
  shift 2
  rm -rf "$WORK/$PART.jsonl" "${WORK:?}/$PART"
  [[ -n "$list" ]] || { echo "FAIL ctest lists no programs"; return 1; }
  for program in $list; do
    begin=$SECONDS rest=$(left)
    if ((rest < 2)); then status=left reason="no time" missed=$((missed + 1))
    else
      run_program "$(least "$seconds" "$rest")" "$program" "$@"
      if [[ "$PART" == *check ]]; then
        under_checker && { skip "$(basename "$1") does not work on this machine"; return; }
      elif [[ "$status" == failed && "$reason" == stopped* ]] && ((rest < seconds)); then status=left
      fi
      case $status in failed) bad=1 ;; judge) judge=$((judge + 1)) ;; left) missed=$((missed + 1)) ;; esac
    fi
    printf '%-7s %-42s %4ss  %s\n' "$status" "$program" $((SECONDS - begin)) "$reason"
    row "\"program\": \"$program\", \"status\": \"$status\", \"seconds\": $((SECONDS - begin)), \"reason\": $(quoted "$reason"), \"notes\": $(notes_of "$WORK/$PART/$program.log" 2>/dev/null)"
    [[ "$status" == passed || "$reason" == "no time" ]] || sed 's/^/    /' "$WORK/$PART/$program.log"
    checkpoint
  done
  ((bad)) && return 1
  ((missed + judge)) || return 0
  skip "$missed programs not done, $judge with reports of races that a person must judge (docs/how-to/cuda.md)"
}
# Says whether the checker cannot work on this machine; otherwise corrects $status of a program that ran under it.
under_checker() {
  grep -q 'Device not supported' "$WORK/$PART/$program.log" && return 0
  [[ "$reason" == "it found no device" ]] && return 0
  [[ "$reason" == stopped* ]] && status=left  # slow under the tool; what hangs, hangs in "tests"
  [[ "$PART" == racecheck && "$status" == failed ]] && judge_races
  return 1
}

part_tests() {
  built || return
  each_program "$(most 40)" "$(programs 'test_core_*device*' 'test_core_cuda_*' "${HOPPER_FIRST[@]}" 'test_contract_*' 'test_*')"
}

# A checker over every kernel test: what ran outside its memory, or beside another thread. Refused calls are the tests' own.
sanitized() {
  local tool="$1" list="$2" sanitizer
  shift 2
  built || return
  sanitizer="$(toolkit compute-sanitizer)" || { skip "compute-sanitizer is neither on the PATH nor in /usr/local/cuda"; return; }
  "$sanitizer" --version | tail -n 2
  each_program "$(most 150)" "$list" "$sanitizer" --tool "$tool" --error-exitcode 9 --require-cuda-init no "$@"
}
part_memcheck() {
  sanitized memcheck "$(programs "${HOPPER_FIRST[@]}" 'test_core_*device*' 'test_core_cuda_*' 'test_contract_cuda*')" --report-api-errors no
}
part_racecheck() { sanitized racecheck "$(programs "${HOPPER_FIRST[@]}" 'test_core_cuda_*')"; }
# Racecheck up to 2026.2 has false reports of barriers that a copy completes: those of a Hopper kernel are for a person.
judge_races() {
  local log="$WORK/$PART/$program.log"
  grep -q 'Race reported' "$log" && ! grep 'Race reported' "$log" | grep -qv 'sm90\|:tile_kernel' && ! grep -q '^FAIL ' "$log" &&
    status=judge reason="$(grep 'RACECHECK SUMMARY' "$log" | tail -n 1)"
}

# The cases that prove a promise, by name: a case that is missing or skipped is a failure, not a pass. Those of a program
# named _sm90 are a Hopper's. What "tests" has just run is not run again.
part_promises() {
  built || return
  rm -rf "$WORK/$PART.jsonl" "${WORK:?}/$PART"
  each_promise "$(chosen tests && echo "$WORK/tests")"
}
each_promise() {
  local seen="$1" bad=0 program promise cases name text="" last="" kept status reason
  while IFS='|' read -r program promise cases; do
    [[ "$program" == *_sm90 && -z "$HOPPER" ]] && continue
    if [[ "$program" != "$last" ]]; then  # once for all its promises
      last="$program"
      if [[ -z "$seen" || ! -s "$seen/$program.log" ]] ||
        grep -qs "\"$program\", \"status\": \"left\"" "$seen.jsonl"; then  # its time ended: that breaks no promise
        run_program "$(least "$(left)" "$(most 60)")" "$program"
        echo "== $program: $status, $reason"
        [[ "$status" == passed ]] || cat "$WORK/$PART/$program.log"
        checkpoint
        text="$(cat "$WORK/$PART/$program.log")"
      else text="$(cat "$seen/$program.log")"
      fi
    fi
    for name in $cases; do
      kept=false
      grep -qx "ok   $name" <<<"$text" && ! grep -B1 -x "ok   $name" <<<"$text" | grep -q '^ *skipped: ' && kept=true
      [[ $kept == true ]] && echo "kept    $promise ($name)" || { echo "BROKEN  $promise ($program: $name)"; bad=1; }
      row "\"promise\": $(quoted "$promise"), \"case\": \"$name\", \"kept\": $kept"
    done
  done <<'LIST'
test_kernels_cuda_matmul_release_sm90|a release's Hopper code is what a Hopper runs|a_release_runs_its_hopper_code_on_a_hopper a_release_multiplies_by_both_kernels
test_kernels_cuda_wgmma_sm90|an element of wgmma has the same bits wherever it lies|an_element_of_wgmma_has_the_same_bits_at_every_width_column_and_row
test_kernels_cuda_matmul_sm90|a product's row has the same bits at every number of rows|a_row_has_the_same_bits_at_every_number_of_rows_and_an_element_in_every_column
test_kernels_cuda_matmul_sm90|rings of persistent blocks lose nothing|rings_of_persistent_blocks_are_exact_on_integers_over_many_tiles
test_kernels_cuda_experts_product|a row of an expert has the bits of a product of that row alone|a_pair_has_the_bits_of_linear_on_its_row_alone
test_kernels_cuda_lm_head_device_sm90|a row of the head has the same bits among any number of rows|a_row_of_the_head_has_the_same_bits_among_any_number_of_rows
test_kernels_cuda_lm_head_device_sm90|the f32 head is right every time|the_f32_head_is_right_a_hundred_times
test_kernels_cuda_early|kernels that begin early leave what they leave one after the other|a_chain_of_kernels_that_begin_early_has_the_result_of_one_after_the_other
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
  return $bad
}

# The portable kernels after Hopper's that failed, so that one call says whether the machine can be used without them. In a
# call without those parts it is asked for by name, and always done.
part_portable() {
  built || return
  [[ -n "$HOPPER" ]] || { echo "the kernels of this device are the portable ones"; return 0; }
  if { chosen tests || chosen promises; } && ! grep -qsE '"status": "failed"|"kept": false' "$WORK/tests.jsonl" "$WORK/promises.jsonl"; then
    echo "not needed: Hopper's kernels passed"
    return 0
  fi
  export HONE_CUDA_PORTABLE=1
  HOPPER=""
  local bad=0
  each_program "$(most 40)" "$(programs 'test_kernels_cuda_*' 'test_contract_*' | grep -v _sm90)" || bad=$?
  each_promise "$WORK/portable" || bad=1
  return $bad
}

# Rows go to bench.jsonl one by one, the table to the log. On a Hopper mma.sync comes last, in processes of its own.
part_bench() {
  built || return
  local bench name portable before code seconds bad=0 list="0:gemm 0:attention 0:lm_head 0:model 0:rows"
  [[ "$ARCH" == 90a ]] && list+=" 1:gemm 1:attention 1:lm_head 1:model"
  : >"$WORK/bench.jsonl"
  for bench in $list; do
    portable="${bench%%:*}" name="${bench#*:}" before="$(wc -l <"$WORK/bench.jsonl")"
    echo "== $name$([[ $portable == 1 ]] && echo ', mma.sync')"
    [[ -x "$BUILD/bench_cuda_$name" ]] || { echo "FAIL $name: not built"; bad=1; continue; }
    seconds=$(least "$(left)" "$(most 150)")
    ((seconds > 0)) || { echo "left $name: no time"; ((bad)) || bad=77; continue; }
    HONE_CUDA_PORTABLE=$portable limited "$seconds" "$BUILD/bench_cuda_$name" --json >>"$WORK/bench.jsonl"
    code=$?
    if ((code == 124 || code == 137)) && ((seconds < $(most 150))); then echo "left $name: its time ended"; ((bad)) || bad=77
    elif ((code == 124 || code == 137)); then echo "FAIL $name: stopped after $seconds s"; bad=1
    elif ((code)); then echo "FAIL $name: exit $code"; bad=1
    elif (($(wc -l <"$WORK/bench.jsonl") <= before + 1)); then echo "FAIL $name: it measured nothing"; bad=1
    fi
    [[ -z "$(tail -c 1 "$WORK/bench.jsonl")" ]] || echo >>"$WORK/bench.jsonl"  # a line that was cut off stays alone
    checkpoint
  done
  ((bad == 77)) && { skip "no time for all benches"; return; }
  return $bad
}

part_peers() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  have python3 || { skip "python3 is not on the PATH"; return; }
  python3 -c 'import torch; assert torch.cuda.is_available()' || { skip "python3 has no torch that sees the GPU"; return; }
  limited "$(left)" python3 bench/cuda/peers.py --json "$WORK/peers.jsonl"
  local code=$?
  ((code == 124 || code == 137)) && { skip "not all were measured in its time"; return; }
  return $code
}

# Does what a user does, from beginning to end; gpu-end-to-end.mjs writes the rows.
part_node() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  local package=. node
  [[ -n "$PREBUILT" && -x "$PACK/bin/node" ]] && PATH="$PACK/bin:$PATH" && package="$PACK/hone"
  node="$(command -v node)" || { skip "node is not on the PATH"; return; }
  [[ -d "$package/node_modules" && -d "$package/dist" ]] || { skip "node_modules and dist are not here: npm ci, or --prebuilt"; return; }
  rm -f "$WORK/node.jsonl"
  limited "$(left)" "$node" scripts/gpu-end-to-end.mjs --out "$WORK/node.jsonl" --package "$package" --work "$BUILD/end-to-end" || return
  [[ "$package" == . && -d node_modules/vitest ]] || return 0
  HONE_DEVICE=cuda HONE_TEST_NATIVE=0 node node_modules/vitest/vitest.mjs run test/native
}

# ---- run -------------------------------------------------------------------------------------------------------------
# A part runs in a process of its own, so that its time limit also ends everything it started.
stop() { [[ -n "$CHILD" ]] && kill "$CHILD" 2>/dev/null && wait "$CHILD"; exit 143; }
if [[ -n "$PART" ]]; then trap stop INT TERM; "part_$PART"; exit $?; fi

# What happened to each part that has run so far, here or in an earlier call with the same folder; then the archive.
summarize() {
  local rows=() name
  for name in "${PARTS[@]}"; do [[ -s "$WORK/$name.json" ]] && rows+=("$(<"$WORK/$name.json")"); done
  {
    printf '{"date": "%s", "device": %s, "driver": %s, "architecture": %s, "nvcc": %s, "parts": [' \
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(quoted "$DEVICE")" "$(quoted "$DRIVER")" "$(quoted "$ARCH")" "$(quoted "$NVCC_SAYS")"
    (IFS=,; printf '%s' "${rows[*]-}")
    printf ']}\n'
  } >"$WORK/summary.json"
  cp "$WORK/summary.json" "$OUT/.summary.$$" && mv -f "$OUT/.summary.$$" "$OUT/summary.json"
  pack
}
part_row() { printf '{"part": "%s", "status": "%s", "seconds": %s, "reason": %s}\n' "$1" "$2" "$3" "$(quoted "$4")" >"$WORK/$1.json"; }

FAILED=0 SKIPPED=0
run_part() {
  local name="$1" log="$WORK/$1.log" begin=$SECONDS code status reason="" seconds margin
  seconds=$(seconds_of "$MINUTES")
  [[ -n "$TOTAL" ]] && ((DEADLINE - $(date +%s) < seconds)) && seconds=$((DEADLINE - $(date +%s)))
  margin=$((seconds / 4 < 15 ? seconds / 4 : 15))  # for a part to stop by itself
  if ((seconds < 4)); then
    code=77; echo "SKIP no time left in this call" >"$log"
  else
    part_row "$name" running 0 "it had begun when this was written"
    summarize
    pack_now_and_then >/dev/null 2>&1 &
    local packer=$!
    HONE_GPU_CHECK_PART="$name" HONE_GPU_CHECK_UNTIL=$(($(date +%s) + seconds - margin)) HONE_GPU_CHECK_WORK="$WORK" \
      HONE_GPU_CHECK_MAIN=$$ limited "$seconds" "$SELF" --out "$OUT" "${ASKED[@]}" >"$log" 2>&1
    code=$?
    kill "$packer" 2>/dev/null; wait "$packer" 2>/dev/null
    rm -f "$OUT/.gpu-check.$packer"
  fi
  case $code in
    0) status=passed ;;
    77) status=skipped; reason="$(grep '^SKIP ' "$log" | tail -n 1 | cut -c6-)"
        [[ " $OPTIONAL " == *" $name "* ]] || SKIPPED=1 ;;
    124 | 137) status=failed; reason="stopped after $seconds s"; FAILED=1 ;;
    130 | 143) status=failed; reason="interrupted"; FAILED=1 ;;
    *) status=failed; FAILED=1; reason="$(grep -m 1 -E '^(failed |FAIL|BROKEN|CMake Error)' "$log" || tail -n 1 "$log")"
       reason="exit $code: $(tr -s ' ' <<<"$reason")" ;;
  esac
  printf '%-10s %-8s %4ss  %s\n' "$name" "$status" $((SECONDS - begin)) "$reason"
  [[ "$status" == passed ]] || grep -E '^(failed |judge |left |FAIL|BROKEN|CMake Error)' "$log" | head -n 30 | sed 's/^/    /'
  part_row "$name" "$status" $((SECONDS - begin)) "$reason"
  summarize
}

INTERRUPTED=""
interrupt() { INTERRUPTED=1; [[ -n "$CHILD" ]] && kill "$CHILD" 2>/dev/null; }
trap interrupt INT TERM
for place in "${WORK%/*}"/*; do kill -0 "${place##*/}" 2>/dev/null || rm -rf "$place"; done  # of calls that were killed
mkdir -p "$WORK" || exit 2
trap 'rm -rf "$WORK"' EXIT
[[ -s "$OUT/gpu-check.tar.gz" ]] && tar -C "$WORK" -xzf "$OUT/gpu-check.tar.gz"
rm -f "$OUT"/.gpu-check.* "$OUT"/.summary.*
NVCC_SAYS="$([[ -n "$NVCC" ]] && "$NVCC" --version | tail -n 1)"
DEADLINE=$(($(date +%s) + $(seconds_of "${TOTAL:-0}")))
echo "device: ${DEVICE:-none}  driver: ${DRIVER:-none}  nvcc: ${NVCC:-none}  out: $OUT"
for name in "${PARTS[@]}"; do
  [[ -z "$INTERRUPTED" ]] && chosen "$name" && run_part "$name"
done
[[ -n "$INTERRUPTED" ]] && exit 130
((FAILED)) && exit 1
((SKIPPED)) && exit 3
exit 0
