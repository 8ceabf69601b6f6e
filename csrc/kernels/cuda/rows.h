// The CUDA backend of the row-wise ops: arguments are already checked. Activations are bf16, sums f32.
#pragma once

#include "kernels/axpby.h"
#include "kernels/embedding.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"
#include "kernels/swiglu.h"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

void axpby(const Stream& stream, const AxpbyArgs& args);
void embedding(const Stream& stream, const EmbeddingArgs& args);
void embedding_grad(const Stream& stream, const EmbeddingGradArgs& args);
void rms_norm(const Stream& stream, const RmsNormArgs& args);
void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& args);
void rope(const Stream& stream, const RopeArgs& args);
void swiglu(const Stream& stream, const SwigluArgs& args);
void swiglu_grad(const Stream& stream, const SwigluGradArgs& args);

}  // namespace hone::kernels::cuda
