#!/usr/bin/env bash
# Everything there is to check on a machine with a GPU, in one command: native build, all tests, compute-sanitizer,
# the promises of docs/cuda.md one by one, benches, and PyTorch on the same shapes where it is installed.
#
#   scripts/gpu-check.sh [--out FOLDER] [--minutes N] [--part NAME]...
#
# Needs nvcc, CMake and a C++ compiler; Node only for the part "node". Parts, each at most N minutes (10):
#   build tests memcheck racecheck promises bench peers node
# FOLDER (default gpu-check-<date>) gets summary.json, a log of every part, and the benches' JSON.
# Exit: 0 all parts passed; 1 a part failed; 2 wrong usage; 3 nothing failed, but a part was skipped (summary says why).
set -uo pipefail
SELF="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"
cd "$(dirname "$SELF")/.."

PARTS=(build tests memcheck racecheck promises bench peers node)
OUT="" MINUTES=10 CHOSEN=()
usage() { sed -n '2,10{s/^# \{0,1\}//;p}' "$SELF" >&2; exit 2; }
while (($#)); do
  case "$1" in
    --out) OUT="${2:?--out needs a folder}"; shift 2 ;;
    --minutes) MINUTES="${2:?--minutes needs a number}"; shift 2 ;;
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
ROWS=() FAILED=0 SKIPPED=0

have() { command -v "$1" >/dev/null 2>&1; }
quoted() { printf '"%s"' "$(printf '%s' "$1" | tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

# ---- what is here ----------------------------------------------------------------------------------------------------
DEVICE="" DRIVER="" ARCH="" NVCC="$(command -v nvcc || true)"
[[ -n "$NVCC" ]] || { [[ -x /usr/local/cuda/bin/nvcc ]] && NVCC=/usr/local/cuda/bin/nvcc; }
if have nvidia-smi; then
  IFS=, read -r DEVICE DRIVER capability < <(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
  DRIVER="${DRIVER# }" ARCH="$(tr -d ' .' <<<"${capability:-}")"
  [[ "$ARCH" == 90 ]] && ARCH=90a
fi

# ---- parts: each prints to its log, returns 0 or 1, or prints "SKIP reason" last and returns 77 ----------------------
skip() { echo "SKIP $*"; return 77; }

part_build() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  [[ -n "$NVCC" ]] || { skip "nvcc is not on the PATH"; return; }
  have cmake || { skip "cmake is not on the PATH"; return; }
  local generator=()
  have ninja && generator=(-G Ninja)
  CUDACXX="$NVCC" cmake -S . -B "$BUILD" "${generator[@]}" -DHONE_TESTS=ON -DHONE_ADDON=OFF -DHONE_CUDA=ON \
    -DCMAKE_CUDA_ARCHITECTURES="$ARCH" -DCMAKE_BUILD_TYPE=Release && cmake --build "$BUILD" -j "$(nproc)"
}

built() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  compgen -G "$BUILD/test_*" >/dev/null || { skip "nothing is built: the part build did not pass"; return; }
}

part_tests() {
  built || return
  ctest --test-dir "$BUILD" --output-on-failure -j 1
}

# A checker over every kernel test: what ran outside its memory, or beside another thread.
sanitized() {
  built || return
  have compute-sanitizer || { skip "compute-sanitizer is not on the PATH"; return; }
  local program bad=0
  for program in "$BUILD"/test_kernels_cuda_* "$BUILD"/test_core_device; do
    [[ -x "$program" && ! -d "$program" ]] || continue
    echo "== $1 $(basename "$program")"
    compute-sanitizer --tool "$1" --error-exitcode 9 "$program" || bad=1
  done
  return $bad
}
part_memcheck() { sanitized memcheck; }
part_racecheck() { sanitized racecheck; }

# The cases that prove a promise, by name: a case that is missing or skipped is a failure, not a pass. Those of a program
# named _sm90 are a Hopper's.
part_promises() {
  built || return
  local bad=0 program promise cases name text
  while IFS='|' read -r program promise cases; do
    [[ "$program" == *_sm90 && "$ARCH" != 90a ]] && continue
    text="$("$BUILD/$program" 2>&1)" || true
    for name in $cases; do
      if grep -qx "ok   $name" <<<"$text" && ! grep -B1 -x "ok   $name" <<<"$text" | grep -q skipped; then
        echo "kept    $promise ($name)"
      else
        echo "BROKEN  $promise ($program: $name)"; bad=1
      fi
    done
  done <<'LIST'
test_contract_cuda|the same bits twice|a_step_is_the_same_bits_twice_and_clips_where_the_norm_is
test_contract_cuda|alone as in a batch, graphs on as off|a_request_gets_the_same_bits_alone_and_in_a_batch_with_and_without_graphs
test_contract_cuda|weights in place as in a fresh engine|weights_taken_in_place_are_those_of_a_fresh_engine_graphs_included
test_contract_cuda|a group that shares its pages as each alone|rollouts_of_a_group_that_share_their_prompts_pages_have_the_bits_of_each_alone
test_contract_cuda_packs|packs written by the optimizer are those of its masters|the_optimizer_writes_the_packs_that_packing_its_masters_would_give packs_meant_for_a_step_that_is_skipped_are_not_published
test_contract_cuda|gradients as on the CPU|gradients_are_the_cpus_within_the_rounding_of_bf16
test_contract_engine_trainer|actor and trainer agree to the bit|engine_equals_trainer_on_a_gpu_at_every_batch_size_and_split engine_equals_trainer_on_a_gpu_after_preemption
test_contract_engine_trainer_sm90|actor and deterministic trainer agree to the bit with heads of 64 and 128|engine_equals_deterministic_trainer_on_a_hopper
test_contract_engine_trainer_sm90|actor and fast trainer agree within the bound|engine_and_fast_trainer_on_a_hopper_part_within_the_bound fast_and_deterministic_trainer_on_a_hopper_part_within_the_bound_over_many_tokens
LIST
  return $bad
}

part_bench() {
  built || return
  compgen -G "$BUILD/bench_cuda_*" >/dev/null || { skip "no GPU bench is built"; return; }
  local program name bad=0
  for program in "$BUILD"/bench_cuda_*; do
    [[ -x "$program" && ! -d "$program" ]] || continue
    name="$(basename "$program")"
    echo "== $name"
    "$program" --json >"$OUT/$name.json" || { bad=1; rm -f "$OUT/$name.json"; }
  done
  return $bad
}

part_peers() {
  [[ -n "$ARCH" ]] || { skip "no GPU: nvidia-smi finds none"; return; }
  have python3 || { skip "python3 is not on the PATH"; return; }
  python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || { skip "python3 has no torch that sees the GPU"; return; }
  python3 bench/cuda/peers.py --json "$OUT/peers.json"
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
if [[ -n "${HONE_GPU_CHECK_PART:-}" ]]; then "part_$HONE_GPU_CHECK_PART"; exit $?; fi

run_part() {
  local name="$1" log="$OUT/$1.log" begin=$SECONDS status reason=""
  HONE_GPU_CHECK_PART="$name" timeout -k 10 $((MINUTES * 60)) "$SELF" --out "$OUT" >"$log" 2>&1
  local code=$?
  case $code in
    0) status=passed ;;
    77) status=skipped; reason="$(grep '^SKIP ' "$log" | tail -n 1 | cut -c6-)"; SKIPPED=1 ;;
    124 | 137) status=failed; reason="stopped after $MINUTES minutes"; FAILED=1 ;;
    *) status=failed; reason="exit $code: $(tail -n 1 "$log")"; FAILED=1 ;;
  esac
  printf '%-10s %-8s %4ss  %s\n' "$name" "$status" $((SECONDS - begin)) "$reason"
  ROWS+=("{\"part\": \"$name\", \"status\": \"$status\", \"seconds\": $((SECONDS - begin)), \"reason\": $(quoted "$reason")}")
}

echo "device: ${DEVICE:-none}  driver: ${DRIVER:-none}  nvcc: ${NVCC:-none}  out: $OUT"
for name in "${CHOSEN[@]}"; do run_part "$name"; done
{
  printf '{"date": "%s", "device": %s, "driver": %s, "architecture": %s, "nvcc": %s, "parts": [' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(quoted "$DEVICE")" "$(quoted "$DRIVER")" "$(quoted "$ARCH")" \
    "$(quoted "$([[ -n "$NVCC" ]] && "$NVCC" --version | tail -n 1)")"
  (IFS=,; printf '%s' "${ROWS[*]}")
  printf ']}\n'
} >"$OUT/summary.json"
((FAILED)) && exit 1
((SKIPPED)) && exit 3
exit 0
