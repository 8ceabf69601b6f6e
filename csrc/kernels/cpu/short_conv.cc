#include "kernels/cpu/short_conv.h"

#include <algorithm>

namespace hone::kernels::cpu {
namespace {

/// Multiplications per chunk of work that a thread takes: about 10 us.
constexpr int64_t kWork = 1 << 16;

/// Computation that forward and backward share: products b x, taps by row, and the run of each row.
class Rows {
 public:
  Rows(const Stream& stream, const TensorView& x, const TensorView& conv, const DeltaRuns& runs, Arena& scratch)
      : channels(conv.dim(0)), taps(conv.dim(1)), cu(runs.cu_rows.as<int32_t>()), count(runs.cu_rows.dim(0) - 1), x_(x), runs_(runs) {
    turned_ = scratch.take_array<float>(taps * channels);
    products_ = scratch.take_array<float>(x.dim(0) * channels);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t j = 0; j < taps; ++j) turned_[j * channels + c] = conv.as<float>()[c * taps + j];
    }
    for_rows(stream, [&](int64_t r, int64_t) {
      float* out = products_ + r * channels;
      for (int64_t c = 0; c < channels; ++c) out[c] = open(r)[c] * value(r)[c];
    });
  }

  /// Calls each(row, run) for every row, divided among threads.
  template <class Each>
  void for_rows(const Stream& stream, const Each& each) const {
    stream.parallel_for(x_.dim(0), std::max<int64_t>(1, kWork / (taps * channels)), [&](int64_t begin, int64_t end) {
      int64_t of = std::upper_bound(cu, cu + count + 1, int32_t(begin)) - cu - 1;
      for (int64_t r = begin; r < end; ++r) {
        while (cu[of + 1] <= r) ++of;
        each(r, of);
      }
    });
  }
  const float* open(int64_t r) const { return x_.row<float>(r); }                  // b
  const float* close(int64_t r) const { return x_.row<float>(r) + channels; }      // c
  const float* value(int64_t r) const { return x_.row<float>(r) + 2 * channels; }  // x
  const float* tap(int64_t j) const { return turned_ + j * channels; }
  /// b x of the row that tap j reads for row r; null before the sequence begins.
  const float* read(int64_t r, int64_t of, int64_t j) const {
    const int64_t from = r - (taps - 1) + j;
    if (from >= cu[of]) return products_ + from * channels;
    return runs_.states ? runs_.state(of) + (from - cu[of] + taps - 1) * channels : nullptr;
  }
  /// out = sum over the taps, in ascending order.
  void convolve(int64_t r, int64_t of, float* out) const {
    std::fill_n(out, channels, 0.0f);
    for (int64_t j = 0; j < taps; ++j) {
      const float *const in = read(r, of, j), *const w = tap(j);
      for (int64_t c = 0; in && c < channels; ++c) out[c] += w[c] * in[c];
    }
  }
  /// Stores the last rows of every run for the next call.
  void keep_tails() const {
    for (int64_t of = 0; of < count; ++of) {
      const int64_t kept = taps - 1, rows = cu[of + 1] - cu[of], old = std::max<int64_t>(0, kept - rows);
      float* tail = runs_.state(of);
      std::copy_n(tail + (kept - old) * channels, old * channels, tail);
      std::copy_n(products_ + (cu[of + 1] - kept + old) * channels, (kept - old) * channels, tail + old * channels);
    }
  }

  const int64_t channels, taps;
  const int32_t* const cu;
  const int64_t count;

 private:
  const TensorView& x_;
  const DeltaRuns runs_;
  float *turned_, *products_;  // [taps][C], [R][C]
};

/// Adds to dconv, given `d`, the gradient of the convolution's output.
void taps_grad(const Stream& stream, const Rows& rows, const float* d, const TensorView& dconv) {
  const int64_t R = rows.cu[rows.count], C = rows.channels, taps = rows.taps;
  stream.parallel_for(C, std::max<int64_t>(16, kWork / std::max<int64_t>(1, R * taps)), [&](int64_t begin, int64_t end) {
    for (int64_t j = 0; j < taps; ++j) {
      for (int64_t c = begin; c < end; ++c) {
        double sum = 0.0;
        for (int64_t of = 0; of < rows.count; ++of) {
          for (int64_t r = rows.cu[of] + taps - 1 - j; r < rows.cu[of + 1]; ++r) sum += double(d[r * C + c]) * double(rows.read(r, of, j)[c]);
        }
        dconv.as<float>()[c * taps + j] += float(sum);
      }
    }
  });
}

}  // namespace

void short_conv(const Stream& stream, const ShortConvArgs& a) {
  const int64_t mark = a.scratch->mark();
  const Rows rows(stream, a.x, a.conv, a.runs, *a.scratch);
  rows.for_rows(stream, [&](int64_t r, int64_t of) {
    float* const y = a.y.row<float>(r);
    rows.convolve(r, of, y);
    for (int64_t c = 0; c < rows.channels; ++c) y[c] *= rows.close(r)[c];
  });
  if (a.runs.states) rows.keep_tails();
  a.scratch->release(mark);
}

void short_conv_grad(const Stream& stream, const ShortConvGradArgs& a) {
  const int64_t mark = a.scratch->mark();
  const Rows rows(stream, a.x, a.conv, {a.cu_rows, nullptr}, *a.scratch);
  const int64_t C = rows.channels;
  float* const d = a.scratch->take_array<float>(a.x.dim(0) * C);
  rows.for_rows(stream, [&](int64_t r, int64_t of) {
    const float* const dy = a.dy.row<float>(r);
    float *const made = a.dx.row<float>(r) + C, *const dr = d + r * C;
    rows.convolve(r, of, made);
    for (int64_t c = 0; c < C; ++c) {
      dr[c] = dy[c] * rows.close(r)[c];
      made[c] *= dy[c];
    }
  });
  rows.for_rows(stream, [&](int64_t r, int64_t of) {
    float *const db = a.dx.row<float>(r), *const dvalue = db + 2 * C;
    std::fill_n(db, C, 0.0f);
    for (int64_t j = 0; j < rows.taps; ++j) {
      const int64_t reader = r + rows.taps - 1 - j;
      if (reader >= rows.cu[of + 1]) continue;
      for (int64_t c = 0; c < C; ++c) db[c] += rows.tap(j)[c] * d[reader * C + c];
    }
    for (int64_t c = 0; c < C; ++c) {
      dvalue[c] = db[c] * rows.open(r)[c];
      db[c] *= rows.value(r)[c];
    }
  });
  taps_grad(stream, rows, d, a.dconv);
  a.scratch->release(mark);
}

}  // namespace hone::kernels::cpu
