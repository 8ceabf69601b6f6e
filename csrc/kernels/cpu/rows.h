// The CPU backend of the row-wise ops: arguments are already checked.
#pragma once

#include "kernels/axpby.h"
#include "kernels/embedding.h"
#include "kernels/head_gate.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"
#include "kernels/rounding.h"
#include "kernels/swiglu.h"

namespace hone::kernels::cpu {

void row_gate(const Stream& stream, const RowGateArgs& args);
void row_gate_grad(const Stream& stream, const RowGateGradArgs& args);
void axpby(const Stream& stream, const AxpbyArgs& args);
void embedding(const Stream& stream, const EmbeddingArgs& args);
void packed_embedding(const Stream& stream, const PackedEmbeddingArgs& args);
void embedding_grad(const Stream& stream, const EmbeddingGradArgs& args);
void head_gate(const Stream& stream, const HeadGateArgs& args);
void head_gate_grad(const Stream& stream, const HeadGateGradArgs& args);
void rms_norm(const Stream& stream, const RmsNormArgs& args);
void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& args);
void rope(const Stream& stream, const RopeArgs& args);
void round_to_bf16(const Stream& stream, const TensorView& x);
void swiglu(const Stream& stream, const SwigluArgs& args);
void swiglu_grad(const Stream& stream, const SwigluGradArgs& args);

}  // namespace hone::kernels::cpu
