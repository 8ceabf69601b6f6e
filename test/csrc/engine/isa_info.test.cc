#include "engine/isa_info.h"

#include "check.h"
#include "kernels/cpu/dispatch.h"

namespace engine_isa_info_test {

TEST(the_set_named_is_the_one_the_kernels_use) {
  using namespace hone::kernels::cpu;
  EXPECT_EQ(std::string(hone::engine::isa_in_use()), std::string(isa_name(isa())));
  const Isa best = isa();
  force_isa(Isa::kBaseline);
  EXPECT_EQ(std::string(hone::engine::isa_in_use()), std::string("baseline"));
  force_isa(best);
}

}  // namespace engine_isa_info_test
