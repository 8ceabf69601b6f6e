// The CUDA backend of kernels/matmul.h: shapes and dtypes are already checked.
#pragma once

#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/swiglu.h"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

void pack_matrix(const Stream& stream, const PackMatrixArgs& args);
void linear(const Stream& stream, const LinearArgs& args);
/// takes_swiglu, takes_heads: whether linear_swiglu and linear_heads support the arguments: few rows, on a
/// Hopper GPU.
bool takes_swiglu(const LinearSwigluArgs& args);
void linear_swiglu(const Stream& stream, const LinearSwigluArgs& args);
bool takes_heads(const LinearArgs& product, const PrepareHeadsArgs& heads);
void linear_heads(const Stream& stream, const LinearArgs& product, const PrepareHeadsArgs& heads);
void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args);

/// Makes this process use the portable kernels (mma.sync) even where wgmma is available (true), or not
/// (false). Setting HONE_CUDA_PORTABLE=1 in the environment, which is read once, does the same. The two kinds
/// of kernels differ in the last bits: switch before the first product.
void force_portable(bool on);
/// True if this process uses wgmma: this thread's device is a Hopper GPU, and the portable kernels are not
/// forced.
bool has_wgmma();
/// True if products with weights [n, k] use wgmma on this thread's device; depends only on the weights'
/// shape.
bool uses_wgmma(int64_t n, int64_t k);

}  // namespace hone::kernels::cuda
