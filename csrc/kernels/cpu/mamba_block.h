// Arguments of the kernels of Mamba-2: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/silu_conv_block.h"

namespace hone::kernels::cpu {

/// One head over consecutive rows of one sequence. x [Dv], b and c [Dk]: columns of the convolution's output.
struct MambaRows {
  const float *x, *b, *c;
  int64_t stride;
  const float *decay, *step;  // one number per row, gate_stride apart
  int64_t gate_stride;
  float skip;    // D
  float* state;  // [Dk, Dv], overwritten
  float* o;      // written: S^T C + D x
  int64_t o_stride, rows, key_dim, value_dim;
};

/// The backward of MambaRows over a whole sequence, which starts with a zero state.
struct MambaGradRows {
  MambaRows of;  // the forward's arguments; state and o are not used
  const float* d_o;
  int64_t d_stride;
  float* dx;          // of.stride apart
  float *db, *dc;     // key_stride apart
  int64_t key_stride;
  bool adds;          // db and dc are added to, not overwritten
  float *ddecay, *dstep;  // gradients of ln(decay) and of step; of.gate_stride apart
  double* dskip;          // overwritten
  float* scratch;         // mamba_grad_scratch floats
};

/// Floats of scratch of MambaGradRows: the states [Dv, Dk] at the beginning of chunks and at each row of one chunk, and the
/// gradient of one state; step B of a row; sixteen partial sums of each element of dx.
inline constexpr int64_t mamba_grad_scratch(int64_t rows, int64_t key_dim, int64_t value_dim) {
  const int64_t chunks = (rows + kRecurrentChunk - 1) / kRecurrentChunk;
  return (chunks + kRecurrentChunk + 2) * key_dim * value_dim + key_dim + 16 * value_dim;
}

/// The gated norm of one row, or of a part of it: y = weight g / rms(g), g = o silu(z).
struct GatedNormRow {
  const float *o, *z, *weight;
  int64_t width;
  float eps;
};

HONE_VARIANTS(void mamba_rows(const MambaRows&));
HONE_VARIANTS(void mamba_grad_rows(const MambaGradRows&));
/// y may alias o.
HONE_VARIANTS(void gated_norm_row(const GatedNormRow&, float* y));
/// Writes d_o, which may alias o, and dz; adds to dweight.
HONE_VARIANTS(void gated_norm_grad_row(const GatedNormRow&, const float* dy, float* d_o, float* dz, float* dweight));
/// y = o silu(z), without the norm. y may alias o.
HONE_VARIANTS(void gate_row(const GatedNormRow&, float* y));
/// Writes d_o, which may alias o, and dz.
HONE_VARIANTS(void gate_grad_row(const GatedNormRow&, const float* dy, float* d_o, float* dz));

}  // namespace hone::kernels::cpu
