// Bounds of time steps and sizes of Mamba-2 in config.json. granite.test.cc and falcon_h1.test.cc read whole configs.
#include "model/archs/mamba.h"

#include <cmath>

#include "model/archs/fixture.h"

namespace model_archs_mamba_test {
namespace {

using namespace hone;

TEST(bounds_of_time_steps_are_written_and_read) {
  for (const kernels::StepRange& steps : {kernels::StepRange{}, kernels::StepRange{0.001, 2.5}}) {
    Json json = Json::object();
    model::archs::write_steps(steps, json);
    ConfigFields fields(json, "test");
    const kernels::StepRange again = model::archs::parse_steps(fields);
    EXPECT_TRUE(again.least == steps.least && again.most == steps.most);
  }
  const Json none = Json::object();
  ConfigFields fields(none, "test");
  EXPECT_TRUE(std::isinf(model::archs::parse_steps(fields).most));
}

TEST(heads_that_do_not_fill_the_columns_are_refused) {
  const Json json = Json::parse(R"({"mamba_n_heads": 4, "mamba_d_head": 6})", "test");
  for (const int64_t wide : {24, 25}) {
    ConfigProblems problems;
    ConfigFields fields(json, "test", &problems);
    model::ModelConfig config;
    model::archs::parse_mamba_sizes(fields, config, wide, "mamba_d_ssm");
    EXPECT_EQ(problems.found.size(), size_t(wide == 24 ? 0 : 1));
    EXPECT_EQ(config.delta.values(), int64_t(24));
  }
}

}  // namespace
}  // namespace model_archs_mamba_test
