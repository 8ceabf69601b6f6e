#include "kernels/cpu/parts.h"

#include <algorithm>

#include "kernels/cpu/optimizer_block.h"

namespace hone::kernels::cpu {
namespace {

constexpr int64_t kFloatGrain = 16384;  // smallest number of elements per thread
constexpr int64_t kBlockGrain = 4;      // smallest number of blocks per thread
static_assert(kSquaresBlock == kStrip);

}  // namespace

void add_parts(const Stream& stream, const AddPartsArgs& args) {
  float* const to = args.sum.as<float>();
  stream.parallel_for(args.sum.dim(0), kFloatGrain, [&](int64_t begin, int64_t end) {
    for (int64_t part = 0; part < args.parts.dim(0); ++part) {
      const float* const from = args.parts.row<float>(part);
      for (int64_t i = begin; i < end; ++i) to[i] += from[i];
    }
  });
}

void block_squares(const Stream& stream, const BlockSquaresArgs& args) {
  const auto run = HONE_PICK(strip_squares);
  const float *const x = args.x.as<const float>(), *const from = args.from.as<const float>();
  const int64_t n = args.x.dim(0);
  stream.parallel_for(args.squares.dim(0), kBlockGrain, [&](int64_t begin, int64_t end) {
    float change[kSquaresBlock];
    for (int64_t b = begin; b < end; ++b) {
      const int64_t at = b * kSquaresBlock, count = std::min(kSquaresBlock, n - at);
      for (int64_t k = 0; from && k < count; ++k) change[k] = x[at + k] - from[at + k];
      args.squares.as<double>()[b] = run(from ? change : x + at, count);
    }
  });
}

}  // namespace hone::kernels::cpu
