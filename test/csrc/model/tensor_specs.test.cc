// Layout of the tensors in one block, and which of them weight decay applies to.
#include "model/tensor_specs.h"

#include <set>

#include "check.h"
#include "model/parameters.h"
#include "model/reference.h"

namespace model_tensor_specs_test {
namespace {

using namespace hone;
using model::Parameters;

TEST(specs_do_not_overlap_and_gaps_are_small) {
  for (const auto& [name, config] : test::switch_configs()) {
    int64_t end = 0;
    std::set<std::string> names;
    for (const auto& spec : model::tensor_specs(config)) {
      EXPECT_TRUE(spec.offset >= end && spec.offset < end + 16);
      EXPECT_TRUE(names.insert(spec.name).second);
      end = spec.offset + spec.numel();
    }
    const Parameters p(config);
    EXPECT_TRUE(p.flat().dim(0) >= end && p.flat().dim(0) < end + 16);
    EXPECT_EQ(names.count("lm_head.weight"), size_t(config.tied_head ? 0 : 1));
  }
}

TEST(matrices_decay_and_vectors_do_not) {
  const auto spec = [](const char* name, std::vector<int64_t> shape) { return model::TensorSpec{name, std::move(shape), 0, false}; };
  EXPECT_TRUE(model::is_decayed(spec("model.embed_tokens.weight", {8, 4})) && model::is_decayed(spec("model.layers.0.block_sparse_moe.input_linear.weight", {2, 8, 4})));
  EXPECT_TRUE(!model::is_decayed(spec("model.norm.weight", {4})) && !model::is_decayed(spec("model.layers.0.conv.conv.weight", {8, 1, 3})));
  for (const auto& frozen : {spec("model.layers.1.mlp.moe_statics.e_score_correction_bias", {1, 5}), spec("model.layers.1.feed_forward.expert_bias", {5})}) {
    EXPECT_TRUE(model::is_frozen(frozen) && !model::is_decayed(frozen));
  }
}

}  // namespace
}  // namespace model_tensor_specs_test
