#include "trainer/gradient_parts.h"

#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "core/error.h"

namespace hone::trainer {
namespace {

// Elements of a thread's share of a product: few enough to stay in the core's cache for all products with
// them.
constexpr int64_t kBlock = 8192;
// Elements copied from a GPU at a time.
constexpr int64_t kPiece = 512 * kBlock;
constexpr int64_t kLanes = 8;

/// A dot product in eight independent sums, so that the compiler may use wide registers without changing the
/// order of additions.
double dot(const float* a, const float* b, int64_t n) {
  double sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) sums[k] += double(a[i + k]) * double(b[i + k]);
  }
  for (; i < n; ++i) sums[i % kLanes] += double(a[i]) * double(b[i]);
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total;
}

int64_t kept_bytes(int64_t n) { return Arena::rounded(n * int64_t(sizeof(float))); }
int64_t piece_bytes(const Stream& stream, int64_t n) {
  return stream.is_cuda() ? Arena::rounded(std::min(n, kPiece) * int64_t(sizeof(float))) : 0;
}

}  // namespace

void check_parts(const int32_t* part_of, int64_t sequences, int32_t parts) {
  if (parts < 1) fail(Code::kShape, "gradient_parts: parts is %d; it must be at least 1.", parts);
  for (int64_t i = 0; i < sequences; ++i) {
    if (part_of[i] >= 0 && part_of[i] < parts) continue;
    fail(Code::kShape, "gradient_parts: part_of[%lld] is %d, outside [0, %d).", (long long)i, part_of[i], parts);
  }
}

std::vector<MicroBatch> pack_part(const TrainingBatch& batch, const int32_t* part_of, int32_t part, int64_t packed_tokens) {
  std::vector<int32_t> members;
  std::vector<int64_t> lengths;
  for (int32_t i = 0; i < batch.sequences; ++i) {
    if (part_of[i] != part) continue;
    members.push_back(i);
    lengths.push_back(batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]);
  }
  std::vector<MicroBatch> packed = pack_sequences(lengths, packed_tokens);
  for (MicroBatch& which : packed) {
    for (int32_t& i : which.sequences) i = members[size_t(i)];
  }
  return packed;
}

int64_t gradient_products_bytes(const Stream& stream, int64_t n, int32_t parts) {
  return (parts - 1) * kept_bytes(n) + piece_bytes(stream, n);
}

GradientProducts::GradientProducts(const Stream& stream, int64_t n, int32_t parts)
    : stream_(stream),
      n_(n),
      parts_(parts),
      memory_(gradient_products_bytes(stream, n, parts), "gradients of parts"),
      products_(size_t(parts) * size_t(parts)) {
  if (stream.is_cuda()) piece_ = memory_.take_array<float>(std::min(n, kPiece));
  for (int32_t p = 0; p + 1 < parts; ++p) kept_.push_back(memory_.take_array<float>(n));
  partial_.resize(size_t(kPiece / kBlock) * size_t(parts));
}

void GradientProducts::add(const TensorView& gradient) {
  for (int64_t at = 0; at < n_; at += kPiece) {
    const int64_t count = std::min(kPiece, n_ - at);
    const float* piece = gradient.as<float>() + at;
    if (stream_.is_cuda()) {
      download(stream_, piece_, piece, count * int64_t(sizeof(float)));
      piece = piece_;
    }
    multiply(piece, at, count);
  }
  ++added_;
}

void GradientProducts::multiply(const float* piece, int64_t at, int64_t count) {
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  stream_.parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t from = block * kBlock, size = std::min(kBlock, count - from);
      double* const sums = partial_.data() + block * parts_;
      for (int32_t q = 0; q < added_; ++q) sums[q] = dot(piece + from, kept_[size_t(q)] + at + from, size);
      sums[added_] = dot(piece + from, piece + from, size);
      if (added_ + 1 < parts_) {
        std::memcpy(kept_[size_t(added_)] + at + from, piece + from, size_t(size) * sizeof(float));
      }
    }
  });
  for (int32_t q = 0; q <= added_; ++q) {
    double& product = products_[size_t(added_) * size_t(parts_) + size_t(q)];
    for (int64_t block = 0; block < blocks; ++block) product += partial_[size_t(block * parts_ + q)];
    products_[size_t(q) * size_t(parts_) + size_t(added_)] = product;
  }
}

}  // namespace hone::trainer
