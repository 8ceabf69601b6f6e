// The divergence term of lm_head_grad on a GPU.
#pragma once

#include <cuda_bf16.h>

#include "core/stream.h"
#include "kernels/cuda/lm_head_slopes.cuh"

namespace hone::kernels::cuda {

/// Rows of a student's logits with the teacher's data for them, and the gradients of the logits.
struct TaughtRows {
  const float* z;            // [rows, pitch]
  // [rows, pitch] teacher's logits of the student's vocabulary; null if there are k likeliest tokens instead
  const float* teacher;
  const int32_t* ids;        // [rows, k] the teacher's likeliest tokens
  const float* logprobs;     // [rows, k] their log-probs
  int k;
  bool rest;
  float beta;
  HeadSlopes slopes;
  const float* divergence_slopes;  // [rows] dLoss/ddivergence
  float* divergences;              // [rows] out
  __nv_bfloat16* dz;               // [rows, pitch] out; columns beyond the vocabulary are 0
  int64_t pitch;                   // a multiple of 4
  int rows, vocabulary;
};

/// Writes each row's divergence, and dz, the gradient of the objective plus the divergence term.
void taught_gradient(const Stream& stream, const TaughtRows& rows);

}  // namespace hone::kernels::cuda
