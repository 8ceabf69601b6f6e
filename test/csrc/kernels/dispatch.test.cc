// The choice of the instruction set. The environment is read once per process, so each case runs in its own
// process.
#include "kernels/cpu/dispatch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "check.h"

namespace kernels_dispatch_test {

using namespace hone;
using namespace hone::kernels::cpu;

namespace {

constexpr Isa kAll[] = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kNeon};

/// isa() in a new process with HONE_ISA = value: 0..4 for a set, 100 for kConfig.
int isa_with(const char* value) {
  const pid_t child = fork();
  if (child == 0) {
    if (value) setenv("HONE_ISA", value, 1);
    else unsetenv("HONE_ISA");
    int code = 101;
    try {
      code = int(isa());
    } catch (const Error& e) {
      code = e.code() == Code::kConfig ? 100 : 102;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Isa best() {
  if (isa_supported(Isa::kNeon)) return Isa::kNeon;
  if (isa_supported(Isa::kAvx512Bf16)) return Isa::kAvx512Bf16;
  return isa_supported(Isa::kAvx512) ? Isa::kAvx512 : isa_supported(Isa::kAvx2) ? Isa::kAvx2 : Isa::kBaseline;
}

}  // namespace

TEST(the_best_set_is_the_default) {
  EXPECT_EQ(isa_with(nullptr), int(best()));
  EXPECT_EQ(isa_with(""), int(best()));
}

TEST(the_environment_forces_a_set_the_cpu_has) {
  for (Isa set : kAll) {
    EXPECT_EQ(isa_with(isa_name(set)), isa_supported(set) ? int(set) : 100);
  }
}

TEST(an_unknown_name_is_a_config_error) {
  for (const char* name : {"sse2", "AVX2", "avx2 ", "1"}) EXPECT_EQ(isa_with(name), 100);
}

TEST(pick_follows_force) {
  for (Isa set : kAll) {
    if (!isa_supported(set)) {
      EXPECT_THROWS(force_isa(set), Code::kConfig);
      continue;
    }
    force_isa(set);
#if defined(__aarch64__)
    EXPECT_EQ(pick(0, 4), int(set));
#else
    EXPECT_EQ(pick(0, 1, 2), std::min(int(set), 2));
    EXPECT_EQ(pick(0, 1, 2, 3), int(set));
#endif
  }
}

}  // namespace kernels_dispatch_test
