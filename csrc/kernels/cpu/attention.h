// The CPU backend of kernels/attention.h: arguments are already checked.
#pragma once

#include "kernels/attention.h"

namespace hone::kernels::cpu {

void attention_packed(const Stream& stream, const AttentionPackedArgs& args);
void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& args);
void attention_sinks_grad(const Stream& stream, const AttentionSinksGradArgs& args);
void kv_write(const Stream& stream, const KvWriteArgs& args);
void attention_paged(const Stream& stream, const AttentionPagedArgs& args);

}  // namespace hone::kernels::cpu
