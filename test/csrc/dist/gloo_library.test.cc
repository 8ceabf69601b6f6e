// Opening hone_gloo.so: a library that exists, one that does not, and one of another version.
#include "dist/gloo_library.h"

#include "gloo_ranks.h"

namespace dist_gloo_library_test {

using namespace hone;
using namespace hone::test;

TEST(a_missing_library_is_named_with_the_next_command) {
  const dist::GlooInfo info = dist::query_gloo("./no_such_gloo.so");
  EXPECT_TRUE(info.version.empty());
  EXPECT_TRUE(has(info.reason, "gloo: ./no_such_gloo.so cannot be opened"));
  EXPECT_TRUE(has(info.reason, "apt-get install libgloo-dev"));
}

TEST(a_library_of_another_kind_is_refused) {
  EXPECT_TRUE(has(dist::query_gloo(HONE_FAKE_NCCL).reason, "belongs to another version of this package"));
}

TEST(the_default_lies_beside_this_program) {
  const std::string path = dist::GlooLibrary::default_path();
  EXPECT_EQ(path.substr(path.find_last_of('/') + 1), std::string("hone_gloo.so"));
}

TEST(the_version_is_gloos) {
#ifdef HONE_GLOO_LIBRARY
  const dist::GlooInfo info = dist::query_gloo(kGlooLibrary);
  EXPECT_EQ(info.reason, std::string());
  EXPECT_TRUE(std::count(info.version.begin(), info.version.end(), '.') == 2);
#else
  SKIP("no libgloo-dev");
#endif
}

}  // namespace dist_gloo_library_test
