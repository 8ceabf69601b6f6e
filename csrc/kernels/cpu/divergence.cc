#include "kernels/cpu/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/divergence_block.h"
#include "kernels/cpu/lm_head_block.h"

namespace hone::kernels::cpu {
namespace {

int64_t columns_of(const Divergence& teacher, int64_t vocabulary) {
  return teacher.rest ? vocabulary : teacher.k() > 0 ? teacher.k() : teacher.head.n;
}

float lse_of(const float* z, int64_t n, float inverse) {
  RowStatistics s;
  HONE_PICK(row_statistics)(z, n, inverse, &s);
  return float(double(s.maximum) + std::log(s.total));
}

}  // namespace

int64_t teacher_rows_bytes(int64_t chunk, int64_t vocabulary, const Divergence& teacher) {
  return Arena::rounded(chunk * columns_of(teacher, vocabulary) * int64_t(sizeof(float))) +
         Arena::rounded(chunk * teacher.k() * int64_t(sizeof(float)));
}

TeacherRows::TeacherRows(const LmHeadGradArgs& args, int64_t chunk)
    : args_(args),
      teacher_(*args.teacher),
      own_(teacher_.scratch ? 0 : teacher_rows_bytes(chunk, args.w.n, teacher_), "divergence"),
      memory_(teacher_.scratch ? teacher_.scratch : &own_),
      mark_(memory_->mark()),
      columns_(columns_of(teacher_, args.w.n)),
      q_(memory_->take_array<float>(chunk * columns_)),
      some_(memory_->take_array<float>(chunk * teacher_.k())) {}

void TeacherRows::begin(const Stream& stream, int64_t first, int64_t count) {
  first_ = first;
  if (teacher_.rest) return;
  const int64_t k = teacher_.k();
  if (k > 0) std::memcpy(q_, teacher_.logprobs.row<float>(first), size_t(count * k) * sizeof(float));
  else linear(stream, {f32(teacher_.hidden.row<float>(first), {count, teacher_.head.k}), teacher_.head, {}, f32(q_, {count, columns_}), false});
}

/// Computes the divergence over the k tokens and the rest, with gaps g = log S - log T and D = sum S g:
/// dD/dz_v = S_v (g of v's token - D) / temperature.
void TeacherRows::measure_with_rest(int64_t r, const float* z) {
  const int64_t k = teacher_.k();
  const int32_t* const ids = ids_of(r);
  const float* const logprobs = teacher_.logprobs.row<float>(first_ + r);
  const float inverse = 1.0f / args_.temperature, lse = args_.lse.as<float>()[first_ + r];
  const auto student = [&](int64_t i) { return double(z[ids[i]]) * double(inverse) - double(lse); };
  double ours = 1, theirs = 1, divergence = 0;
  for (int64_t i = 0; i < k; ++i) {
    const double s = student(i), t = double(logprobs[i]);
    ours -= std::exp(s), theirs -= std::exp(t), divergence += std::exp(s) * (s - t);
  }
  ours = std::max(ours, kLeastRest), theirs = std::max(theirs, kLeastRest);
  const double rest = std::log(ours) - std::log(theirs), slope = double(args_.slopes.as<float>()[first_ + r]) * double(inverse);
  divergence += ours * rest;
  args_.divergences.as<float>()[first_ + r] = float(divergence);
  float* const q = q_ + r * columns_;
  HONE_PICK(spread_row)({.z = z, .q = q, .n = args_.w.n, .inverse = inverse, .lse = lse, .factor = float(slope * (rest - divergence)), .softcap = args_.softcap});
  for (int64_t i = 0; i < k; ++i) {
    const double s = student(i), t = args_.softcap != 0.0f ? double(z[ids[i]]) / double(args_.softcap) : 0.0;
    q[ids[i]] = float(slope * std::exp(s) * (s - double(logprobs[i]) - divergence) * (1.0 - t * t));
  }
}

void TeacherRows::measure(int64_t r, const float* z) {
  if (teacher_.rest) return measure_with_rest(r, z);
  const int64_t k = teacher_.k();
  const bool likeliest = k > 0;
  float *const q = q_ + r * columns_, *const some = some_ + r * k;
  const float inverse = 1.0f / args_.temperature;
  DivergenceRow row{.z = z, .q = q, .n = likeliest ? k : args_.w.n, .inverse = inverse,
                    .teacher_inverse = likeliest ? 1.0f : inverse, .lse = args_.lse.as<float>()[first_ + r], .teacher_lse = 0,
                    .beta = teacher_.beta, .slope = args_.slopes.as<float>()[first_ + r], .softcap = args_.softcap,
                    .log_beta = std::log(teacher_.beta), .log_rest = std::log1p(-teacher_.beta)};
  if (likeliest) {
    for (int64_t i = 0; i < k; ++i) some[i] = z[ids_of(r)[i]];
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
  if (teacher_.k() > 0 && !teacher_.rest) {
    for (int64_t i = 0; i < teacher_.k(); ++i) dz[ids_of(r)[i]] += q[i];
  } else {
    for (int64_t v = 0; v < args_.w.n; ++v) dz[v] += q[v];
  }
}

}  // namespace hone::kernels::cpu
