// The CUDA backend of kernels/attention.h: arguments are already checked.
#pragma once

#include "kernels/attention.h"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

/// Largest head dim. A smaller multiple of 8 is padded with zeros to 64, 128 or 256.
inline constexpr int64_t kMaxHeadDim = 256;
/// Largest number of query heads that may share a key head.
inline constexpr int64_t kMaxHeadGroup = 64;

/// True if packed attention, forward and backward, uses wgmma (attention*_sm90.cu): on a Hopper GPU, unless
/// the portable kernels are forced, for head dims 64 and 128, and not if `deterministic`, because generation
/// does not use wgmma.
bool attention_uses_wgmma(int64_t head_dim, bool deterministic);

void attention_packed(const Stream& stream, const AttentionPackedArgs& args);
void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& args);
void attention_sinks_grad(const Stream& stream, const AttentionSinksGradArgs& args);

void kv_write(const Stream& stream, const KvWriteArgs& args);
void prepare_heads(const Stream& stream, const PrepareHeadsArgs& args);
PagedList list_attention_paged(const Stream& stream, const AttentionPagedArgs& args, Arena& memory);
void attention_paged(const Stream& stream, const AttentionPagedArgs& args);

}  // namespace hone::kernels::cuda
