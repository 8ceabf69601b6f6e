#include "kernels/cpu/dispatch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "kernels/cpu/matmul_bf16_block.h"

namespace hone::kernels::cpu {
namespace {

constexpr Isa kAll[] = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kNeon};
std::atomic<int> chosen{-1};

Isa best() {
  for (Isa set : {Isa::kAvx512Bf16, Isa::kAvx512, Isa::kAvx2, Isa::kNeon}) {
    if (isa_supported(set)) return set;
  }
  return Isa::kBaseline;
}

Isa from_environment() {
  const char* wanted = std::getenv("HONE_ISA");
  if (!wanted || !*wanted) return best();
  for (Isa set : kAll) {
    if (std::strcmp(wanted, isa_name(set)) != 0) continue;
    if (isa_supported(set)) return set;
    fail(Code::kConfig, "HONE_ISA is %s, which this CPU does not have; the best it has is %s. Unset it.", wanted,
         isa_name(best()));
  }
  fail(Code::kConfig, "HONE_ISA is \"%s\"; set it to baseline, avx2, avx512, avx512bf16 or neon, or unset it.", wanted);
}

}  // namespace

bool isa_supported(Isa set) {
#if defined(__x86_64__)
  switch (set) {
    case Isa::kAvx512Bf16: {
      static const bool proven = __builtin_cpu_supports("avx512bf16") && isa_supported(Isa::kAvx512) && instruction_gives_our_bits();
      return proven;
    }
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && isa_supported(Isa::kAvx2);
    case Isa::kAvx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::kNeon:
    case Isa::kBaseline: break;
  }
#elif defined(__aarch64__)
  if (set == Isa::kNeon) return true;
#endif
  return set == Isa::kBaseline;
}

const char* isa_name(Isa set) {
  switch (set) {
    case Isa::kAvx512Bf16: return "avx512bf16";
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx2: return "avx2";
    case Isa::kNeon: return "neon";
    case Isa::kBaseline: break;
  }
  return "baseline";
}

Isa isa() {
  const int known = chosen.load(std::memory_order_relaxed);
  if (known >= 0) return Isa(known);
  const Isa set = from_environment();
  chosen.store(int(set), std::memory_order_relaxed);
  return set;
}

void force_isa(Isa set) {
  if (!isa_supported(set)) fail(Code::kConfig, "force_isa: this CPU does not have %s.", isa_name(set));
  chosen.store(int(set), std::memory_order_relaxed);
}

}  // namespace hone::kernels::cpu
