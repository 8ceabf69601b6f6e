#include "kernels/cpu/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/divergence_block.h"
#include "kernels/cpu/lm_head_block.h"

namespace hone::kernels::cpu {
namespace {

int64_t columns_of(const Divergence& teacher, int64_t vocabulary) {
  return teacher.rest ? vocabulary : teacher.k > 0 ? teacher.k : teacher.head.n;
}
int64_t width_of(const Divergence& teacher) { return teacher.k > 0 ? teacher.k : teacher.head.k; }

float lse_of(const float* z, int64_t n, float inverse) {
  RowStatistics s;
  HONE_PICK(row_statistics)(z, n, inverse, &s);
  return float(double(s.maximum) + std::log(s.total));
}

}  // namespace

int64_t teacher_rows_bytes(int64_t chunk, int64_t vocabulary, const Divergence& teacher) {
  return Arena::rounded(chunk * columns_of(teacher, vocabulary) * int64_t(sizeof(float))) +
         Arena::rounded(chunk * width_of(teacher) * int64_t(sizeof(float)));
}

TeacherRows::TeacherRows(const LmHeadGradArgs& args, int64_t chunk)
    : args_(args),
      teacher_(*args.teacher),
      own_(teacher_.scratch ? 0 : teacher_rows_bytes(chunk, args.w.n, teacher_), "divergence"),
      memory_(teacher_.scratch ? teacher_.scratch : &own_),
      mark_(memory_->mark()),
      columns_(columns_of(teacher_, args.w.n)),
      q_(memory_->take_array<float>(chunk * columns_)),
      hidden_(memory_->take_array<float>(chunk * width_of(teacher_))) {}

void TeacherRows::begin(const Stream& stream, int64_t first, int64_t count) {
  first_ = first;
  if (teacher_.rest) return;
  const int64_t width = width_of(teacher_);
  for (int64_t r = 0; r < count; ++r) {
    const float* const row = (teacher_.k > 0 ? teacher_.logprobs : teacher_.hidden) + of_teacher(r) * width;
    std::memcpy((teacher_.k > 0 ? q_ : hidden_) + r * width, row, size_t(width) * sizeof(float));
  }
  if (teacher_.k == 0) linear(stream, {f32(hidden_, {count, width}), teacher_.head, {}, f32(q_, {count, columns_}), false});
}

/// Of the k tokens and the rest, with gaps g = log S - log T and D = sum S g: dD/dz_v = S_v (g of v's token - D) / temperature.
void TeacherRows::measure_with_rest(int64_t r, const float* z) {
  const int32_t* const ids = teacher_.ids + of_teacher(r) * teacher_.k;
  const float* const logprobs = teacher_.logprobs + of_teacher(r) * teacher_.k;
  const float inverse = 1.0f / args_.temperature, lse = args_.lse.as<float>()[first_ + r];
  const auto student = [&](int64_t i) { return double(z[ids[i]]) * double(inverse) - double(lse); };
  double ours = 1, theirs = 1, divergence = 0;
  for (int64_t i = 0; i < teacher_.k; ++i) {
    const double s = student(i), t = double(logprobs[i]);
    ours -= std::exp(s), theirs -= std::exp(t), divergence += std::exp(s) * (s - t);
  }
  ours = std::max(ours, kLeastRest), theirs = std::max(theirs, kLeastRest);
  const double rest = std::log(ours) - std::log(theirs), slope = double(args_.slopes.as<float>()[first_ + r]) * double(inverse);
  divergence += ours * rest;
  args_.divergences.as<float>()[first_ + r] = float(divergence);
  float* const q = q_ + r * columns_;
  HONE_PICK(spread_row)({.z = z, .q = q, .n = args_.w.n, .inverse = inverse, .lse = lse, .factor = float(slope * (rest - divergence)), .softcap = args_.softcap});
  for (int64_t i = 0; i < teacher_.k; ++i) {
    const double s = student(i), t = args_.softcap != 0.0f ? double(z[ids[i]]) / double(args_.softcap) : 0.0;
    q[ids[i]] = float(slope * std::exp(s) * (s - double(logprobs[i]) - divergence) * (1.0 - t * t));
  }
}

void TeacherRows::measure(int64_t r, const float* z) {
  if (teacher_.rest) return measure_with_rest(r, z);
  const bool likeliest = teacher_.k > 0;
  float *const q = q_ + r * columns_, *const some = hidden_ + r * teacher_.k;
  const float inverse = 1.0f / args_.temperature;
  DivergenceRow row{.z = z, .q = q, .n = likeliest ? teacher_.k : args_.w.n, .inverse = inverse,
                    .teacher_inverse = likeliest ? 1.0f : inverse, .lse = args_.lse.as<float>()[first_ + r], .teacher_lse = 0,
                    .beta = teacher_.beta, .slope = args_.slopes.as<float>()[first_ + r], .softcap = args_.softcap,
                    .log_beta = std::log(teacher_.beta), .log_rest = std::log1p(-teacher_.beta)};
  if (likeliest) {
    for (int64_t i = 0; i < teacher_.k; ++i) some[i] = z[teacher_.ids[of_teacher(r) * teacher_.k + i]];
    row.z = some;
    row.lse = lse_of(some, row.n, inverse);
  } else {
    HONE_PICK(cap_row)(q, row.n, teacher_.softcap);
  }
  row.teacher_lse = lse_of(q, row.n, row.teacher_inverse);
  HONE_PICK(divergence_row)(row, args_.divergences.as<float>() + first_ + r);
}

void TeacherRows::add(int64_t r, float* dz) const {
  const float* const q = q_ + r * columns_;
  if (teacher_.k > 0 && !teacher_.rest) {
    for (int64_t i = 0; i < teacher_.k; ++i) dz[teacher_.ids[of_teacher(r) * teacher_.k + i]] += q[i];
  } else {
    for (int64_t v = 0; v < args_.w.n; ++v) dz[v] += q[v];
  }
}

}  // namespace hone::kernels::cpu
