#include "kernels/cpu/matmul.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "core/even_grain.h"
#include "kernels/cpu/matmul_bf16_block.h"

namespace hone::kernels::cpu {
namespace {

// Operations of a chunk that is worth moving to another core: about 20 us at 200 GFLOP/s.
constexpr double kChunkFlops = 4e6;
// Chunks per thread: enough that a helper thread that starts late costs little.
constexpr int64_t kChunksPerThread = 4;
// Smallest number of rows per thread for splitting a product by rows: each chunk reads all weights.
constexpr int64_t kMinRows = 84;
// Weights larger than kCacheBytes are read from memory: a product of up to kOnePassRows rows, for which one
// pass over the weights suffices, reads them once, by columns.
constexpr int64_t kCacheBytes = 4 << 20;
constexpr int64_t kOnePassRows = 168;

/// Units per chunk when `units` units of `flops` operations each are split over the stream's threads.
int64_t grain_of(const Stream& stream, int64_t units, double flops, int64_t least) {
  if (stream.threads() == 1) return units;
  const int64_t by_threads = units / (stream.threads() * kChunksPerThread);
  const int64_t by_work = int64_t(kChunkFlops / std::max(flops, 1.0)) + 1;
  return even_grain(stream, units, std::max({by_threads, by_work, least}));
}

struct PackingFree {
  void operator()(float* p) const { ::operator delete(p, std::align_val_t{64}); }
};

/// This thread's packing buffer, allocated at its first product and kept; pages that are never used are never
/// touched.
float* packing_scratch() {
  thread_local std::unique_ptr<float, PackingFree> block;
  if (!block) {
    void* memory = ::operator new(kScratch * sizeof(float), std::align_val_t{64}, std::nothrow);
    if (!memory) fail(Code::kOutOfMemory, "matmul: no memory for the packing block of a thread (0.8 MB).");
    block.reset(static_cast<float*>(memory));
  }
  return block.get();
}

/// Test cases for the bf16 instruction: sixteen pairs whose products and sums round, tie, vanish or overflow.
struct PairCases {
  uint32_t a[16], b[16];
  float sums[16];
};
[[maybe_unused]] PairCases pair_cases(uint32_t seed) {
  constexpr uint16_t kNumbers[] = {0x3f80, 0xbf81, 0x3fff, 0x4001, 0x0001, 0x807f, 0x0080, 0x8081, 0x2000, 0x9fc1, 0x1f80, 0x7f7f};
  constexpr uint32_t kSums[] = {0x3f800000, 0xbf800001, 0x33800000, 0xb3ffffff, 0x00800000, 0x80800001, 0x007fffff, 0x80000000};
  PairCases out;
  for (int i = 0; i < 16; ++i) {
    const auto next = [&](uint32_t below) { return (seed = seed * 1664525u + 1013904223u) >> 8 & 0xffff ? (seed >> 12) % below : 0; };
    out.a[i] = uint32_t(kNumbers[next(12)]) << 16 | kNumbers[next(12)];
    out.b[i] = uint32_t(kNumbers[next(12)]) << 16 | kNumbers[next(12)];
    std::memcpy(&out.sums[i], &kSums[next(8)], sizeof(float));
  }
  return out;
}

/// Transposes a square between two panels: out [rows][32] is the transpose of from [columns][32], with zeros
/// beyond `columns`. In both, groups of `Together` rows are interleaved, the first in the highest bits.
template <class T, int Together>
void turn_square(const T* from, int64_t columns, int64_t rows, T* out) {
  const auto at = [](int64_t row, int64_t column) { return (row / Together * kPanel + column) * Together + (Together - 1 - row % Together); };
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t i = 0; i < kPanel; ++i) out[at(j, i)] = i < columns ? from[at(i, j)] : T(0);
  }
}

/// Writes one panel of `out` from rows of all panels of `from`.
template <class T, int Together>
void turn_panel(const PackedMatrix& from, const PackedMatrix& out, int64_t panel) {
  const auto depth = [](int64_t k) { return (k + Together - 1) / Together * Together; };
  const int64_t columns = std::min(kPanel, from.k - panel * kPanel);
  const T* source = static_cast<const T*>(from.panels) + panel * kPanel * kPanel;
  T* const begin = static_cast<T*>(out.panels) + panel * depth(out.k) * kPanel;
  T* to = begin;
  for (int64_t n = 0; n < from.n; n += kPanel, source += depth(from.k) * kPanel, to += kPanel * kPanel) {
    turn_square<T, Together>(source, columns, std::min(kPanel, from.n - n), to);
  }
  if constexpr (Together == 2) {  // an odd last row is paired with -0, as pack_matrix does
    if (out.k % 2) for (int64_t i = 0; i < kPanel; ++i) begin[(out.k / 2 * kPanel + i) * 2] = T(0x8000);
  }
}

void add_bias_gradient(const LinearGradWeightArgs& a) {
  HONE_PICK(add_columns)(a.dy.as<float>(), a.dy.row_stride, a.dy.dim(0), a.dy.dim(1), a.dbias.as<float>());
}

}  // namespace

bool instruction_gives_our_bits() {
#if defined(__aarch64__)
  return false;  // arm64's BFDOT rounds differently
#else
  for (uint32_t seed = 0; seed < 64; ++seed) {
    PairCases by_instruction = pair_cases(seed), by_steps = by_instruction;
    avx512bf16::dot_pairs(by_instruction.a, by_instruction.b, by_instruction.sums);
    baseline::dot_pairs(by_steps.a, by_steps.b, by_steps.sums);
    if (std::memcmp(by_instruction.sums, by_steps.sums, sizeof by_steps.sums) != 0) return false;
  }
  return true;
#endif
}

void pack_matrix(const Stream& stream, const PackMatrixArgs& a) {
  const int64_t panels = (a.out.n + kPanel - 1) / kPanel;
  const auto run = a.out.arithmetic == Arithmetic::kBF16 ? HONE_PICK_BF16(pack_bf16_block) : HONE_PICK(pack_block);
  // Packing a float costs about as much as 64 multiply-adds.
  stream.parallel_for(panels, grain_of(stream, panels, 128.0 * double(kPanel * a.out.k), 1),
                      [&](int64_t first, int64_t last) {
                        run({a.w.as<float>(), a.w.row_stride, a.transpose, a.out.panels,
                             a.out.storage == DType::kBF16, a.out.n, a.out.k, first, last});
                      });
}

void transpose_packed(const Stream& stream, const PackedMatrix& from, const PackedMatrix& out) {
  const auto run = from.storage == DType::kF32 ? turn_panel<float, 1> : from.arithmetic == Arithmetic::kBF16 ? turn_panel<uint16_t, 2> : turn_panel<uint16_t, 1>;
  const int64_t panels = (out.n + kPanel - 1) / kPanel;
  stream.parallel_for(panels, grain_of(stream, panels, 128.0 * double(kPanel * out.k), 1), [&](int64_t first, int64_t last) {
    for (int64_t panel = first; panel < last; ++panel) run(from, out, panel);
  });
}

void linear(const Stream& stream, const LinearArgs& a) {
  const int64_t m = a.x.dim(0), n = a.w.n, k = a.w.k;
  const bool pairs = a.w.arithmetic == Arithmetic::kBF16;
  const auto run = pairs ? HONE_PICK_BF16(linear_bf16_block) : HONE_PICK(linear_block);
  const int64_t column_bytes = pairs ? (k + 1) / 2 * int64_t(sizeof(uint32_t)) : k * dtype_bytes(a.w.storage);
  const int64_t column_step = a.w.transposed ? dtype_bytes(a.w.storage) : column_bytes;
  const auto block = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
    run({a.x.row<float>(row), a.x.row_stride, static_cast<const char*>(a.w.panels) + column * column_step,
         a.w.storage == DType::kBF16, a.y.row<float>(row) + column, a.y.row_stride,
         a.bias.empty() ? nullptr : a.bias.as<float>() + column, rows, columns, k, a.accumulate, packing_scratch(),
         a.w.transposed ? n : 0});
  };
  const double flops_per_row = 2.0 * double(n) * double(k);
  const bool once = m <= kOnePassRows && n * column_bytes > kCacheBytes;
  if (m >= stream.threads() * kMinRows && !once) {
    return stream.parallel_for(m, grain_of(stream, m, flops_per_row, kMinRows),
                               [&](int64_t begin, int64_t end) { block(begin, end - begin, 0, n); });
  }
  const int64_t panels = (n + kPanel - 1) / kPanel;
  const double flops_per_panel = 2.0 * double(m) * double(kPanel) * double(k);
  // Every chunk reads all of x; if there are enough columns, chunks are so large that they read at least as
  // much of W.
  const int64_t least = std::min((m + kPanel - 1) / kPanel, panels / stream.threads());
  stream.parallel_for(panels, grain_of(stream, panels, flops_per_panel, least), [&](int64_t begin, int64_t end) {
    block(0, m, begin * kPanel, std::min(end * kPanel, n) - begin * kPanel);
  });
}

void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& a) {
  const int64_t m = a.dy.dim(0), n = a.dw.dim(0), k = a.dw.dim(1);
  if (!a.dbias.empty()) add_bias_gradient(a);
  if (k == 0) return;
  const auto run = a.arithmetic == Arithmetic::kBF16 ? HONE_PICK_BF16(grad_weight_bf16_block) : HONE_PICK(grad_weight_block);
  const auto block = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
    run({a.dy.as<float>() + row, a.dy.row_stride, a.x.as<float>() + column, a.x.row_stride,
         a.dw.row<float>(row) + column, a.dw.row_stride, m, rows, columns, packing_scratch()});
  };
  const double flops = 2.0 * double(m) * double(n) * double(k);
  // Chunks divide the longer side: each packs the whole shorter side again.
  if (n >= k) {
    const int64_t strips = (n + 11) / 12;
    return stream.parallel_for(strips, grain_of(stream, strips, flops / double(strips), 2),
                               [&](int64_t begin, int64_t end) {
                                 block(begin * 12, std::min(end * 12, n) - begin * 12, 0, k);
                               });
  }
  const int64_t panels = (k + kPanel - 1) / kPanel;
  stream.parallel_for(panels, grain_of(stream, panels, flops / double(panels), 1), [&](int64_t begin, int64_t end) {
    block(0, n, begin * kPanel, std::min(end * kPanel, k) - begin * kPanel);
  });
}

}  // namespace hone::kernels::cpu
