#include "kernels/cpu/delta_rule.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cpu/delta_rule_block.h"

namespace hone::kernels::cpu {
namespace {

static_assert(kConvTaps == kMostTaps);

// Number of multiply-adds for which a chunk is worth moving to another core (about 10 us).
constexpr double kDeltaWork = 5e5;

int64_t delta_grain(double work) { return std::max<int64_t>(1, int64_t(kDeltaWork / std::max(work, 1.0))); }

/// This thread's scratch. It grows to the longest sequence seen, and is kept until the thread ends.
float* delta_memory(int64_t floats) {
  thread_local std::vector<float> block;
  if (int64_t(block.size()) < floats) block.resize(size_t(floats));
  return block.data();
}

/// Computation that forward and backward share: the runs, and the inputs of the recurrence.
class Forward {
 public:
  Forward(const Stream& stream, const TensorView& x, const DeltaWeights& w, const DeltaRuns& runs, const DeltaSizes& sizes, Arena& scratch)
      : x(x), w(w), s(sizes), states(runs.states), cu(runs.cu_rows.as<int32_t>()), count(runs.cu_rows.dim(0) - 1) {
    taps = scratch.take_array<float>(s.taps * s.channels());
    mixed = scratch.take_array<float>(rows() * s.channels());
    gates = scratch.take_array<float>(rows() * 2 * s.value_heads);
    for (int64_t c = 0; c < s.channels(); ++c) {
      for (int64_t j = 0; j < s.taps; ++j) taps[j * s.channels() + c] = w.conv.as<float>()[c * s.taps + j];
    }
    const auto run = HONE_PICK(convolve_row);
    for_rows(stream, [&](int64_t r, int64_t of) { run(conv_row(r, of), true, mixed + r * s.channels()); });
    for_rows(stream, [&](int64_t r, int64_t) { open_gates(r); });
  }

  int64_t rows() const { return x.dim(0); }
  /// Calls each(row, run) for every row, divided among threads.
  template <class Each>
  void for_rows(const Stream& stream, const Each& each) const {
    stream.parallel_for(rows(), delta_grain(8.0 * double(s.channels())), [&](int64_t begin, int64_t end) {
      int64_t of = std::upper_bound(cu, cu + count + 1, int32_t(begin)) - cu - 1;
      for (int64_t r = begin; r < end; ++r) {
        while (cu[of + 1] <= r) ++of;
        each(r, of);
      }
    });
  }
  ConvRow conv_row(int64_t r, int64_t of) const {
    ConvRow out{{}, taps, s.channels(), s.taps, s.channels()};
    for (int64_t j = 0; j < s.taps; ++j) {
      const int64_t from = r - (s.taps - 1) + j;
      if (from >= cu[of]) out.x[j] = x.row<float>(from);
      else if (states) out.x[j] = states[of] + (from - cu[of] + s.taps - 1) * s.channels();
    }
    return out;
  }
  DeltaRows head(int64_t of, int64_t h) const {
    const int64_t key = h / (s.value_heads / s.key_heads) * s.key_dim, first = cu[of];
    const float* row = mixed + first * s.channels();
    return {row + key, row + s.keys() + key, row + 2 * s.keys() + h * s.value_dim, s.channels(),
            x.row<float>(first) + s.channels() + h * s.value_dim, x.row_stride,
            gates + first * 2 * s.value_heads + h, gates + first * 2 * s.value_heads + s.value_heads + h, 2 * s.value_heads,
            w.norm.as<float>(), nullptr, nullptr, 0, cu[of + 1] - first, s.key_dim, s.value_dim, 0.0f, nullptr};
  }
  double head_work() const { return 4.0 * double(rows()) / double(count) * double(s.key_dim * s.value_dim); }

  const TensorView& x;
  const DeltaWeights& w;
  const DeltaSizes& s;
  float* const* states;
  const int32_t* cu;
  int64_t count;
  float *taps, *mixed, *gates;  // [taps][channels]; [R][channels]; [R][2][M]: g, then beta

 private:
  void open_gates(int64_t r) const {
    const float* b = x.row<float>(r) + s.channels() + s.values();
    float* out = gates + r * 2 * s.value_heads;
    for (int64_t h = 0; h < s.value_heads; ++h) {
      const double a = double(b[s.value_heads + h]) + double(w.dt.as<float>()[h]);
      const double soft = a > 20 ? a : std::log1p(std::exp(a));
      out[h] = float(std::exp(-std::exp(double(w.decay.as<float>()[h])) * soft));
      out[s.value_heads + h] = float(1.0 / (1.0 + std::exp(-double(b[h]))));
    }
  }
};

/// Stores the last rows of every run for the next call's convolution.
void keep_tails(const Forward& f) {
  const int64_t kept = f.s.taps - 1, width = f.s.channels();
  const size_t bytes = size_t(width) * sizeof(float);
  for (int64_t of = 0; of < f.count; ++of) {
    const int64_t rows = f.cu[of + 1] - f.cu[of], old = std::max<int64_t>(0, kept - rows);
    float* tail = f.states[of];
    std::memmove(tail, tail + (kept - old) * width, size_t(old) * bytes);
    for (int64_t j = old; j < kept; ++j) std::memcpy(tail + j * width, f.x.row<float>(f.cu[of + 1] - kept + j), bytes);
  }
}

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
      const double soft = a > 20 ? a : std::log1p(std::exp(a)), da = -d * rate / (1.0 + std::exp(-a));
      of_decay -= d * rate * soft;
      of_dt += da;
      args.dx.row<float>(r)[first + h] = float(double(dgates[r * 2 * M + M + h]) * beta * (1.0 - beta));
      args.dx.row<float>(r)[first + M + h] = float(da);
    }
    args.dweights.decay.as<float>()[h] += float(of_decay);
    args.dweights.dt.as<float>()[h] += float(of_dt);
  }
}

/// Writes dx of columns q, k and v, and adds to dconv, given `d`, the gradient of the convolution's output,
/// which is overwritten.
void convolution_grad(const Stream& stream, const Forward& f, float* d, const DeltaRuleGradArgs& args) {
  const int64_t width = f.s.channels(), taps = f.s.taps;
  const auto slope = HONE_PICK(convolve_slope_row);
  const auto turned = HONE_PICK(convolve_row);
  const auto strip = HONE_PICK(convolve_weight_strip);
  f.for_rows(stream, [&](int64_t r, int64_t of) { slope(f.conv_row(r, of), d + r * width); });
  f.for_rows(stream, [&](int64_t r, int64_t of) {
    ConvRow row{{}, f.taps, width, taps, width};
    for (int64_t j = 0; j < taps; ++j) row.x[j] = r + taps - 1 - j < f.cu[of + 1] ? d + (r + taps - 1 - j) * width : nullptr;
    turned(row, false, args.dx.row<float>(r));
  });
  stream.parallel_for((width + 15) / 16, delta_grain(16.0 * double(taps * f.rows())), [&](int64_t begin, int64_t end) {
    for (int64_t first = 16 * begin; first < std::min(16 * end, width); first += 16) {
      const int n = int(std::min<int64_t>(16, width - first));
      double sums[kMostTaps * 16] = {};
      for (int64_t of = 0; of < f.count; ++of) {
        const int64_t row = f.cu[of], rows = f.cu[of + 1] - row;
        if (rows > 0) strip(d + row * width + first, width, f.x.row<float>(row) + first, f.x.row_stride, rows, taps, n, sums);
      }
      for (int i = 0; i < n; ++i) {
        for (int64_t j = 0; j < taps; ++j) args.dweights.conv.as<float>()[(first + i) * taps + j] += float(sums[j * 16 + i]);
      }
    }
  });
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
  stream.parallel_for(f.count * s.value_heads, delta_grain(f.head_work()), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t of = item / s.value_heads, h = item % s.value_heads;
      DeltaRows rows = f.head(of, h);
      rows.scratch = delta_memory(own + size);
      rows.state = rows.scratch + own;
      if (f.states) rows.state = f.states[of] + (s.taps - 1) * s.channels() + h * size;
      else std::fill_n(rows.state, size, 0.0f);
      rows.y = a.y.row<float>(f.cu[of]) + h * s.value_dim;
      rows.y_stride = a.y.row_stride, rows.eps = a.eps;
      run(rows);
    }
  });
  if (f.states) keep_tails(f);
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
  stream.parallel_for(f.count * s.key_heads, delta_grain(4.0 * double(share) * f.head_work()), [&](int64_t begin, int64_t end) {
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
        grad.of.scratch = delta_memory(delta_grad_scratch(rows, s.key_dim, s.value_dim));
        run(grad);
      }
      unit(f.mixed + (dq - d), dq, s.channels(), rows, s.key_dim, 1.0f / std::sqrt(float(s.key_dim)));
      unit(f.mixed + (dk - d), dk, s.channels(), rows, s.key_dim, 1.0f);
    }
  });
  norm_grad(f, dnorm, a.dweights);
  gates_grad(f, dgates, a);
  convolution_grad(stream, f, d, a);
  a.scratch->release(mark);
}

}  // namespace hone::kernels::cpu
