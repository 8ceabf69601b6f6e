// Chooses the instruction set of the CPU kernels: once, from the CPU's features; HONE_ISA can choose a lower
// one.
#pragma once

namespace hone::kernels::cpu {

/// kAvx512Bf16 is kAvx512 with an instruction for bf16 products; only results in bf16 arithmetic differ.
/// Every arm64 CPU supports kNeon. All sets but kBaseline give the same bits.
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Bf16, kNeon };

/// The instruction set in use: the best one of this CPU, or the one that
/// HONE_ISA=baseline|avx2|avx512|avx512bf16|neon names (kConfig if the CPU lacks it).
Isa isa();
/// "baseline", "avx2", "avx512", "avx512bf16" or "neon".
const char* isa_name(Isa isa);
/// Whether this CPU supports the set; false also if its bf16 instruction gives other bits than simd_bf16.h.
bool isa_supported(Isa isa);
/// Changes the set in use, for tests and benches that compare sets in one process; must not be called while
/// an op runs. Throws kConfig if the CPU lacks the set.
void force_isa(Isa isa);

#if defined(__aarch64__)
/// Returns the variant for the instruction set in use. An op's .cc file declares its variants and calls
/// pick(...) once per call.
template <class F>
F pick(F baseline, F neon) {
  return isa() == Isa::kNeon ? neon : baseline;
}
#else
template <class F>
F pick(F baseline, F avx2, F avx512) {
  switch (isa()) {
    case Isa::kAvx512Bf16:
    case Isa::kAvx512: return avx512;
    case Isa::kAvx2: return avx2;
    case Isa::kNeon:
    case Isa::kBaseline: break;
  }
  return baseline;
}
/// pick() for an op that also has an AVX512-BF16 variant.
template <class F>
F pick(F baseline, F avx2, F avx512, F avx512bf16) {
  return isa() == Isa::kAvx512Bf16 ? avx512bf16 : pick(baseline, avx2, avx512);
}
#endif

}  // namespace hone::kernels::cpu

/// HONE_VARIANTS(void f(const Args&)) declares f once per instruction set, inside namespace
/// hone::kernels::cpu. HONE_PICK(f)(args) calls the variant of the set in use. The BF16 macros are for ops
/// that also have an AVX512-BF16 variant.
#if defined(__aarch64__)
#define HONE_VARIANTS(...)           \
  namespace baseline { __VA_ARGS__; } \
  namespace neon { __VA_ARGS__; }     \
  static_assert(true, "a semicolon follows")
#define HONE_PICK(name) ::hone::kernels::cpu::pick(&baseline::name, &neon::name)
#define HONE_BF16_VARIANTS(...) HONE_VARIANTS(__VA_ARGS__)
#define HONE_PICK_BF16(name) HONE_PICK(name)
#else
#define HONE_VARIANTS(...)           \
  namespace baseline { __VA_ARGS__; } \
  namespace avx2 { __VA_ARGS__; }     \
  namespace avx512 { __VA_ARGS__; }   \
  static_assert(true, "a semicolon follows")
#define HONE_PICK(name) ::hone::kernels::cpu::pick(&baseline::name, &avx2::name, &avx512::name)
#define HONE_BF16_VARIANTS(...)           \
  HONE_VARIANTS(__VA_ARGS__);             \
  namespace avx512bf16 { __VA_ARGS__; }   \
  static_assert(true, "a semicolon follows")
#define HONE_PICK_BF16(name) \
  ::hone::kernels::cpu::pick(&baseline::name, &avx2::name, &avx512::name, &avx512bf16::name)
#endif
