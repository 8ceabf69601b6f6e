#include "kernels/cpu/mamba.h"

#include <vector>

#include "kernels/cpu/mamba_block.h"
#include "kernels/cpu/silu_conv.h"

namespace hone::kernels::cpu {
namespace {

/// Computation that forward and backward share: the runs, and the inputs of the recurrence.
class MambaForward {
 public:
  MambaForward(const Stream& stream, const TensorView& x, const DeltaWeights& w, const DeltaRuns& runs, const DeltaSizes& sizes,
          const StepRange& steps, Arena& scratch)
      : x(x), w(w), s(sizes), steps(steps), conv(stream, mixed(x), w.conv, w.conv_bias, runs, scratch), cu(conv.cu), count(conv.count) {
    gates = scratch.take_array<float>(rows() * 2 * s.value_heads);
    conv.for_rows(stream, [&](int64_t r, int64_t) { open_gates(r); });
  }

  int64_t rows() const { return x.dim(0); }
  /// The columns x | B | C of the input, or of its gradient.
  TensorView mixed(const TensorView& whole) const {
    TensorView out(whole.as<float>() + s.values(), DType::kF32, {whole.dim(0), s.channels()});
    out.row_stride = whole.row_stride;
    return out;
  }
  double unbounded_step(int64_t r, int64_t h) const {
    return softplus(double(x.row<float>(r)[s.values() + s.channels() + h]) + double(w.dt.as<float>()[h]));
  }
  double step(double unbounded) const { return std::min(std::max(unbounded, steps.least), steps.most); }
  double rate(int64_t h) const { return std::exp(double(w.decay.as<float>()[h])); }
  MambaRows head(int64_t of, int64_t h) const {
    const int64_t key = h / (s.value_heads / s.key_heads) * s.key_dim, first = cu[of];
    const float *row = conv.out(first), *gate = gates + first * 2 * s.value_heads + h;
    return {row + h * s.value_dim, row + s.values() + key, row + s.values() + s.keys() + key, s.channels(),
            gate, gate + s.value_heads, 2 * s.value_heads, w.skip.as<float>()[h],
            nullptr, nullptr, s.values(), cu[of + 1] - first, s.key_dim, s.value_dim};
  }
  double head_work() const { return 3.0 * double(rows()) / double(count) * double(s.key_dim * s.value_dim); }
  /// Writes o [R][values], before gate and norm. Without states every run begins with zeros.
  void scan(const Stream& stream, float* o) const {
    const auto run = HONE_PICK(mamba_rows);
    const int64_t size = s.key_dim * s.value_dim;
    stream.parallel_for(count * s.value_heads, recurrence_grain(head_work()), [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        const int64_t of = item / s.value_heads, h = item % s.value_heads;
        MambaRows rows = head(of, h);
        rows.state = conv.runs.states ? conv.runs.state(of) + (s.taps - 1) * s.channels() + h * size : recurrence_memory(size);
        if (!conv.runs.states) std::fill_n(rows.state, size, 0.0f);
        rows.o = o + cu[of] * s.values() + h * s.value_dim;
        run(rows);
      }
    });
  }
  /// Number of parts of a row's columns that are gated and normed apart.
  int64_t parts() const { return std::max<int64_t>(s.norms, 1); }
  GatedNormRow norm_row(const float* o, int64_t r, int64_t part, float eps) const {
    const int64_t width = s.values() / parts(), first = part * width;
    return {o + r * s.values() + first, x.row<float>(r) + first, s.norms > 0 ? w.norm.as<float>() + first : nullptr, width, eps};
  }

  const TensorView& x;
  const DeltaWeights& w;
  const DeltaSizes& s;
  const StepRange& steps;
  const SiluConv conv;  // of x, B and C
  const int32_t* const cu;
  const int64_t count;
  float* gates;  // [R][2][M]: decay, then step

 private:
  void open_gates(int64_t r) const {
    float* out = gates + r * 2 * s.value_heads;
    for (int64_t h = 0; h < s.value_heads; ++h) {
      const double of = step(unbounded_step(r, h));
      out[h] = float(std::exp(-rate(h) * of));
      out[s.value_heads + h] = float(of);
    }
  }
};

/// Replaces o [R][values] by its gradient, and writes dx of columns z.
void mamba_gate_grad(const Stream& stream, const MambaForward& f, float* o, const MambaGradArgs& args) {
  const auto run = HONE_PICK(gate_grad_row);
  f.conv.for_rows(stream, [&](int64_t r, int64_t) { run(f.norm_row(o, r, 0, args.eps), args.dy.row<float>(r), o + r * f.s.values(), args.dx.row<float>(r)); });
}

/// Replaces o [R][values] by its gradient, writes dx of columns z, and adds to dnorm.
void mamba_norm_grad(const Stream& stream, const MambaForward& f, float* o, const MambaGradArgs& args) {
  const auto run = HONE_PICK(gated_norm_grad_row);
  const int64_t width = f.s.values();
  std::vector<int64_t> firsts;  // of chunks of up to kRecurrentChunk rows of a run
  for (int64_t of = 0; of < f.count; ++of) {
    for (int64_t r = f.cu[of]; r < f.cu[of + 1]; r += kRecurrentChunk) firsts.push_back(r);
  }
  const int64_t chunks = int64_t(firsts.size());
  firsts.push_back(f.rows());
  std::vector<float> sums(size_t(chunks * width));
  stream.parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t r = firsts[size_t(c)]; r < firsts[size_t(c) + 1]; ++r) {
        for (int64_t part = 0; part < f.parts(); ++part) {
          const int64_t first = part * (width / f.parts());
          run(f.norm_row(o, r, part, args.eps), args.dy.row<float>(r) + first, o + r * width + first, args.dx.row<float>(r) + first, sums.data() + c * width + first);
        }
      }
    }
  });
  for (int64_t i = 0; i < width; ++i) {
    double total = 0;
    for (int64_t c = 0; c < chunks; ++c) total += double(sums[size_t(c * width + i)]);
    args.dweights.norm.as<float>()[i] += float(total);
  }
}

/// Gradients that the recurrence's backward writes, of the inputs of all rows.
struct MambaScanGradients {
  float *mixed;  // [R][channels]
  float *gates;  // [R][2][M]: of ln(decay), then of step
  float *keys;   // [parts][R][2][keys]: of B, then of C
};

/// The backward of the recurrence, given d_o [R][values]. A group's heads are divided into parts; those of one part are
/// processed in sequence, because they add to one gradient of B and of C.
void mamba_scan_grad(const Stream& stream, const MambaForward& f, const float* d_o, const MambaScanGradients& to, const DeltaWeights& dweights) {
  const DeltaSizes& s = f.s;
  const auto run = HONE_PICK(mamba_grad_rows);
  const int64_t share = s.value_heads / s.key_heads, parts = mamba_head_parts(s), keys = s.keys();
  std::vector<double> dskip(size_t(f.count * s.value_heads));
  stream.parallel_for(f.count * s.key_heads * parts, recurrence_grain(4.0 * double(share) / double(parts) * f.head_work()), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t part = item % parts, group = item / parts % s.key_heads, of = item / parts / s.key_heads;
      const int64_t first = f.cu[of], rows = f.cu[of + 1] - first, from = group * share + share * part / parts, last = group * share + share * (part + 1) / parts;
      float* const db = to.keys + (part * f.rows() + first) * 2 * keys + group * s.key_dim;
      float* const dgates = to.gates + first * 2 * s.value_heads;
      for (int64_t h = from; h < last && rows > 0; ++h) {
        run({.of = f.head(of, h), .d_o = d_o + first * s.values() + h * s.value_dim, .d_stride = s.values(),
             .dx = to.mixed + first * s.channels() + h * s.value_dim, .db = db, .dc = db + keys, .key_stride = 2 * keys, .adds = h > from,
             .ddecay = dgates + h, .dstep = dgates + s.value_heads + h, .dskip = &dskip[size_t(of * s.value_heads + h)],
             .scratch = recurrence_memory(mamba_grad_scratch(rows, s.key_dim, s.value_dim))});
      }
    }
  });
  f.conv.for_rows(stream, [&](int64_t r, int64_t) {
    float* const out = to.mixed + r * s.channels() + s.values();
    std::copy_n(to.keys + r * 2 * keys, 2 * keys, out);
    for (int64_t part = 1; part < parts; ++part) {
      const float* const more = to.keys + (part * f.rows() + r) * 2 * keys;
      for (int64_t i = 0; i < 2 * keys; ++i) out[i] += more[i];
    }
  });
  for (int64_t h = 0; h < s.value_heads; ++h) {
    double total = 0;
    for (int64_t of = 0; of < f.count; ++of) total += dskip[size_t(of * s.value_heads + h)];
    dweights.skip.as<float>()[h] += float(total);
  }
}

/// Writes dx of columns dt; adds to ddecay and ddt.
void mamba_gates_grad(const MambaForward& f, const float* dgates, const MambaGradArgs& args) {
  const int64_t M = f.s.value_heads, first = f.s.values() + f.s.channels();
  for (int64_t h = 0; h < M; ++h) {
    const double rate = f.rate(h);
    double of_decay = 0, of_dt = 0;
    for (int64_t r = 0; r < f.rows(); ++r) {
      const double unbounded = f.unbounded_step(r, h), step = f.step(unbounded), dlog = double(dgates[r * 2 * M + h]);
      // softplus' derivative is the sigmoid, which is 1 - exp(-softplus)
      const double slope = step == unbounded ? -std::expm1(-unbounded) : 0.0;
      const double da = (double(dgates[r * 2 * M + M + h]) - dlog * rate) * slope;
      of_decay -= dlog * rate * step;
      of_dt += da;
      args.dx.row<float>(r)[first + h] = float(da);
    }
    args.dweights.decay.as<float>()[h] += float(of_decay);
    args.dweights.dt.as<float>()[h] += float(of_dt);
  }
}

}  // namespace

void mamba(const Stream& stream, const MambaArgs& a) {
  const int64_t mark = a.scratch->mark();
  const MambaForward f(stream, a.x, a.weights, a.runs, a.sizes, a.steps, *a.scratch);
  float* const y = a.y.as<float>();
  const auto norm = a.sizes.norms > 0 ? HONE_PICK(gated_norm_row) : HONE_PICK(gate_row);
  f.scan(stream, y);
  f.conv.for_rows(stream, [&](int64_t r, int64_t) {
    float* to = y + r * a.sizes.values();
    for (int64_t part = 0; part < f.parts(); ++part, to += a.sizes.values() / f.parts()) norm(f.norm_row(y, r, part, a.eps), to);
  });
  if (f.conv.runs.states) f.conv.keep_tails();
  a.scratch->release(mark);
}

void mamba_grad(const Stream& stream, const MambaGradArgs& a) {
  const int64_t mark = a.scratch->mark();
  const DeltaSizes& s = a.sizes;
  const DeltaRuns runs{a.cu_rows, nullptr};
  const MambaForward f(stream, a.x, a.weights, runs, s, a.steps, *a.scratch);
  float* const o = a.scratch->take_array<float>(f.rows() * s.values());
  const MambaScanGradients d{a.scratch->take_array<float>(f.rows() * s.channels()), a.scratch->take_array<float>(f.rows() * 2 * s.value_heads),
                        a.scratch->take_array<float>(mamba_head_parts(s) * f.rows() * 2 * s.keys())};
  f.scan(stream, o);
  s.norms > 0 ? mamba_norm_grad(stream, f, o, a) : mamba_gate_grad(stream, f, o, a);
  mamba_scan_grad(stream, f, o, d, a.dweights);
  mamba_gates_grad(f, d.gates, a);
  f.conv.gradient(stream, d.mixed, f.mixed(a.dx), a.dweights.conv, a.dweights.conv_bias);
  a.scratch->release(mark);
}

}  // namespace hone::kernels::cpu
