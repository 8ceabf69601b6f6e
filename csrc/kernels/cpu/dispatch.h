// Which instruction set runs: chosen once, from cpuid, or forced down by HONE_ISA.
#pragma once

namespace hone::kernels::cpu {

/// kAvx512Bf16 is kAvx512 with an instruction for products of bf16: no other result differs.
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Bf16 };

/// The best set this CPU has; HONE_ISA=baseline|avx2|avx512|avx512bf16 forces a lower one (kConfig if the CPU lacks it).
Isa isa();
/// "baseline", "avx2", "avx512" or "avx512bf16".
const char* isa_name(Isa isa);
/// False, too, for an instruction that does not give the bits of the steps in simd_bf16.h.
bool isa_supported(Isa isa);
/// For tests and benches that compare sets in one process; not while an op runs. kConfig if the CPU lacks it.
void force_isa(Isa isa);

/// Returns the variant of the chosen set; an op's .cc declares its three variants and calls pick(...) once per call.
template <class F>
F pick(F baseline, F avx2, F avx512) {
  switch (isa()) {
    case Isa::kAvx512Bf16:
    case Isa::kAvx512: return avx512;
    case Isa::kAvx2: return avx2;
    case Isa::kBaseline: break;
  }
  return baseline;
}
/// The same for an op that has a fourth.
template <class F>
F pick(F baseline, F avx2, F avx512, F avx512bf16) {
  return isa() == Isa::kAvx512Bf16 ? avx512bf16 : pick(baseline, avx2, avx512);
}

}  // namespace hone::kernels::cpu

/// HONE_VARIANTS(void f(const Args&)); declares f once per set, inside namespace hone::kernels::cpu.
#define HONE_VARIANTS(...)           \
  namespace baseline { __VA_ARGS__; } \
  namespace avx2 { __VA_ARGS__; }     \
  namespace avx512 { __VA_ARGS__; }   \
  static_assert(true, "a semicolon follows")
/// HONE_PICK(f)(args) calls the chosen one.
#define HONE_PICK(name) ::hone::kernels::cpu::pick(&baseline::name, &avx2::name, &avx512::name)
/// The same for ops that are also compiled with AVX512-BF16.
#define HONE_BF16_VARIANTS(...)           \
  HONE_VARIANTS(__VA_ARGS__);             \
  namespace avx512bf16 { __VA_ARGS__; }   \
  static_assert(true, "a semicolon follows")
#define HONE_PICK_BF16(name) \
  ::hone::kernels::cpu::pick(&baseline::name, &avx2::name, &avx512::name, &avx512bf16::name)
