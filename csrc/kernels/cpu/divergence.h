// The divergence term of lm_head_grad on the CPU, one chunk of rows at a time.
#pragma once

#include "kernels/lm_head.h"

namespace hone::kernels::cpu {

/// The teacher's data for one chunk of rows.
class TeacherRows {
 public:
  TeacherRows(const LmHeadGradArgs& args, int64_t chunk);
  ~TeacherRows() { memory_->release(mark_); }
  TeacherRows(const TeacherRows&) = delete;
  TeacherRows& operator=(const TeacherRows&) = delete;

  /// Prepares the divergence of rows [first, first + count), such as the teacher's logits.
  void begin(const Stream& stream, int64_t first, int64_t count);
  /// For row first + r, whose logits (after the soft cap) are z: writes the divergence, and stores its
  /// gradient.
  void measure(int64_t r, const float* z);
  /// Adds the gradient that measure() stored to dz.
  void add(int64_t r, float* dz) const;

 private:
  void measure_with_rest(int64_t r, const float* z);
  const int32_t* ids_of(int64_t r) const { return teacher_.ids.row<int32_t>(first_ + r); }

  const LmHeadGradArgs& args_;
  const Divergence& teacher_;
  Arena own_;
  Arena* memory_;
  int64_t mark_;
  int64_t columns_;  // number of columns in a row of q_
  int64_t first_ = 0;
  float* q_;     // [chunk, columns]
  float* some_;  // [chunk, k] the student's logits
};

int64_t teacher_rows_bytes(int64_t chunk, int64_t vocabulary, const Divergence& teacher);

}  // namespace hone::kernels::cpu
