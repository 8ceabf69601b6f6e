// The instruction set in use: chosen once from the CPU's features, or lowered by HONE_ISA.
#pragma once

namespace hone::kernels::cpu {

/// kAvx512Bf16 is kAvx512 with an instruction for bf16 products: only their results differ. kNeon is supported by every
/// arm64 CPU. All except the baseline give the same bits.
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Bf16, kNeon };

/// The best set this CPU has; HONE_ISA=baseline|avx2|avx512|avx512bf16|neon forces a lower one (kConfig if the CPU lacks it).
Isa isa();
/// "baseline", "avx2", "avx512", "avx512bf16" or "neon".
const char* isa_name(Isa isa);
/// Also false if the set's bf16 instruction does not give the bits of the steps in simd_bf16.h.
bool isa_supported(Isa isa);
/// For tests and benches that compare sets in one process; not while an op runs. kConfig if the CPU lacks it.
void force_isa(Isa isa);

#if defined(__aarch64__)
/// Returns the variant of the chosen set; an op's .cc declares its variants and calls pick(...) once per call.
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
/// The same for an op that has a fourth variant.
template <class F>
F pick(F baseline, F avx2, F avx512, F avx512bf16) {
  return isa() == Isa::kAvx512Bf16 ? avx512bf16 : pick(baseline, avx2, avx512);
}
#endif

}  // namespace hone::kernels::cpu

/// HONE_VARIANTS(void f(const Args&)); declares f once per set, inside namespace hone::kernels::cpu.
/// HONE_PICK(f)(args) calls the chosen one. The BF16 macros: for ops that also have an AVX512-BF16 variant.
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
