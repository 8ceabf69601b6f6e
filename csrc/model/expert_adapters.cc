#include "model/expert_adapters.h"

#include <algorithm>

#include "core/device.h"
#include "kernels/axpby.h"
#include "kernels/cast.h"
#include "kernels/experts.h"

namespace hone::model {
namespace {

using kernels::PackedMatrix;

int64_t pack_bytes(int64_t n, int64_t k) { return Arena::rounded(kernels::packed_bytes(Stream{}, n, k, DType::kF32)); }

PackedMatrix packed(const TensorView& w, bool transpose, Arena& arena) {
  PackedMatrix out{w.dim(transpose ? 1 : 0), w.dim(transpose ? 0 : 1), DType::kF32, nullptr};
  out.panels = arena.take(pack_bytes(out.n, out.k));
  kernels::pack_matrix(Stream{}, {.w = w, .transpose = transpose, .out = out});
  return out;
}

int64_t floats(int64_t n) { return Arena::view_bytes(DType::kF32, n); }
int64_t halves(int64_t n) { return Arena::view_bytes(DType::kBF16, n); }

void scale_rows(const Stream& stream, float scale, const TensorView& x) {
  if (scale != 1.0f) kernels::axpby(stream, {.x = x, .a = scale, .y = x});
}

/// Rows [first, first + count) of a contiguous matrix.
TensorView some_rows(const TensorView& of, int64_t first, int64_t count) {
  return {of.as<std::byte>() + first * of.dim(1) * dtype_bytes(of.dtype), of.dtype, {count, of.dim(1)}};
}

}  // namespace

ExpertAdapters::ExpertAdapters(const TensorView& a, const TensorView& b, int64_t experts, bool turned)
    : a_(a), b_(b), experts_(experts), turned_(turned) {}

TensorView ExpertAdapters::a_of(int64_t expert) const { return f32(a_.row<float>(expert * rank()), {rank(), a_.dim(1)}); }

void ExpertAdapters::copy_b(int64_t expert, float scale, float* out) const {
  for (int64_t n = 0; n < b_.dim(0); ++n) {
    for (int64_t j = 0; j < rank(); ++j) *out++ = scale * b_.row<float>(n)[j * experts_ + expert];
  }
}

void ExpertAdapters::to_experts(const TensorView& b, float* out) const {
  const int64_t N = b.dim(0), r = rank();
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t e = 0; e < experts_; ++e) {
      for (int64_t j = 0; j < r; ++j) out[(e * N + n) * r + j] = b.row<float>(n)[j * experts_ + e];
    }
  }
}

void ExpertAdapters::from_experts(const float* in, const TensorView& b) const {
  const int64_t N = b.dim(0), r = rank();
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t e = 0; e < experts_; ++e) {
      for (int64_t j = 0; j < r; ++j) b.row<float>(n)[j * experts_ + e] = in[(e * N + n) * r + j];
    }
  }
}

void ExpertAdapters::pack_on_gpu(const Stream& stream, Arena& packs) {
  rows_a_ = packs.take_view(DType::kBF16, {a_.dim(0), a_.dim(1)});
  rows_b_ = packs.take_view(DType::kBF16, {a_.dim(0), b_.dim(0)});
  kernels::cast(stream, {.from = a_, .to = rows_a_});
  kernels::turn_expert_columns(stream, {.columns = b_, .rows = rows_b_, .experts = experts_});
  for (int64_t e = 0; e < experts_; ++e) {
    packed_a_.push_back({rank(), a_.dim(1), DType::kBF16, some_rows(rows_a_, e * rank(), rank()).data});
    packed_bt_.push_back({rank(), b_.dim(0), DType::kBF16, some_rows(rows_b_, e * rank(), rank()).data});
  }
}

void ExpertAdapters::pack(const Stream& stream, Arena& packs) {
  packed_a_.clear(), packed_bt_.clear(), packed_form_.clear();
  if (stream.is_cuda()) return pack_on_gpu(stream, packs);
  std::vector<float> own(size_t(b_.dim(0) * rank()));
  const TensorView b = f32(own.data(), {b_.dim(0), rank()});
  for (int64_t e = 0; e < experts_; ++e) {
    copy_b(e, 1.0f, own.data());
    packed_a_.push_back(packed(a_of(e), false, packs));
    packed_bt_.push_back(packed(b, true, packs));
    packed_form_.push_back(turned_ ? packed(b, false, packs) : packed(a_of(e), true, packs));
  }
}

/// B_e A_e is a sum over r rows, as the gradient of a weight is over the rows of a batch.
void ExpertAdapters::add_on_gpu(const Stream& stream, float scale, int64_t expert, const TensorView& w, Arena& scratch) const {
  const int64_t mark = scratch.mark(), first = expert * rank();
  const TensorView a = some_rows(rows_a_, first, rank()), b = some_rows(rows_b_, first, rank()), &left = turned_ ? a : b;
  const TensorView scaled = scratch.take_view(DType::kBF16, {rank(), left.dim(1)});
  kernels::cast(stream, {.from = left, .to = scaled});
  scale_rows(stream, scale, scaled);
  kernels::linear_grad_weight(stream, {.dy = scaled, .x = turned_ ? b : a, .dw = w, .dbias = {}});
  scratch.release(mark);
}

void ExpertAdapters::add(const Stream& stream, float scale, int64_t expert, const TensorView& w, Arena& scratch) const {
  if (stream.is_cuda()) return add_on_gpu(stream, scale, expert, w, scratch);
  const int64_t mark = scratch.mark(), r = rank();
  const TensorView scaled = scratch.take_view(DType::kF32, {w.dim(0), r});
  if (turned_) {
    const TensorView a = a_of(expert);
    for (int64_t k = 0; k < w.dim(0); ++k) {
      for (int64_t j = 0; j < r; ++j) scaled.row<float>(k)[j] = scale * a.row<float>(j)[k];
    }
  } else {
    copy_b(expert, scale, scaled.as<float>());
  }
  kernels::linear(stream, {.x = scaled, .w = packed_form_[size_t(expert)], .bias = {}, .y = w, .accumulate = true, .scratch = &scratch});
  scratch.release(mark);
}

namespace {

void add_gradient(const Stream& stream, const ExpertPairs& p, const TensorView& dy, const TensorView& x, const TensorView& dw) {
  kernels::experts_grad_weight(stream, {.dy = dy, .x = x, .begins = p.begins, .rows = p.rows, .dw = dw, .first_row = p.first_row, .last_row = p.last_row});
}

}  // namespace

void ExpertAdapters::gradient_of_b(const Stream& stream, const ExpertPairs& p, const TensorView& thin, const TensorView& db, Arena& scratch) const {
  const int64_t mark = scratch.mark();
  if (stream.is_cuda()) {
    const TensorView apart = scratch.take_view(DType::kF32, {experts_ * rank(), db.dim(0)});
    zero(stream, apart.data, apart.numel() * int64_t(sizeof(float)));
    add_gradient(stream, p, thin, p.dy, apart);
    kernels::add_expert_columns(stream, {.columns = db, .rows = apart, .experts = experts_});
  } else {
    // Adds to the existing gradient, row after row, as all gradients do, so that its bits do not depend on
    // micro-batches.
    const TensorView apart = scratch.take_view(DType::kF32, {experts_ * db.dim(0), rank()});
    to_experts(db, apart.as<float>());
    add_gradient(stream, p, p.dy, thin, apart);
    from_experts(apart.as<float>(), db);
  }
  scratch.release(mark);
}

void ExpertAdapters::gradient(const Stream& stream, float scale, const ExpertPairs& p, const TensorView& da, const TensorView& db, Arena& scratch) const {
  const int64_t mark = scratch.mark();
  const TensorView thin = scratch.take_view(activation_dtype(stream), {p.x.dim(0), rank()});
  const auto product_of = [&](const TensorView& from, const std::vector<PackedMatrix>& w) {
    kernels::experts_linear(stream, {.x = from, .begins = p.begins, .w = w, .y = thin});
    scale_rows(stream, scale, thin);
  };
  product_of(p.x, packed_a_);
  gradient_of_b(stream, p, thin, db, scratch);
  product_of(p.dy, packed_bt_);
  add_gradient(stream, p, thin, p.x, da);
  scratch.release(mark);
}

int64_t ExpertAdapterSizes::packed_bytes(const Stream& stream) const {
  if (stream.is_cuda()) return halves(experts * rank * k) + halves(experts * rank * n);
  return experts * (pack_bytes(rank, k) + pack_bytes(rank, n) + pack_bytes(turned ? n : k, rank));
}

int64_t ExpertAdapterSizes::form_bytes(const Stream& stream) const {
  if (stream.is_cuda()) return halves(rank * std::max(n, k));
  const int64_t rows = turned ? k : n, columns = turned ? n : k;
  return floats(rows * rank) + kernels::linear_scratch_bytes(Stream{}, rows, columns, rank);
}

int64_t ExpertAdapterSizes::gradient_bytes(const Stream& stream, int64_t pairs) const {
  return Arena::view_bytes(activation_dtype(stream), pairs * rank) + floats(experts * n * rank);
}

}  // namespace hone::model
