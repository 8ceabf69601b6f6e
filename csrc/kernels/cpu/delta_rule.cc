#include "kernels/cpu/delta_rule.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/delta_rule_block.h"
#include "kernels/cpu/silu_conv.h"

namespace hone::kernels::cpu {
namespace {

/// Computation that forward and backward share: the runs, and the inputs of the recurrence.
class Forward {
 public:
  Forward(const Stream& stream, const TensorView& x, const DeltaWeights& w, const DeltaRuns& runs, const DeltaSizes& sizes, Arena& scratch)
      : x(x), w(w), s(sizes), conv(stream, x, w.conv, {}, runs, scratch), cu(conv.cu), count(conv.count) {
    gates = scratch.take_array<float>(rows() * 2 * s.value_heads);
    conv.for_rows(stream, [&](int64_t r, int64_t) { open_gates(r); });
  }

  int64_t rows() const { return x.dim(0); }
  DeltaRows head(int64_t of, int64_t h) const {
    const int64_t key = h / (s.value_heads / s.key_heads) * s.key_dim, first = cu[of];
    const float* row = conv.out(first);
    return {row + key, row + s.keys() + key, row + 2 * s.keys() + h * s.value_dim, s.channels(),
            x.row<float>(first) + s.channels() + h * s.value_dim, x.row_stride,
            gates + first * 2 * s.value_heads + h, gates + first * 2 * s.value_heads + s.value_heads + h, 2 * s.value_heads,
            w.norm.as<float>(), nullptr, nullptr, 0, cu[of + 1] - first, s.key_dim, s.value_dim, 0.0f, nullptr};
  }
  double head_work() const { return 4.0 * double(rows()) / double(count) * double(s.key_dim * s.value_dim); }

  const TensorView& x;
  const DeltaWeights& w;
  const DeltaSizes& s;
  const SiluConv conv;  // of q, k and v
  const int32_t* const cu;
  const int64_t count;
  float* gates;  // [R][2][M]: g, then beta

 private:
  void open_gates(int64_t r) const {
    const float* b = x.row<float>(r) + s.channels() + s.values();
    float* out = gates + r * 2 * s.value_heads;
    for (int64_t h = 0; h < s.value_heads; ++h) {
      const double soft = softplus(double(b[s.value_heads + h]) + double(w.dt.as<float>()[h]));
      out[h] = float(std::exp(-std::exp(double(w.decay.as<float>()[h])) * soft));
      out[s.value_heads + h] = float(1.0 / (1.0 + std::exp(-double(b[h]))));
    }
  }
};

/// Writes dx of columns b and a; adds to ddecay and ddt.
void gates_grad(const Forward& f, const float* dgates, const DeltaRuleGradArgs& args) {
  const int64_t M = f.s.value_heads, first = f.s.channels() + f.s.values();
  for (int64_t h = 0; h < M; ++h) {
    const double rate = std::exp(double(f.w.decay.as<float>()[h]));
    double of_decay = 0, of_dt = 0;
    for (int64_t r = 0; r < f.rows(); ++r) {
      const float* in = f.x.row<float>(r) + first;
      const double d = double(dgates[r * 2 * M + h]), beta = double(f.gates[r * 2 * M + M + h]);
      const double a = double(in[M + h]) + double(f.w.dt.as<float>()[h]);
      const double da = -d * rate / (1.0 + std::exp(-a));
      of_decay -= d * rate * softplus(a);
      of_dt += da;
      args.dx.row<float>(r)[first + h] = float(double(dgates[r * 2 * M + M + h]) * beta * (1.0 - beta));
      args.dx.row<float>(r)[first + M + h] = float(da);
    }
    args.dweights.decay.as<float>()[h] += float(of_decay);
    args.dweights.dt.as<float>()[h] += float(of_dt);
  }
}

/// Adds to dnorm the sums [S M, Dv] of all sequences and heads.
void norm_grad(const Forward& f, const std::vector<float>& sums, const DeltaWeights& dweights) {
  for (int64_t i = 0; i < f.s.value_dim; ++i) {
    double total = 0;
    for (size_t at = size_t(i); at < sums.size(); at += size_t(f.s.value_dim)) total += double(sums[at]);
    dweights.norm.as<float>()[i] += float(total);
  }
}

}  // namespace

void delta_rule(const Stream& stream, const DeltaRuleArgs& a) {
  const int64_t mark = a.scratch->mark();
  const DeltaSizes& s = a.sizes;
  const Forward f(stream, a.x, a.weights, a.runs, s, *a.scratch);
  const auto run = HONE_PICK(delta_rows);
  const int64_t size = s.key_dim * s.value_dim, own = delta_scratch(s.key_dim, s.value_dim);
  stream.parallel_for(f.count * s.value_heads, recurrence_grain(f.head_work()), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t of = item / s.value_heads, h = item % s.value_heads;
      DeltaRows rows = f.head(of, h);
      rows.scratch = recurrence_memory(own + size);
      rows.state = rows.scratch + own;
      if (f.conv.runs.states) rows.state = f.conv.runs.state(of) + (s.taps - 1) * s.channels() + h * size;
      else std::fill_n(rows.state, size, 0.0f);
      rows.y = a.y.row<float>(f.cu[of]) + h * s.value_dim;
      rows.y_stride = a.y.row_stride, rows.eps = a.eps;
      run(rows);
    }
  });
  if (f.conv.runs.states) f.conv.keep_tails();
  a.scratch->release(mark);
}

void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& a) {
  const int64_t mark = a.scratch->mark();
  const DeltaSizes& s = a.sizes;
  const DeltaRuns runs{a.cu_rows, nullptr};
  const Forward f(stream, a.x, a.weights, runs, s, *a.scratch);
  float* const d = a.scratch->take_array<float>(f.rows() * s.channels());
  float* const dgates = a.scratch->take_array<float>(f.rows() * 2 * s.value_heads);
  std::vector<float> dnorm(size_t(f.count * s.values()));
  const auto run = HONE_PICK(delta_grad_rows);
  const auto unit = HONE_PICK(unit_grad_rows);
  const int64_t share = s.value_heads / s.key_heads;
  // The value heads of a key head are processed in sequence, because they add to one gradient.
  stream.parallel_for(f.count * s.key_heads, recurrence_grain(4.0 * double(share) * f.head_work()), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t of = item / s.key_heads, key = item % s.key_heads, first = f.cu[of], rows = f.cu[of + 1] - first;
      if (rows == 0) continue;
      float* const dq = d + first * s.channels() + key * s.key_dim;
      float* const dk = dq + s.keys();
      for (int64_t h = key * share; h < (key + 1) * share; ++h) {
        DeltaGradRows grad{.of = f.head(of, h), .dy = a.dy.row<float>(first) + h * s.value_dim, .dy_stride = a.dy.row_stride,
                           .dq = dq, .dk = dk, .dv = d + first * s.channels() + 2 * s.keys() + h * s.value_dim,
                           .dz = a.dx.row<float>(first) + s.channels() + h * s.value_dim,
                           .ddecay = dgates + first * 2 * s.value_heads + h,
                           .dbeta = dgates + first * 2 * s.value_heads + s.value_heads + h,
                           .dnorm = dnorm.data() + (of * s.value_heads + h) * s.value_dim, .adds = h > key * share};
        grad.of.eps = a.eps;
        grad.of.scratch = recurrence_memory(delta_grad_scratch(rows, s.key_dim, s.value_dim));
        run(grad);
      }
      unit(f.conv.out(0) + (dq - d), dq, s.channels(), rows, s.key_dim, 1.0f / std::sqrt(float(s.key_dim)));
      unit(f.conv.out(0) + (dk - d), dk, s.channels(), rows, s.key_dim, 1.0f);
    }
  });
  norm_grad(f, dnorm, a.dweights);
  gates_grad(f, dgates, a);
  f.conv.gradient(stream, d, a.dx, a.dweights.conv, {});
  a.scratch->release(mark);
}

}  // namespace hone::kernels::cpu
