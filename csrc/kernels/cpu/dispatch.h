// Which instruction set runs: chosen once, from cpuid, or forced down by HONE_ISA.
#pragma once

namespace hone::kernels::cpu {

enum class Isa { kBaseline, kAvx2, kAvx512 };

/// The best set this CPU has; HONE_ISA=baseline|avx2|avx512 forces a lower one (kConfig if the CPU lacks it).
Isa isa();
/// "baseline", "avx2" or "avx512".
const char* isa_name(Isa isa);
bool isa_supported(Isa isa);
/// For tests and benches that compare sets in one process; not while an op runs. kConfig if the CPU lacks it.
void force_isa(Isa isa);

/// Returns the variant of the chosen set; an op's .cc declares its three variants and calls pick(...) once per call.
template <class F>
F pick(F baseline, F avx2, F avx512) {
  switch (isa()) {
    case Isa::kAvx512: return avx512;
    case Isa::kAvx2: return avx2;
    case Isa::kBaseline: break;
  }
  return baseline;
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
