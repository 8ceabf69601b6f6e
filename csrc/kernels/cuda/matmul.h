// The CUDA backend of kernels/matmul.h: shapes and dtypes are already checked.
#pragma once

#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/swiglu.h"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

void pack_matrix(const Stream& stream, const PackMatrixArgs& args);
void linear(const Stream& stream, const LinearArgs& args);
/// True if linear_swiglu (linear_heads) below supports the arguments: few rows, on a Hopper.
bool takes_swiglu(const LinearSwigluArgs& args);
void linear_swiglu(const Stream& stream, const LinearSwigluArgs& args);
bool takes_heads(const LinearArgs& product, const PrepareHeadsArgs& heads);
void linear_heads(const Stream& stream, const LinearArgs& product, const PrepareHeadsArgs& heads);
void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args);

/// Makes this process use the portable kernels (mma.sync) even where wgmma is available, or not. HONE_CUDA_PORTABLE=1
/// in the environment, read once, does the same. The two differ in the last bits: switch before the first product.
void force_portable(bool on);
/// True if this process uses wgmma: this thread's device is a Hopper, and the portable kernels are not forced.
bool has_wgmma();
/// True if the weights [n, k] are multiplied by wgmma on this thread's device. Depends on their shape alone.
bool uses_wgmma(int64_t n, int64_t k);

}  // namespace hone::kernels::cuda
