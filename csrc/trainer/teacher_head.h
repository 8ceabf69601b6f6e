// The head matrix of a teacher model, which computes the teacher's logits for a step's divergence term.
#pragma once

#include <cstdint>
#include <span>

#include "core/arena.h"
#include "core/device.h"
#include "kernels/divergence.h"
#include "model/config.h"
#include "model/row_blocks.h"
#include "trainer/step.h"

namespace hone::trainer {

/// Owns, in the stream's memory, the teacher's head matrix, the teacher's data for a micro-batch's rows, and
/// the scratch of the divergence.
class TeacherHead {
 public:
  /// Sets the matrix. w: [rows, width] in host memory; softcap: cap of its logits, or 0. Throws kOutOfMemory,
  /// after which there is no head; on a GPU kShape if the width is not a multiple of 8, kUnsupported for a
  /// softcap.
  void set(const Stream& stream, const float* w, int64_t rows, int64_t width, float softcap);
  /// Checks a batch's teacher data; does nothing for a step without a divergence. Throws kConfig for a beta
  /// outside [0, 1]; kShape if the batch has no teacher data, ids outside the student's `vocabulary`, or
  /// hidden states of another width than the head's, or if the head has fewer tokens than `vocabulary`.
  void check(const TrainingBatch& batch, const StepOptions& options, int64_t vocabulary) const;
  /// The arguments of the divergence kernel for rows of a micro-batch, given as indices among the batch's
  /// loss tokens. Valid until the next call, before which kernels that read it must have finished.
  kernels::Divergence of(const Stream& stream, const TrainingBatch& batch, const StepOptions& options, std::span<const int32_t> rows,
                         int64_t vocabulary);

 private:
  void lay_rows(const Stream& stream, const TeacherTokens& said, std::span<const int32_t> rows, kernels::Divergence& divergence);

  Arena weights_, scratch_;
  SharedArrays said_;
  int64_t said_bytes_ = 0, scratch_bytes_ = 0;
  kernels::PackedMatrix head_{};
  float softcap_ = 0;
};

/// The arguments of a divergence, restricted to some of its rows.
kernels::Divergence rows_of(kernels::Divergence all, const model::RowRange& some);

/// Checks the arguments of a scoring pass. Throws kConfig if the temperature is not positive, or k is outside
/// [0, V].
void check_scoring(float temperature, const TokenScores& scores, const model::ModelConfig& config);

}  // namespace hone::trainer
