// Gated DeltaNet on a GPU, one token after the other in f32: convolution, norms and gates for all rows at once, then the
// recurrence, whose states stay in registers for all rows of a call, then the gated norm for all rows.
#include "kernels/cuda/delta_rule.cuh"

#include "kernels/cuda/delta_rule.h"
#include "kernels/cuda/moves.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kRecurrenceThreads = 128;
/// Columns of a state that a warp has: eight, so that it reads whole sectors of a stored state; or as the backward will read marks.
template <bool kMarks>
inline constexpr int kColumns = kMarks ? int(kDeltaWarpColumns) : 8;
template <bool kMarks>
inline constexpr int kBlockColumns = kColumns<kMarks> * kRecurrenceThreads / 32;

__global__ void __launch_bounds__(kThreads) silu_conv_kernel(Convolution<PlainInput> a, float* out) {
  const Item item(a.channels);
  if (int64_t(item.row) >= a.rows) return;
  const float sum = a.at(int(item.row), a.runs.of_row(int(item.row)), int(item.piece));
  out[int64_t(item.row) * a.channels + item.piece] = sum * sigmoid(sum);
}

/// Gates of a row: lane l has value heads l, l + 32, ..
__device__ void open_gates(const DeltaInputs& a, int64_t row) {
  const bf16* const in = a.gate_row(row);
  float* const gates = a.gates + row * 2 * a.value_heads;
  for (int h = int(threadIdx.x) % 32; h < a.value_heads; h += 32) {
    gates[h] = expf(-expf(a.decay[h]) * softplus(to_f32(in[a.value_heads + h]) + a.dt[h]));
    gates[a.value_heads + h] = sigmoid(to_f32(in[h]));
  }
}

/// A warp has a vector q or k of a row, or the row's gates.
__global__ void __launch_bounds__(kThreads) open_rows_kernel(DeltaInputs a) {
  const int64_t index = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int vectors = 2 * a.key_heads;
  const int64_t row = index / (vectors + 1);
  const int vector = int(index % (vectors + 1));
  if (row >= a.conv.rows) return;
  if (vector == vectors) return open_gates(a, row);
  const float* const x = a.row(row) + vector * a.key_dim;
  float squares = 0.0f;
  for (int i = int(threadIdx.x) % 32; i < a.key_dim; i += 32) squares = fmaf(x[i], x[i], squares);
  const float inverse = 1.0f / sqrtf(warp_sum(squares) + 1e-6f);
  if (threadIdx.x % 32 == 0) a.inverse[row * vectors + vector] = vector < a.key_heads ? inverse / sqrtf(float(a.key_dim)) : inverse;
}

/// A lane's part of a state in memory, [Dk, Dv].
struct Stored {
  float* data;  // null: zeros, which are not stored
  int key_dim, width, column;
  __device__ __forceinline__ bool has(int row) const { return data && row < key_dim && column < width; }
  template <int C>
  __device__ __forceinline__ void load(State<C>& state, const Lane<C>& lane) const {
#pragma unroll
    for (int i = 0; i < lane.kRows; ++i) state.s[i] = has(lane.row(i)) ? data[lane.row(i) * width + column] : 0.0f;
  }
  template <int C>
  __device__ __forceinline__ void store(const State<C>& state, const Lane<C>& lane) const {
#pragma unroll
    for (int i = 0; i < lane.kRows; ++i) {
      if (has(lane.row(i))) data[lane.row(i) * width + column] = state.s[i];
    }
  }
};

/// Block (run and value head, columns) computes the rows of its run in order. Warps share only the tiles.
template <bool kMarks>
__global__ void __launch_bounds__(kRecurrenceThreads, 3) recurrence_kernel(DeltaInputs a, DeltaOutputs to) {
  constexpr int C = kColumns<kMarks>;
  __shared__ Tile<kBlockColumns<kMarks>> tile;
  const int run = int(blockIdx.x) / a.value_heads, head = int(blockIdx.x) % a.value_heads, first = a.conv.runs.cu[run];
  const int rows = a.conv.runs.cu[run + 1] - first, block_column = int(blockIdx.y) * kBlockColumns<kMarks>;
  const Lane<C> lane;
  const int warp_column = int(threadIdx.x) / 32 * C, inside = warp_column + lane.column, column = block_column + inside;
  if (rows == 0) return;
  float* const own = kMarks ? nullptr : a.conv.runs.state(run);
  const int64_t before = int64_t(a.conv.taps - 1) * a.channels() + int64_t(head) * a.key_dim * a.value_dim;
  const Stored stored{own ? own + before : nullptr, a.key_dim, a.value_dim, column};
  const bool writes = column < a.value_dim && lane.part == 0;
  State<C> state;
  stored.load(state, lane);
  for (int begin = 0; begin < rows; begin += kTileRows) {
    const int count = min(rows - begin, kTileRows);
    if (kMarks && begin > 0 && begin % int(kDeltaChunk) == 0 && block_column + warp_column < a.value_dim) {
      state.keep(mark(to.marks, mark_index(first, begin / int(kDeltaChunk), a, head), a, block_column + warp_column));
    }
    __syncthreads();
    tile.load(a, first + begin, count, head, block_column);
    __syncthreads();
#pragma unroll 1
    for (int t = 0; t < count; ++t) {
      const float missed = tile.v[t][inside] - state.decayed(tile.decay[t], tile.k[t], lane);
      state.add(tile.k[t], tile.beta[t] * missed, lane);
      const float o = state.read(tile.q[t], lane);
      float* const at = a.value_row(first + begin + t, head) + column;
      if (writes) *at = kMarks ? missed : o;
      if (kMarks && writes) to.o[int64_t(first + begin + t) * a.values() + head * a.value_dim + column] = o;
    }
  }
  if (!kMarks) stored.store(state, lane);
}

/// y = norm rms(o) silu(z); o in the place of v. A warp has a value head of a row.
__global__ void __launch_bounds__(kThreads) gated_norm_kernel(DeltaInputs a, bf16* y) {
  const int64_t index = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32, row = index / a.value_heads;
  if (row >= a.conv.rows) return;
  const int head = int(index % a.value_heads);
  const float* const o = a.value_row(row, head);
  const bf16* const z = a.z_row(row, head);
  float squares = 0.0f;
  for (int i = int(threadIdx.x) % 32; i < a.value_dim; i += 32) squares = fmaf(o[i], o[i], squares);
  const float scale = 1.0f / sqrtf(warp_sum(squares) / float(a.value_dim) + a.eps);
  for (int i = int(threadIdx.x) % 32; i < a.value_dim; i += 32) {
    const float gate = to_f32(z[i]);
    round_to(y[row * a.values() + head * a.value_dim + i], a.norm[i] * (o[i] * scale) * (gate * sigmoid(gate)));
  }
}

/// Columns by key head, and the same columns by kind.
struct HeadOrder {
  uint16_t *head, *kind;
  int64_t head_stride, kind_stride, width;
  int keys, values, key_heads, key_dim, share, value_width;  // share: value heads of a key head, value_width columns
  __device__ __forceinline__ int kind_column(int c) const {
    const int group = 2 * key_dim + 2 * value_width, gates = 2 * keys + 2 * values;
    if (c >= gates) {
      const int h = (c - gates) / (2 * share), inside = (c - gates) % (2 * share);
      return gates + inside / share * key_heads * share + h * share + inside % share;
    }
    const int h = c / group, inside = c % group;
    if (inside < 2 * key_dim) return inside / key_dim * keys + h * key_dim + inside % key_dim;
    const int of = inside - 2 * key_dim;
    return 2 * keys + of / value_width * values + h * value_width + of % value_width;
  }
  __device__ __forceinline__ Move at(int64_t row, int c) const { return {head + row * head_stride + c, kind + row * kind_stride + kind_column(c)}; }
};

HeadOrder order(const DeltaColumns& a) {
  const DeltaSizes& s = a.sizes;
  const int share = int(s.value_heads / s.key_heads);
  return {a.by_head.as<uint16_t>(), a.by_kind.as<uint16_t>(), a.by_head.row_stride, a.by_kind.row_stride, s.inputs(), int(s.keys()),
          int(s.values()), int(s.key_heads), int(s.key_dim), share, share * int(s.value_dim)};
}

}  // namespace

DeltaInputs make_delta_inputs(const Stream& stream, const TensorView& x, const DeltaWeights& w, const DeltaRuns& runs, const DeltaSizes& s,
                              float eps, Arena& scratch) {
  const int64_t rows = x.dim(0);
  const bf16* const in = x.as<const bf16>();
  DeltaInputs a{{{in, x.row_stride}, w.conv.as<const float>(), int(s.channels()), int(s.taps), Runs::of(runs), rows},
                in,
                x.row_stride,
                int(s.key_heads),
                int(s.value_heads),
                int(s.key_dim),
                int(s.value_dim),
                w.decay.as<const float>(),
                w.dt.as<const float>(),
                w.norm.as<const float>(),
                eps,
                scratch.take_array<float>(rows * s.channels()),
                scratch.take_array<float>(rows * 2 * s.key_heads),
                scratch.take_array<float>(rows * 2 * s.value_heads)};
  HONE_LAUNCH(silu_conv_kernel, blocks_for(a.conv.items(), kThreads), kThreads, 0, stream, a.conv, a.out);
  HONE_LAUNCH(open_rows_kernel, blocks_for(rows * (2 * s.key_heads + 1), kWarps), kThreads, 0, stream, a);
  return a;
}

void run_recurrence(const Stream& stream, const DeltaInputs& a, const DeltaOutputs& to) {
  if (a.conv.rows == 0) return;
  const unsigned pairs = unsigned(a.conv.runs.count) * unsigned(a.value_heads);
  if (to.o) {
    HONE_LAUNCH(recurrence_kernel<true>, dim3(pairs, blocks_for(a.value_dim, kBlockColumns<true>)), kRecurrenceThreads, 0, stream, a, to);
  } else {
    HONE_LAUNCH(recurrence_kernel<false>, dim3(pairs, blocks_for(a.value_dim, kBlockColumns<false>)), kRecurrenceThreads, 0, stream, a, to);
  }
}

void delta_rule(const Stream& stream, const DeltaRuleArgs& args) {
  const int64_t mark = args.scratch->mark(), rows = args.x.dim(0);
  const DeltaInputs a = make_delta_inputs(stream, args.x, args.weights, args.runs, args.sizes, args.eps, *args.scratch);
  run_recurrence(stream, a, {});
  HONE_LAUNCH(gated_norm_kernel, blocks_for(rows * args.sizes.value_heads, kWarps), kThreads, 0, stream, a, args.y.as<bf16>());
  keep_tails(stream, a.conv);
  args.scratch->release(mark);
}

void delta_columns_by_kind(const Stream& stream, const DeltaColumns& args) { move_elements<false>(stream, order(args), args.by_kind.dim(0)); }

void delta_columns_by_head(const Stream& stream, const DeltaColumns& args) { move_elements<true>(stream, order(args), args.by_kind.dim(0)); }

}  // namespace hone::kernels::cuda
