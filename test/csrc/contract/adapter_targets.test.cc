// Which matrices a LoRA recipe's targets name in each kind of model, and the targets that are refused.
#include <utility>

#include "architectures.h"
#include "check.h"
#include "model/reference.h"
#include "model/adapters.h"
#include "trainer/trainer.h"

namespace contract_adapter_targets_test {
namespace {

using namespace hone;
using trainer::Trainer;
using trainer::TrainerConfig;

TrainerConfig adapted(int64_t rank, float alpha, std::vector<std::string> targets = {"all-linear"}) {
  TrainerConfig config;
  config.packed_tokens = 14;
  config.adapters = {rank, alpha, std::move(targets), 5};
  return config;
}

TEST(all_linear_means_every_matrix_outside_of_experts) {
  for (const auto& [name, mixture] : test::switch_configs()) {
    if (!mixture.mixes()) continue;
    const auto specs = model::adapter_specs(mixture, {4, 8.0f, {"all-linear"}, 1});
    EXPECT_TRUE(!specs.empty());
    for (const model::TensorSpec& spec : specs) EXPECT_TRUE(spec.name.find("experts") == std::string::npos);
    Trainer trainer(mixture, adapted(4, 8.0f), nullptr);
  }
}

TEST(adapters_that_make_no_sense_are_refused) {
  const model::ModelConfig model = test::tiny_config();
  const auto refuse = [&](const model::ModelConfig& m, TrainerConfig config, Code code) { EXPECT_THROWS(Trainer(m, config, nullptr), code); };
  refuse(model, adapted(4, 0.0f), Code::kConfig);
  refuse(model, adapted(4, 8.0f, {}), Code::kConfig);
  refuse(model, adapted(4, 8.0f, {"lm_head"}), Code::kConfig);
  refuse(test::architecture_configs()[0].second, adapted(4, 8.0f, {"q_proj"}), Code::kConfig);  // phi3's matrix is called qkv_proj
  refuse(model, adapted(4, 8.0f, {"in_proj_z"}), Code::kConfig);
  refuse(test::hybrid_config(), adapted(4, 8.0f, {"in_proj_ba"}), Code::kConfig);  // a name of qwen3_next
  refuse(model, adapted(4, 8.0f, {"experts"}), Code::kConfig);
  for (const auto& [name, mixture] : test::switch_configs()) {  // in a mixture of experts the target is "experts"
    if (mixture.mixes()) refuse(mixture, adapted(4, 8.0f, {"up_proj"}), Code::kUnsupported);
  }
  TrainerConfig muon = adapted(4, 8.0f);
  muon.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  refuse(model, muon, Code::kUnsupported);
}

}  // namespace
}  // namespace contract_adapter_targets_test
