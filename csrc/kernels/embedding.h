// Token embedding: gather rows, and the deterministic scatter-add of its gradient.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// x[t] = table[ids[t]]. T tokens, V vocabulary, C width. On the CPU throws kShape naming the token if an id
/// is outside [0, V); on a GPU ids are not checked, since that would mean waiting for the GPU.
struct EmbeddingArgs {
  TensorView ids;    // [T]    i32 in
  TensorView table;  // [V, C] f32 or bf16 in
  TensorView x;      // [T, C] activation out
};
void embedding(const Stream& stream, const EmbeddingArgs& args);

/// The same from a table that is a matrix [V, C] packed for f32 arithmetic, as a tied head is. CPU only.
struct PackedEmbeddingArgs {
  TensorView ids;  // [T]    i32 in
  PackedMatrix w;
  TensorView x;    // [T, C] f32 out
};
void packed_embedding(const Stream& stream, const PackedEmbeddingArgs& args);

/// dtable[ids[t]] += dx[t]; each row of dtable sums in ascending t, so that bits are the same for any number
/// of threads. A GPU compares the ids of every pair of tokens: T^2 C / 2048 comparisons. On the CPU throws
/// kShape for an id outside [0, V).
struct EmbeddingGradArgs {
  TensorView ids;     // [T]    i32 in
  TensorView dx;      // [T, C] activation in
  TensorView dtable;  // [V, C] f32 accumulated
};
void embedding_grad(const Stream& stream, const EmbeddingGradArgs& args);

}  // namespace hone::kernels
