// Inner products between the gradients of a batch's parts, from which gradient norms and cosines are
// computed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "trainer/packer.h"
#include "trainer/step.h"

namespace hone::trainer {

struct GradientParts {
  // [P, P] <g_p, g_q> of the parts' gradients, symmetric; all NaN if a loss is not finite
  std::vector<double> products;
  int64_t non_finite_sequence = -1;  // first sequence whose loss is not finite
  int64_t micro_batches = 0;         // number of forward and backward passes
};

/// Throws kShape unless parts >= 1 and each of part_of [S] is in [0, parts).
void check_parts(const int32_t* part_of, int64_t sequences, int32_t parts);

/// Micro-batches with the sequences of one part only; none for an empty part.
std::vector<MicroBatch> pack_part(const TrainingBatch& batch, const int32_t* part_of, int32_t part, int64_t packed_tokens);

/// Host bytes of a GradientProducts for P gradients of n elements.
int64_t gradient_products_bytes(const Stream& stream, int64_t n, int32_t parts);

/// Inner products of P gradients that are added one after the other: products[p, q] = sum_i g_p[i] g_q[i].
/// Stores all but the last gradient in host memory as f32. Each g_p[i] g_q[i] is exact (f32 times f32 in
/// f64); the sums are f64, in an order that depends on n alone.
class GradientProducts {
 public:
  /// n: elements of a gradient. Throws kOutOfMemory naming the purpose.
  GradientProducts(const Stream& stream, int64_t n, int32_t parts);
  /// Adds the next gradient [n] f32, which is in the stream's memory, and waits for the stream. May be called
  /// at most `parts` times (not checked).
  void add(const TensorView& gradient);
  /// [P, P] inner products of the gradients added so far; 0 for gradients not yet added.
  const std::vector<double>& products() const { return products_; }

 private:
  void multiply(const float* piece, int64_t at, int64_t count);

  Stream stream_;
  int64_t n_;
  int32_t parts_, added_ = 0;
  Arena memory_;
  float* piece_ = nullptr;       // host buffer for a part of a gradient that is on a GPU
  std::vector<float*> kept_;     // the first P - 1 gradients, n elements each
  std::vector<double> partial_;  // [blocks of a buffer, P]
  std::vector<double> products_;
};

}  // namespace hone::trainer
