#include "kernels/cpu/cast.h"

#include <algorithm>

namespace hone::kernels::cpu {
namespace {

constexpr int64_t kChunk = 32 * 1024;  // values per chunk: about 10 us

float widen(uint16_t x) { return bf16_to_f32(x); }
float widen(float x) { return x; }
void narrow(uint16_t& to, float x) { to = f32_to_bf16(x); }
void narrow(float& to, float x) { to = x; }

template <class From, class To>
void rows(const Stream& stream, const CastArgs& a) {
  const int64_t width = a.from.dim(1);
  stream.parallel_for(a.from.dim(0), std::max<int64_t>(1, kChunk / width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const From* from = a.from.row<From>(r);
      To* to = a.to.row<To>(r);
      for (int64_t c = 0; c < width; ++c) narrow(to[c], widen(from[c]));
    }
  });
}

}  // namespace

void cast(const Stream& stream, const CastArgs& args) {
  const bool from_bf16 = args.from.dtype == DType::kBF16, to_bf16 = args.to.dtype == DType::kBF16;
  if (from_bf16) return to_bf16 ? rows<uint16_t, uint16_t>(stream, args) : rows<uint16_t, float>(stream, args);
  return to_bf16 ? rows<float, uint16_t>(stream, args) : rows<float, float>(stream, args);
}

}  // namespace hone::kernels::cpu
