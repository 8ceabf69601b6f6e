// TrainedGradients: a backward writes to all parameters' gradients, or only to the adapters', where frozen
// norms have none.
#include "trainer/trained_gradients.h"

#include <algorithm>

#include "check.h"
#include "model/reference.h"

namespace trainer_trained_gradients_test {
namespace {

using namespace hone;
using trainer::TrainedGradients;

TEST(all_parameters_have_gradients_and_no_adapters) {
  const model::ModelConfig config = test::tiny_config();
  const Stream stream;
  TrainedGradients gradients(stream, config, nullptr);
  const model::Gradients views = gradients.views();
  EXPECT_EQ(views.parameters->flat().data, gradients.block().flat().data);
  EXPECT_EQ(views.parameters->flat().numel(), model::Parameters(config).flat().numel());
  EXPECT_TRUE(!views.adapters && !views.of_adapters && !views.window);
}

TEST(adapters_have_gradients_and_frozen_norms_a_place_that_is_cleared) {
  const model::ModelConfig config = test::tiny_config();
  const Stream stream;
  const model::Adapters adapters(config, {.rank = 2, .alpha = 4.0f, .targets = {"q_proj"}, .seed = 1}, stream);
  TrainedGradients gradients(stream, config, &adapters);
  for (int time = 0; time < 2; ++time) {
    const model::Gradients views = gradients.views();
    EXPECT_TRUE(!views.parameters && views.adapters == &adapters && views.of_adapters == &gradients.block());
    EXPECT_EQ(views.unused.numel(), model::unused_gradient_width(config));
    float* const unused = views.unused.as<float>();
    EXPECT_TRUE(std::all_of(unused, unused + views.unused.numel(), [](float x) { return x == 0.0f; }));
    std::fill_n(unused, views.unused.numel(), 1.0f);
  }
  EXPECT_EQ(gradients.block().flat().numel(), adapters.block().flat().numel());
}

}  // namespace

}  // namespace trainer_trained_gradients_test
