#include "kernels/cpu/rows.h"

#include <algorithm>

#include "core/arena.h"
#include "core/even_grain.h"
#include "kernels/cpu/matmul_block.h"
#include "kernels/cpu/rows_block.h"

namespace hone::kernels::cpu {
namespace {

// Floats of a chunk: about 5 us of streaming work; for less, handing a chunk to another core costs more than
// it saves.
constexpr int64_t kChunkFloats = 32 * 1024;

int64_t row_grain(const Stream& stream, int64_t rows, int64_t width) {
  return even_grain(stream, rows, kChunkFloats / std::max<int64_t>(1, width));
}

float widen(float x) { return x; }
float widen(uint16_t x) { return bf16_to_f32(x); }

/// Copies a row of the table for each id, whose elements lie `step` apart from place(id) on.
template <class T, class Place>
void look_up(const Stream& stream, const TensorView& ids, const TensorView& x, int64_t step, const Place& place) {
  const int64_t width = x.dim(1);
  const int32_t* const id = ids.as<int32_t>();
  stream.parallel_for(ids.dim(0), row_grain(stream, ids.dim(0), step * width), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const T* const from = place(id[t]);
      float* const to = x.row<float>(t);
      for (int64_t c = 0; c < width; ++c) to[c] = widen(from[c * step]);
    }
  });
}

template <class T>
void look_up_rows(const Stream& stream, const EmbeddingArgs& a) {
  look_up<T>(stream, a.ids, a.x, 1, [&](int64_t id) { return a.table.row<T>(id); });
}
template <class T>
void look_up_packed(const Stream& stream, const PackedEmbeddingArgs& a) {
  const auto* const panels = static_cast<const T*>(a.w.panels);
  look_up<T>(stream, a.ids, a.x, kPanel, [&](int64_t id) { return panels + id / kPanel * a.w.k * kPanel + id % kPanel; });
}

}  // namespace

void embedding(const Stream& stream, const EmbeddingArgs& a) {
  a.table.dtype == DType::kBF16 ? look_up_rows<uint16_t>(stream, a) : look_up_rows<float>(stream, a);
}

void packed_embedding(const Stream& stream, const PackedEmbeddingArgs& a) {
  a.w.storage == DType::kBF16 ? look_up_packed<uint16_t>(stream, a) : look_up_packed<float>(stream, a);
}

void embedding_grad(const Stream& stream, const EmbeddingGradArgs& a) {
  // Columns, not rows, are split over threads: each thread processes every token in order, so that no two
  // threads write to the same place.
  const int64_t rows = a.ids.dim(0), width = a.dtable.dim(1);
  const int64_t strips = (width + 15) / 16, grain = std::max<int64_t>(2, row_grain(stream, strips, 16 * rows));
  const auto run = HONE_PICK(scatter_add_rows);
  stream.parallel_for(strips, grain, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * 16, last = std::min(end * 16, width);
    run(a.ids.as<int32_t>(), a.dx.as<float>() + first, a.dx.row_stride, rows, a.dtable.as<float>() + first,
        a.dtable.row_stride, last - first);
  });
}

void rms_norm(const Stream& stream, const RmsNormArgs& a) {
  const int64_t width = a.x.dim(1);
  const auto run = HONE_PICK(rms_norm_rows);
  stream.parallel_for(a.x.dim(0), row_grain(stream, a.x.dim(0), width), [&](int64_t begin, int64_t end) {
    run({a.x.row<float>(begin), a.x.row_stride, a.weight.as<float>(), a.y.row<float>(begin), a.y.row_stride,
         end - begin, width, a.eps, a.offset, a.centered});
  });
}

void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& a) {
  const int64_t rows = a.x.dim(0), width = a.x.dim(1);
  const int64_t strips = (rows + kNormStrip - 1) / kNormStrip;
  Arena scratch(strips * width * int64_t(sizeof(float)), "rms_norm_grad");
  float* sums = scratch.take_array<float>(strips * width);
  const auto run = HONE_PICK(rms_norm_grad_rows);
  stream.parallel_for(strips, row_grain(stream, strips, kNormStrip * width), [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const int64_t first = s * kNormStrip;
      run({a.x.row<float>(first), a.x.row_stride, a.weight.as<float>(), a.dy.row<float>(first), a.dy.row_stride,
           a.dx.row<float>(first), a.dx.row_stride, sums + s * width, std::min(kNormStrip, rows - first), width, a.eps,
           a.offset, a.centered, a.accumulate});
    }
  });
  float* dweight = a.dweight.as<float>();
  for (int64_t i = 0; i < width; ++i) {
    double total = 0;
    for (int64_t s = 0; s < strips; ++s) total += double(sums[s * width + i]);
    dweight[i] += float(total);
  }
}

void rope(const Stream& stream, const RopeArgs& a) {
  const int64_t heads = a.x.dim(1), head_dim = a.x.dim(2);
  const auto run = HONE_PICK(rope_rows);
  stream.parallel_for(a.x.dim(0), row_grain(stream, a.x.dim(0), heads * head_dim), [&](int64_t begin, int64_t end) {
    run({a.x.row<float>(begin), a.x.row_stride, a.positions.as<int32_t>() + begin, a.table.as<float>(),
         a.table.row_stride, end - begin, heads, head_dim, a.table.dim(1), a.inverse, a.interleaved});
  });
}

void round_to_bf16(const Stream& stream, const TensorView& x) {
  const int64_t rows = x.dim(0), width = x.numel() / rows;
  const auto run = HONE_PICK(round_bf16_rows);
  stream.parallel_for(rows, row_grain(stream, rows, width), [&](int64_t begin, int64_t end) {
    run(x.row<float>(begin), x.row_stride, end - begin, width);
  });
}

void swiglu(const Stream& stream, const SwigluArgs& a) {
  const int64_t width = a.y.dim(1);
  const auto run = a.gelu ? HONE_PICK(geglu_row) : HONE_PICK(swiglu_row);
  const auto run_limited = HONE_PICK(limited_swiglu_row);
  stream.parallel_for(a.y.dim(0), row_grain(stream, a.y.dim(0), 4 * width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* gate = a.gate_up.row<float>(r);
      if (a.limit > 0.0f) run_limited(gate, a.limit, a.y.row<float>(r), width);
      else run(gate, gate + width, a.y.row<float>(r), width);
    }
  });
}

void swiglu_grad(const Stream& stream, const SwigluGradArgs& a) {
  const int64_t width = a.dy.dim(1);
  const auto run = a.gelu ? HONE_PICK(geglu_grad_row) : HONE_PICK(swiglu_grad_row);
  const auto run_limited = HONE_PICK(limited_swiglu_grad_row);
  stream.parallel_for(a.dy.dim(0), row_grain(stream, a.dy.dim(0), 8 * width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* gate = a.gate_up.row<float>(r);
      float *dgate = a.dgate_up.row<float>(r), *y = a.y.empty() ? nullptr : a.y.row<float>(r);
      if (a.limit > 0.0f) run_limited(gate, a.limit, a.dy.row<float>(r), dgate, y, width);
      else run(gate, gate + width, a.dy.row<float>(r), dgate, dgate + width, y, width);
    }
  });
}

void head_gate(const Stream& stream, const HeadGateArgs& a) {
  const int64_t width = a.y.dim(1);
  const auto run = HONE_PICK(head_gate_row);
  stream.parallel_for(a.y.dim(0), row_grain(stream, a.y.dim(0), 4 * width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) run(a.x.row<float>(r), a.gate.row<float>(r), a.y.row<float>(r), width);
  });
}

void head_gate_grad(const Stream& stream, const HeadGateGradArgs& a) {
  const int64_t width = a.dy.dim(1);
  const auto run = HONE_PICK(head_gate_grad_row);
  stream.parallel_for(a.dy.dim(0), row_grain(stream, a.dy.dim(0), 8 * width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      run(a.x.row<float>(r), a.gate.row<float>(r), a.dy.row<float>(r), a.dx.row<float>(r), a.dgate.row<float>(r), width);
    }
  });
}

void row_gate(const Stream& stream, const RowGateArgs& a) {
  const int64_t width = a.x.dim(1);
  const auto squash = HONE_PICK(sigmoid_row);
  const auto scale = HONE_PICK(axpby_row);
  stream.parallel_for(a.x.dim(0), row_grain(stream, a.x.dim(0), width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float s = *a.gate.row<float>(r);
      squash(&s, 1);
      scale(a.x.row<float>(r), s, a.x.row<float>(r), 0.0f, width);
    }
  });
}

void row_gate_grad(const Stream& stream, const RowGateGradArgs& a) {
  const int64_t width = a.x.dim(1);
  const auto squash = HONE_PICK(sigmoid_row);
  const auto dot = HONE_PICK(dot_row);
  const auto scale = HONE_PICK(axpby_row);
  stream.parallel_for(a.x.dim(0), row_grain(stream, a.x.dim(0), 2 * width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float s = *a.gate.row<float>(r);
      squash(&s, 1);
      *a.dgate.row<float>(r) = (1.0f - s) * dot(a.gated.row<float>(r), a.x.row<float>(r), width);
      scale(a.x.row<float>(r), s, a.x.row<float>(r), 0.0f, width);
    }
  });
}

void axpby(const Stream& stream, const AxpbyArgs& a) {
  const int64_t width = a.x.dim(1);
  const auto run = HONE_PICK(axpby_row);
  stream.parallel_for(a.x.dim(0), row_grain(stream, a.x.dim(0), width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) run(a.x.row<float>(r), a.a, a.y.row<float>(r), a.b, width);
  });
}

}  // namespace hone::kernels::cpu
