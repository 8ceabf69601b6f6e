// Mistral: a head dim independent of the width, and an optional sliding window. A fault put into the code,
// detected here: window ignored.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_mistral_test {
namespace {

using namespace hone;

TEST(the_window_and_the_head_size_are_read) {
  EXPECT_EQ(test::parse("mistral", "sliding_window", "24").sliding_window, 24);
  EXPECT_EQ(test::parse("mistral", "sliding_window", "null").sliding_window, 0);
  EXPECT_EQ(test::parse(test::hf_config("mistral")).sliding_window, 0);
  EXPECT_EQ(test::parse("mistral", "head_dim", "20").q_width(), 80);
  EXPECT_THROWS(test::parse("mistral", "sliding_window", "-1"), Code::kConfig);
  // would be 1 if cut to 32 bits
  EXPECT_THROWS(test::parse("mistral", "sliding_window", "4294967297"), Code::kConfig);
}

TEST(no_window_is_written_as_null) {
  EXPECT_TRUE(test::written(test::parse(test::hf_config("mistral"))).find("sliding_window")->is_null());
  const Json json = test::written(test::parse("mistral", "sliding_window", "24"));
  EXPECT_EQ(json.find("sliding_window")->as_int("t"), 24);
}

}  // namespace
}  // namespace model_archs_mistral_test
