// The backward of gated DeltaNet on a GPU. The recurrence runs forward once, keeping v - S^T k of every row and a state every
// kDeltaChunk rows; with them the states between are advanced without sums, and the backward goes through the rows in reverse.
#include "kernels/cuda/delta_rule.cuh"
#include "kernels/cuda/delta_rule.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kDim = int(kMostCudaDeltaDim), kColumns = int(kDeltaBlockColumns), C = int(kDeltaWarpColumns), kMostWarps = kColumns / C;
constexpr int kLaneValues = kDim / 32;                // of a value head, in kernels of one warp per head and row

/// The gradient's arguments besides the inputs. `o` becomes its own gradient, a.out that of the convolution's output.
struct DeltaGrad {
  DeltaInputs a;
  const bf16* dy;  // [R, M Dv]
  bf16* dx;        // [R, inputs]
  int64_t dx_stride;
  float *o, *marks, *steps;
  int slices;      // of kColumns columns of a head
  float* keys;     // [R, 2, M, slices, Dk]: gradients of the unit vectors q and k
  float* dgates;   // [R, 2, M, slices]: gradients of ln g and beta
  float* norms;    // [strips, M, Dv]: sums for dnorm

  __device__ __forceinline__ bf16* dx_row(int64_t r) const { return dx + r * dx_stride; }
  __device__ __forceinline__ float* o_row(int64_t r, int h) const { return o + r * a.values() + h * a.value_dim; }
  /// Where slice `part` of all heads' slices is in keys and in dgates.
  __device__ __forceinline__ int64_t part_of(int64_t r, int which, int part) const { return (r * 2 + which) * a.value_heads * slices + part; }
};

/// Backward of the gated norm for one row and head, by a warp: dz, and o becomes its gradient. Adds to `sums`, whose value i is
/// that of column lane + 32 i.
__device__ void gated_norm_grad(const DeltaGrad& g, int64_t row, int head, float* sums) {
  const DeltaInputs& a = g.a;
  float* const o = g.o_row(row, head);
  const bf16 *const z = a.z_row(row, head), *const dy = g.dy + row * a.values() + head * a.value_dim;
  bf16* const dz = g.dx_row(row) + a.channels() + head * a.value_dim;
  float squares = 0.0f, dot = 0.0f, slopes[kLaneValues] = {};
  for (int i = int(threadIdx.x) % 32; i < a.value_dim; i += 32) squares = fmaf(o[i], o[i], squares);
  const float scale = 1.0f / sqrtf(warp_sum(squares) / float(a.value_dim) + a.eps);
#pragma unroll
  for (int j = 0; j < kLaneValues; ++j) {
    const int i = int(threadIdx.x) % 32 + 32 * j;
    if (i >= a.value_dim) continue;
    const float gate = to_f32(z[i]), s = sigmoid(gate), d = to_f32(dy[i]), normed = o[i] * scale;
    sums[j] = fmaf(d * (gate * s), normed, sums[j]);
    round_to(dz[i], d * a.norm[i] * normed * (s * fmaf(gate, 1.0f - s, 1.0f)));
    slopes[j] = d * a.norm[i] * (gate * s);
    dot = fmaf(slopes[j], o[i], dot);
  }
  const float pull = -scale * scale * scale / float(a.value_dim) * warp_sum(dot);
#pragma unroll
  for (int j = 0; j < kLaneValues; ++j) {
    const int i = int(threadIdx.x) % 32 + 32 * j;
    if (i < a.value_dim) o[i] = fmaf(o[i], pull, slopes[j] * scale);
  }
}

/// A warp has a value head of a strip of rows.
__global__ void __launch_bounds__(kThreads) gated_norm_grad_kernel(DeltaGrad g) {
  const int64_t index = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32, strip = index / g.a.value_heads;
  const int head = int(index % g.a.value_heads);
  const int64_t begin = strip * kNormStrip, end = min(begin + kNormStrip, g.a.conv.rows);
  float sums[kLaneValues] = {};
  if (begin >= end) return;
  for (int64_t row = begin; row < end; ++row) gated_norm_grad(g, row, head, sums);
#pragma unroll
  for (int j = 0; j < kLaneValues; ++j) {
    const int i = int(threadIdx.x) % 32 + 32 * j;
    if (i < g.a.value_dim) g.norms[index * g.a.value_dim + i] = sums[j];
  }
}

/// Shared memory of a block of the backward recurrence.
struct GradShared {
  Tile<kColumns> tile;
  float d_o[kTileRows][kColumns];
  __align__(16) float keys[2][kMostWarps][kDim];  // sums over a warp's columns: gradients of q and of k
  float scalars[3][kMostWarps];                   // sums over a warp: gradients of ln g and beta, and change . gradient of o
};

/// Of two values, adds the one that this lane keeps, `high` if `keeps_high`, to the neighbour's, which keeps the other.
__device__ __forceinline__ float exchange(float low, float high, bool keeps_high, int neighbour) {
  return (keeps_high ? high : low) + __shfl_xor_sync(kFullWarp, keeps_high ? low : high, neighbour);
}

/// Adds values f(0), .., f(15) of the four lanes that share rows; the lane of column c gets the sums of values 4c to 4c + 3.
template <class F>
__device__ __forceinline__ float4 sum_columns(const Lane<C>& lane, const F& f) {
  const bool first = lane.column & 2, second = lane.column & 1;
  const auto sum = [&](int i) { return exchange(exchange(f(i), f(i + 8), first, 2), exchange(f(i + 4), f(i + 12), first, 2), second, 1); };
  return make_float4(sum(0), sum(1), sum(2), sum(3));
}

/// Some columns of a value head of a run. d: the gradient of the state after the row at hand, then of that before it.
struct SliceBackward {
  const DeltaGrad& g;
  GradShared& shared;
  int first, rows, head, slice;
  Lane<C> lane;
  State<C> d;

  __device__ __forceinline__ int warp() const { return int(threadIdx.x) / 32; }
  __device__ __forceinline__ int inside() const { return warp() * C + lane.column; }
  __device__ __forceinline__ float change(int t) const { return shared.tile.beta[t] * shared.tile.v[t][inside()]; }
  /// The state before the tile that begins at a row of the run, of the chunk at hand.
  __device__ __forceinline__ float* step(int begin) const {
    constexpr int kSteps = int(kDeltaChunk / kDeltaStep);
    return g.steps + ((int64_t(blockIdx.x) * kSteps + begin % int(kDeltaChunk) / kTileRows) * int(blockDim.x / 32) + warp()) * kDeltaWarpFloats;
  }
  __device__ void load(int begin, int count) {
    __syncthreads();
    shared.tile.load(g.a, first + begin, count, head, slice * kColumns);
    for (int i = int(threadIdx.x); i < count * kColumns; i += int(blockDim.x)) {
      const int t = i / kColumns, c = slice * kColumns + i % kColumns;
      shared.d_o[t][i % kColumns] = c < g.a.value_dim ? g.o_row(first + begin + t, head)[c] : 0.0f;
    }
    __syncthreads();
  }
  /// Keeps the state before each tile of the chunk that begins at a row of the run, up to the tile before row `end`.
  __device__ void keep_steps(int begin, int end) {
    State<C> s;
    s.clear();
    const int column = slice * kColumns + warp() * C;
    if (begin > 0 && column < g.a.value_dim) s.restore(mark(g.marks, mark_index(first, begin / int(kDeltaChunk), g.a, head), g.a, column));
    for (s.keep(step(begin)); begin + kTileRows < end; s.keep(step(begin))) {
      load(begin, kTileRows);
      for (int t = 0; t < kTileRows; ++t) s.advance(shared.tile.decay[t], shared.tile.k[t], change(t), lane);
      begin += kTileRows;
    }
  }
  /// Backward of row t of the tile that begins at a row of the run.
  __device__ void row(int begin, int t) {
    const float dchange = add_output(shared.tile.q[t], shared.tile.k[t], shared.d_o[t][inside()]);
    State<C> s;
    s.restore(step(begin));
    for (int before = 0; before < t; ++before) s.advance(shared.tile.decay[before], shared.tile.k[before], change(before), lane);
    leave_state(t, s, dchange);
    const int64_t at = first + begin + t;
    const int column = slice * kColumns + inside();
    const bool counts = lane.part == 0;  // the lanes of a column have the same numbers
    if (counts && column < g.a.value_dim) g.a.value_row(at, head)[column] = shared.tile.beta[t] * dchange;
    leave_scalar(1, counts ? dchange * shared.tile.v[t][inside()] : 0.0f);
    leave_scalar(2, counts ? change(t) * shared.d_o[t][inside()] : 0.0f);
    add_warps(at, shared.tile.k[t]);
  }
  /// Adds to d what o = S^T q gives it; returns the gradient of the change of this lane's column.
  __device__ __forceinline__ float add_output(const float* q, const float* k, float d_o) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < lane.kRows; i += 4) {
      const Four qs(q + lane.row(i)), ks(k + lane.row(i));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        d.s[i + j] = fmaf(qs.at[j], d_o, d.s[i + j]);
        sum = fmaf(ks.at[j], d.s[i + j], sum);
      }
    }
    return lane.sum_parts(sum);
  }
  /// Leaves the sums for q (of the state before k (x) change was added), k and ln g, given the state before the row; turns d into its
  /// gradient.
  __device__ __forceinline__ void leave_state(int t, State<C>& s, float dchange) {
    const float decay = shared.tile.decay[t], d_o = shared.d_o[t][inside()], c = change(t), dm = -shared.tile.beta[t] * dchange;
#pragma unroll
    for (int i = 0; i < lane.kRows; ++i) s.s[i] *= decay;
    leave(0, sum_columns(lane, [&](int i) { return s.s[i] * d_o; }));
    leave(1, sum_columns(lane, [&](int i) { return fmaf(d.s[i], c, s.s[i] * dm); }));
    float of_decay = 0.0f;
#pragma unroll
    for (int i = 0; i < lane.kRows; i += 4) {
      const Four ks(shared.tile.k[t] + lane.row(i));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float total = fmaf(ks.at[j], dm, d.s[i + j]);
        of_decay = fmaf(total, s.s[i + j], of_decay);
        d.s[i + j] = total * decay;
      }
    }
    leave_scalar(0, of_decay);
  }
  __device__ __forceinline__ void leave(int which, float4 sums) {
    *reinterpret_cast<float4*>(shared.keys[which][warp()] + lane.row(lane.column * 4)) = sums;
  }
  __device__ __forceinline__ void leave_scalar(int which, float value) {
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) shared.scalars[which][warp()] = value;
  }
  /// Sum of what the warps left, in their order.
  __device__ __forceinline__ float total(const float* left, int stride) const {
    float sum = 0.0f;
    for (int w = 0; w < int(blockDim.x) / 32; ++w) sum += left[w * stride];
    return sum;
  }
  __device__ void add_warps(int64_t at, const float* k) {
    const int part = head * g.slices + slice;
    __syncthreads();
    for (int i = int(threadIdx.x); i < 2 * kDim; i += int(blockDim.x)) {
      const int which = i / kDim, r = i % kDim;
      float sum = total(&shared.keys[which][0][r], kDim);
      if (which == 0) sum = fmaf(k[r], total(shared.scalars[2], 1), sum);
      if (r < g.a.key_dim) g.keys[g.part_of(at, which, part) * g.a.key_dim + r] = sum;
    }
    if (threadIdx.x < 2) g.dgates[g.part_of(at, int(threadIdx.x), part)] = total(shared.scalars[threadIdx.x], 1);
    __syncthreads();
  }
  __device__ void run() {
    d.clear();
    for (int begin = (rows - 1) / kTileRows * kTileRows; begin >= 0 && rows > 0; begin -= kTileRows) {
      const int end = min(begin + kTileRows, rows);
      if (end == rows || end % int(kDeltaChunk) == 0) keep_steps(begin / int(kDeltaChunk) * int(kDeltaChunk), end);
      load(begin, end - begin);
      for (int t = end - begin - 1; t >= 0; --t) row(begin, t);
    }
  }
};

/// Blocks take slices of value heads of runs in turns; a block has a warp for every four columns of a slice.
__global__ void __launch_bounds__(kMostWarps * 32) recurrence_grad_kernel(DeltaGrad g) {
  __shared__ GradShared shared;
  const int parts = g.a.value_heads * g.slices;
  for (int item = int(blockIdx.x); item < g.a.conv.runs.count * parts; item += int(gridDim.x)) {
    const int run = item / parts, part = item % parts, first = g.a.conv.runs.cu[run];
    SliceBackward{g, shared, first, g.a.conv.runs.cu[run + 1] - first, part / g.slices, part % g.slices, {}, {}}.run();
  }
}

/// Gradients of q and k before their norms, in the place of q and k. A warp has a vector of a row.
__global__ void __launch_bounds__(kThreads) unit_grad_kernel(DeltaGrad g) {
  const DeltaInputs& a = g.a;
  const int64_t index = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int vectors = 2 * a.key_heads, share = a.value_heads / a.key_heads * g.slices;
  const int64_t row = index / vectors;
  if (row >= a.conv.rows) return;
  const int vector = int(index % vectors), which = vector / a.key_heads, key = vector % a.key_heads;
  float* const x = a.row(row) + vector * a.key_dim;
  float d[kLaneValues] = {}, dot = 0.0f;
#pragma unroll
  for (int j = 0; j < kLaneValues; ++j) {
    const int i = int(threadIdx.x) % 32 + 32 * j;
    if (i >= a.key_dim) continue;
    for (int part = key * share; part < (key + 1) * share; ++part) d[j] += g.keys[g.part_of(row, which, part) * a.key_dim + i];
    dot = fmaf(d[j], x[i], dot);
  }
  const float scaled = a.inverse[row * vectors + vector], square = scaled * scaled * (which == 0 ? float(a.key_dim) : 1.0f);
  const float pull = -scaled * square * warp_sum(dot);
#pragma unroll
  for (int j = 0; j < kLaneValues; ++j) {
    const int i = int(threadIdx.x) % 32 + 32 * j;
    if (i < a.key_dim) x[i] = fmaf(x[i], pull, d[j] * scaled);
  }
}

/// Gradients of columns b and a; what a row adds to those of ln A and dt takes the place of g and beta.
__global__ void __launch_bounds__(kThreads) gates_grad_kernel(DeltaGrad g) {
  const DeltaInputs& a = g.a;
  const Item item(a.value_heads);
  if (int64_t(item.row) >= a.conv.rows) return;
  const int64_t row = item.row;
  const int h = int(item.piece), M = a.value_heads;
  float* const gates = a.gates + row * 2 * M + h;
  const float beta = gates[M], rate = expf(a.decay[h]), in = to_f32(a.gate_row(row)[M + h]) + a.dt[h];
  float of_decay = 0.0f, of_beta = 0.0f;
  for (int part = h * g.slices; part < (h + 1) * g.slices; ++part) {
    of_decay += g.dgates[g.part_of(row, 0, part)], of_beta += g.dgates[g.part_of(row, 1, part)];
  }
  const float da = -of_decay * rate * sigmoid(in);
  bf16* const dx = g.dx_row(row) + a.channels() + a.values();
  round_to(dx[h], of_beta * beta * (1.0f - beta));
  round_to(dx[M + h], da);
  gates[0] = -of_decay * rate * softplus(in);
  gates[M] = da;
}

/// The gradient of the convolution's sums, in the place of that of their SiLU.
__global__ void __launch_bounds__(kThreads) silu_slope_kernel(Convolution<PlainInput> a, float* d) {
  const Item item(a.channels);
  if (int64_t(item.row) >= a.rows) return;
  const float x = a.at(int(item.row), a.runs.of_row(int(item.row)), int(item.piece)), s = sigmoid(x);
  d[int64_t(item.row) * a.channels + item.piece] *= s * fmaf(x, 1.0f - s, 1.0f);
}

/// Rows of f32 [R, channels].
struct Slopes {
  const float* d;
  int channels;
  __device__ __forceinline__ float at(int64_t row, int c) const { return d[row * channels + c]; }
};

__global__ void __launch_bounds__(kThreads) conv_grad_kernel(Convolution<PlainInput> a, Slopes d, bf16* dx, int64_t dx_stride) {
  const Item item(a.channels);
  if (int64_t(item.row) >= a.rows) return;
  const int row = int(item.row);
  round_to(dx[row * dx_stride + item.piece], a.grad_at(d, row, a.runs.of_row(row), int(item.piece)));
}

void recurrence_grad(const Stream& stream, const DeltaGrad& g, unsigned blocks) {
  const unsigned threads = unsigned((std::min(g.a.value_dim, kColumns) + C - 1) / C * 32);
  if (g.a.conv.rows > 0) HONE_LAUNCH(recurrence_grad_kernel, blocks, threads, 0, stream, g);
}

void convolution_grad(const Stream& stream, const DeltaGrad& g, Arena& scratch, float* dw) {
  const Convolution<PlainInput>& conv = g.a.conv;
  const Slopes d{g.a.out, conv.channels};
  HONE_LAUNCH(silu_slope_kernel, blocks_for(conv.items(), kThreads), kThreads, 0, stream, conv, g.a.out);
  HONE_LAUNCH(conv_grad_kernel, blocks_for(conv.items(), kThreads), kThreads, 0, stream, conv, d, g.dx, g.dx_stride);
  tap_gradient(stream, conv, d, scratch.take_array<float>(conv_sums(conv.rows, conv.channels, conv.taps)), dw);
}

}  // namespace

void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& args) {
  Arena& scratch = *args.scratch;
  const DeltaSizes& s = args.sizes;
  const int64_t mark = scratch.mark(), rows = args.x.dim(0), M = s.value_heads, strips = ceil_div(rows, kNormStrip);
  const DeltaRuns runs{args.cu_rows, nullptr};
  const DeltaInputs a = make_delta_inputs(stream, args.x, args.weights, runs, s, args.eps, scratch);
  const DeltaGrad g{a, args.dy.as<const bf16>(), args.dx.as<bf16>(), args.dx.row_stride,
                    scratch.take_array<float>(rows * s.values()), scratch.take_array<float>(delta_mark_floats(rows, s)),
                    scratch.take_array<float>(delta_step_floats(rows, s)), int(delta_slices(s)),
                    scratch.take_array<float>(rows * 2 * M * delta_slices(s) * s.key_dim), scratch.take_array<float>(rows * 2 * M * delta_slices(s)),
                    scratch.take_array<float>(strips * s.values())};
  run_recurrence(stream, a, {g.o, g.marks});
  HONE_LAUNCH(gated_norm_grad_kernel, blocks_for(strips * M, kWarps), kThreads, 0, stream, g);
  recurrence_grad(stream, g, unsigned(delta_grad_blocks(rows, s)));
  HONE_LAUNCH(unit_grad_kernel, blocks_for(rows * 2 * s.key_heads, kWarps), kThreads, 0, stream, g);
  HONE_LAUNCH(gates_grad_kernel, blocks_for(rows * M, kThreads), kThreads, 0, stream, g);
  add_rows(stream, g.norms, strips * M, s.value_dim, s.value_dim, args.dweights.norm.as<float>());
  add_rows(stream, a.gates, rows, 2 * M, M, args.dweights.decay.as<float>());
  add_rows(stream, a.gates + M, rows, 2 * M, M, args.dweights.dt.as<float>());
  convolution_grad(stream, g, scratch, args.dweights.conv.as<float>());
  scratch.release(mark);
}

}  // namespace hone::kernels::cuda
