#include "kernels/cpu/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/matmul_block.h"
#include "kernels/cpu/optimizer_block.h"
#include "kernels/matmul.h"

namespace hone::kernels::cpu {
namespace {

// elements per chunk: at least 10 us, since five arrays are read from the L3 cache
constexpr int64_t kElements = 16384;
constexpr int64_t kSquareParts = 8;    // number of column strips in which a symmetric product is computed
// elements for which old values are kept at a time, so that they stay in the cache
constexpr int64_t kChange = 1 << 16;

/// y = a x + b y over n elements.
void combine(const Stream& stream, float* y, const float* x, float a, float b, int64_t n) {
  const auto run = HONE_PICK(combine_block);
  stream.parallel_for(n, kElements, [&](int64_t begin, int64_t end) { run(y + begin, x + begin, a, b, end - begin); });
}

/// out [columns, rows] = in [rows, columns]^T, in squares that stay in the L1 cache.
void transpose(const float* in, int64_t rows, int64_t columns, float* out) {
  constexpr int64_t kSide = 32;
  for (int64_t i = 0; i < rows; i += kSide) {
    for (int64_t j = 0; j < columns; j += kSide) {
      for (int64_t a = i; a < std::min(i + kSide, rows); ++a) {
        for (int64_t b = j; b < std::min(j + kSide, columns); ++b) out[b * rows + a] = in[a * columns + b];
      }
    }
  }
}

/// The matrices of one Newton-Schulz iteration; r <= c.
struct NewtonSchulz {
  int64_t r, c;
  float *x, *next;  // [r, c]
  float *gram, *poly;  // [r, r]
  void* panels;

  NewtonSchulz(Arena& arena, int64_t rows, int64_t columns)
      : r(std::min(rows, columns)), c(std::max(rows, columns)), x(arena.take_array<float>(r * c)),
        next(arena.take_array<float>(r * c)), gram(arena.take_array<float>(r * r)),
        poly(arena.take_array<float>(r * r)), panels(arena.take(panel_bytes(r, c))) {}

  static int64_t panel_bytes(int64_t r, int64_t c) {
    return std::max(packed_bytes({}, r, c, DType::kF32), packed_bytes({}, c, r, DType::kF32));
  }

  /// out [r, r] = left left^T for left [r, k], which may be symmetric. An element above the diagonal would be
  /// the same sum, in the same order, as its mirror image, so it is copied.
  void square(const Stream& stream, const float* left, int64_t k, bool symmetric, float* out) const {
    pack_matrix(stream, {f32(left, {r, k}), symmetric, {r, k, DType::kF32, panels}});
    const int64_t side = (r / kSquareParts + kPanel) / kPanel * kPanel;
    for (int64_t at = 0; at < r; at += side) {
      const PackedMatrix part{std::min(side, r - at), k, DType::kF32, static_cast<float*>(panels) + at * k};
      TensorView from_diagonal = f32(out + at * r + at, {r - at, part.n});
      from_diagonal.row_stride = r;
      linear(stream, {f32(left + at * k, {r - at, k}), part, {}, from_diagonal, false});
    }
    HONE_PICK(mirror_block)(out, r);
  }

  /// X <- a X + (b G + c G^2) X, with the symmetric G = X X^T.
  void step(const Stream& stream) {
    square(stream, x, c, false, gram);
    square(stream, gram, r, true, poly);
    combine(stream, poly, gram, kNewtonSchulzB, kNewtonSchulzC, r * r);
    combine(stream, next, x, kNewtonSchulzA, 0.0f, r * c);
    pack_matrix(stream, {f32(x, {r, c}), true, {c, r, DType::kF32, panels}});
    linear(stream, {f32(poly, {r, r}), {c, r, DType::kF32, panels}, {}, f32(next, {r, c}), true});
    std::swap(x, next);
  }
};

}  // namespace

double sum_of_squares(const Stream& stream, const TensorView& x) {
  constexpr int64_t kBatch = 512;
  const auto run = HONE_PICK(strip_squares);
  const float* data = x.as<float>();
  const int64_t n = x.numel(), strips = (n + kStrip - 1) / kStrip;
  double total = 0.0, partial[kBatch];
  for (int64_t first = 0; first < strips; first += kBatch) {
    const int64_t count = std::min(kBatch, strips - first);
    stream.parallel_for(count, 32, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = (first + i) * kStrip;
        partial[i] = run(data + at, std::min(kStrip, n - at));
      }
    });
    for (int64_t i = 0; i < count; ++i) total += partial[i];
  }
  return total;
}

void gradient_scale(const GradientScaleArgs& a) {
  double squares = 0.0;
  for (int64_t i = 0; i < a.totals.dim(0); ++i) squares += a.totals.as<double>()[i];
  const double norm = std::sqrt(squares), scale = a.clip > 0.0 ? std::min(1.0, a.clip / (norm + 1e-6)) : 1.0;
  *a.scale.as<float>() = std::isfinite(norm) ? float(scale) : std::nanf("");
}

int64_t adamw_scratch_bytes() { return Arena::rounded(kChange * int64_t(sizeof(float))); }

namespace {

void update(const Stream& stream, const AdamWArgs& a, float grad_scale, int64_t first, int64_t count) {
  const double beta1 = a.beta1, beta2 = a.beta2;
  AdamWBlock whole{};
  whole.grad_scale = grad_scale;
  whole.decay = float(1.0 - double(a.lr) * a.weight_decay);
  whole.beta1 = a.beta1;
  whole.one_minus_beta1 = float(1.0 - beta1);
  whole.beta2 = a.beta2;
  whole.one_minus_beta2 = float(1.0 - beta2);
  whole.step_size = float(a.lr / (1.0 - std::pow(beta1, double(a.step))));
  whole.root_correction = float(std::sqrt(1.0 - std::pow(beta2, double(a.step))));
  whole.eps = a.eps;
  whole.seed = a.seed ^ kMomentSeed;
  whole.step = a.step;
  const bool rounded = a.m.dtype == DType::kBF16;
  const auto run = rounded ? HONE_PICK(adamw_rounded_block) : HONE_PICK(adamw_block);
  stream.parallel_for(count, kElements, [&](int64_t begin, int64_t end) {
    AdamWBlock part = whole;
    part.param = a.param.as<float>() + first + begin;
    if (rounded) part.rounded_m = a.m.as<uint16_t>() + first + begin, part.rounded_v = a.v.as<uint16_t>() + first + begin;
    else part.m = a.m.as<float>() + first + begin, part.v = a.v.as<float>() + first + begin;
    part.first = a.first + first + begin;
    part.grad = a.grad.as<float>() + first + begin;
    part.n = end - begin;
    run(part);
  });
}

/// Sum of (now - before)^2; overwrites `before` with the differences.
double squared_change(const Stream& stream, const float* now, float* before, int64_t n) {
  stream.parallel_for(n, kElements, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) before[i] = now[i] - before[i];
  });
  return sum_of_squares(stream, f32(before, {n}));
}

}  // namespace

void adamw(const Stream& stream, const AdamWArgs& a) {
  const float scale = a.scale.empty() ? 1.0f : *a.scale.as<float>();
  const int64_t n = std::isnan(scale) ? 0 : a.param.dim(0);
  if (a.squared_change.empty()) return update(stream, a, a.grad_scale * scale, 0, n);
  const int64_t mark = a.scratch->mark();
  float* const old = a.scratch->take_array<float>(kChange);
  double change = 0.0;
  for (int64_t at = 0; at < n; at += kChange) {
    const int64_t count = std::min(kChange, n - at);
    std::memcpy(old, a.param.as<float>() + at, size_t(count) * sizeof(float));
    update(stream, a, a.grad_scale * scale, at, count);
    change += squared_change(stream, a.param.as<float>() + at, old, count);
  }
  *a.squared_change.as<double>() = change;
  a.scratch->release(mark);
}

int64_t muon_scratch_bytes(int64_t rows, int64_t columns) {
  const int64_t n = rows * columns, side = std::min(rows, columns);
  return 3 * Arena::rounded(n * 4) + 2 * Arena::rounded(side * side * 4) +
         Arena::rounded(NewtonSchulz::panel_bytes(side, std::max(rows, columns)));
}

void muon(const Stream& stream, const MuonArgs& a) {
  const int64_t rows = a.param.dim(0), columns = a.param.dim(1), n = rows * columns;
  const float scale = a.scale.empty() ? 1.0f : *a.scale.as<float>(), factor = a.grad_scale * scale;
  if (!a.squared_change.empty()) *a.squared_change.as<double>() = 0.0;
  if (std::isnan(scale)) return;
  float *const param = a.param.as<float>(), *const buffer = a.momentum_buffer.as<float>(), *const grad = a.grad.as<float>();
  Arena own = a.scratch ? Arena() : Arena(muon_scratch_bytes(rows, columns), "muon");
  Arena& arena = a.scratch ? *a.scratch : own;
  const int64_t mark = arena.mark();
  NewtonSchulz iteration(arena, rows, columns);

  combine(stream, buffer, grad, factor, a.momentum, n);
  float* const update = rows > columns ? iteration.next : iteration.x;
  combine(stream, update, grad, factor, 0.0f, n);
  combine(stream, update, buffer, a.momentum, 1.0f, n);
  const double norm = std::sqrt(sum_of_squares(stream, f32(update, {n})));
  combine(stream, update, update, float(1.0 / (norm + kMuonNormFloor)), 0.0f, n);
  if (rows > columns) transpose(update, rows, columns, iteration.x);
  for (int i = 0; i < kNewtonSchulzSteps; ++i) iteration.step(stream);
  if (rows > columns) {
    transpose(iteration.x, columns, rows, iteration.next);
    std::swap(iteration.x, iteration.next);
  }
  float* const old = a.squared_change.empty() ? nullptr : arena.take_array<float>(n);
  if (old) std::memcpy(old, param, size_t(n) * sizeof(float));
  const double gain = std::sqrt(std::max(1.0, double(rows) / double(columns)));
  combine(stream, param, iteration.x, float(-a.lr * gain), float(1.0 - double(a.lr) * a.weight_decay), n);
  if (old) *a.squared_change.as<double>() = squared_change(stream, param, old, n);
  arena.release(mark);
}

}  // namespace hone::kernels::cpu
