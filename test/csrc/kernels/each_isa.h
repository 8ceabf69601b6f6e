// Runs a test on every instruction set that this CPU has, with one and with two threads.
#pragma once

#include <initializer_list>

#include "check.h"
#include "core/stream.h"
#include "kernels/cpu/dispatch.h"

namespace hone::test {

template <class F>
void on_sets(std::initializer_list<kernels::cpu::Isa> sets, F body) {
  using kernels::cpu::Isa;
  const Isa before = kernels::cpu::isa();
  for (Isa set : sets) {
    if (!kernels::cpu::isa_supported(set)) continue;
    kernels::cpu::force_isa(set);
    const int failed = failures();
    body();
    if (failures() != failed) std::printf("  (on %s)\n", kernels::cpu::isa_name(set));
  }
  kernels::cpu::force_isa(before);
}

template <class F>
void each_isa(F body) {
  using kernels::cpu::Isa;
  on_sets({Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}, body);
}
/// Like each_isa, for products in bf16, which have one more instruction set.
template <class F>
void each_bf16_isa(F body) {
  using kernels::cpu::Isa;
  on_sets({Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kNeon}, body);
}

/// A stream with two threads, for results that must equal those of Stream{}.
inline Stream two_threads() {
  static ThreadPool pool(2);
  Stream stream;
  stream.pool = &pool;
  return stream;
}

}  // namespace hone::test
