// The CUDA backend of kernels/divergence.h: what lm_head_grad does with rows that have a teacher.
#pragma once

#include <cuda_bf16.h>

#include "core/stream.h"
#include "kernels/cuda/lm_head_slopes.cuh"

namespace hone::kernels::cuda {

/// Rows of a student's and a teacher's logits, and their dz.
struct TaughtRows {
  const float* z;            // [rows, pitch]
  const float* teacher;      // [rows, pitch] of the student's vocabulary; or null, with k likeliest
  const int32_t* ids;        // [rows, k]
  const float* logprobs;     // [rows, k]
  int k;
  bool rest;
  float beta;
  HeadSlopes slopes;
  const float* divergence_slopes;  // [rows] dLoss/ddivergence
  float* divergences;              // [rows] out
  __nv_bfloat16* dz;               // [rows, pitch] out, 0 beyond the vocabulary
  int64_t pitch;                   // a multiple of 4
  int rows, vocabulary;
};

/// A row's divergence, and dz of the objective and the divergence together.
void taught_gradient(const Stream& stream, const TaughtRows& rows);

}  // namespace hone::kernels::cuda
