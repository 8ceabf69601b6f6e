// The head of a teacher, which computes the logits for a step's divergence.
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

/// Owns the matrix, the teacher's data for a micro-batch's rows, and the scratch of the divergence, in the stream's
/// memory.
class TeacherHead {
 public:
  /// w: [rows, width] in host memory; softcap: cap of its logits, or 0. Throws kOutOfMemory: the previous head is then
  /// lost; kShape for a width that is not a multiple of 8 on a GPU, kUnsupported for a cap there.
  void set(const Stream& stream, const float* w, int64_t rows, int64_t width, float softcap);
  /// Does nothing for a step without a divergence. Throws kConfig for a beta outside [0, 1]; kShape if the batch has no
  /// teacher data, ids outside the student's `vocabulary`, or hidden states of another width than the head, or the head
  /// has fewer tokens.
  void check(const TrainingBatch& batch, const StepOptions& options, int64_t vocabulary) const;
  /// The divergence for rows of a micro-batch, given as indices of the batch's counted tokens. Valid until
  /// the next call, before which its readers must have finished.
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

/// A divergence's arguments for some of its rows.
kernels::Divergence rows_of(kernels::Divergence all, const model::RowRange& some);

/// Checks the arguments of a scoring pass. Throws kConfig if it is not positive, or k is outside [0, V].
void check_scoring(float temperature, const TokenScores& scores, const model::ModelConfig& config);

}  // namespace hone::trainer
