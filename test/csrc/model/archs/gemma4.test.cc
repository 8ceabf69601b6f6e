// Gemma-4's large dense model: heads of two sizes, whose keys may be values; what the other models have is refused.
#include <cmath>

#include "check.h"
#include "model/archs/fixture.h"
#include "model/rope_table.h"

namespace model_archs_gemma4_test {
namespace {

using namespace hone;

Json small(const char* field = nullptr, const char* value = nullptr) {
  Json json = Json::parse(R"({"model_type": "gemma4_text", "vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 7, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "global_head_dim": 16, "num_global_key_value_heads": 1, "attention_k_eq_v": true,
    "intermediate_size": 20, "hidden_size_per_layer_input": 0, "final_logit_softcapping": 30.0})", "t");
  if (field) json.set(field, Json::parse(value, "t"));
  return json;
}

TEST(every_sixth_layer_and_the_last_have_no_window_and_heads_of_their_own) {
  const model::ModelConfig first = test::parse(small()), again = test::parse(test::written(first));
  for (const model::ModelConfig& c : {first, again}) {
    for (int64_t l = 0; l < 7; ++l) {
      const bool full = l >= 5;
      EXPECT_EQ(c.window(l), full ? 0 : 512);
      EXPECT_EQ(c.head_dim_of(l), full ? 16 : 8);
      EXPECT_EQ(c.kv_heads_of(l), full ? 1 : 2);
      EXPECT_EQ(c.keys_are_values(l), full);
      EXPECT_EQ(c.in_width(l), full ? 80 : 64);
    }
    EXPECT_TRUE(c.qk_norm && c.value_norm && c.layer_scalars && c.gelu && c.tied_head);
    EXPECT_EQ(c.norm_offset, 0.0f);
    EXPECT_EQ(c.attention_multiplier, 1.0);
    EXPECT_EQ(c.logit_softcap, 30.0f);
    EXPECT_TRUE(c.rope.kind == model::RopeConfig::Kind::kProportional);
    EXPECT_EQ(c.rope.partial, 0.25);
    EXPECT_EQ(c.rope.theta, 1e6);
    EXPECT_EQ(c.sliding_theta, 1e4);
  }
}

TEST(only_where_keys_are_values_have_full_layers_their_own_number_of_them) {
  const model::ModelConfig c = test::parse(test::written(test::parse(small("attention_k_eq_v", "false"))));
  EXPECT_EQ(c.kv_heads_of(6), 2);
  EXPECT_EQ(c.in_width(6), 4 * 16 + 2 * 2 * 16);
}

TEST(heads_may_be_given_by_layer) {
  Json json = small("per_layer_config", R"({"5": {"head_dim": 24, "num_key_value_heads": 4}, "6": {"head_dim": 24, "num_key_value_heads": 4}})");
  const model::ModelConfig c = test::parse(test::written(test::parse(json)));
  EXPECT_EQ(c.head_dim_of(5), 24);
  EXPECT_EQ(c.kv_heads_of(6), 4);
  EXPECT_EQ(c.head_dim_of(4), 8);
  EXPECT_THROWS(test::parse(small("per_layer_config", R"({"6": {"head_dim": 24}})")), Code::kUnsupported);
  EXPECT_THROWS(test::parse(small("per_layer_config", R"({"0": {"head_dim": 24}, "5": {"head_dim": 24}, "6": {"head_dim": 24}})")), Code::kUnsupported);
  json.set("attention_k_eq_v", Json::boolean(false));
  EXPECT_THROWS(test::parse(json), Code::kUnsupported);  // the number of heads differs, and values are their own
}

/// Source: transformers, _compute_proportional_rope_parameters.
TEST(the_first_pairs_turn_as_if_all_did) {
  const model::ModelConfig c = test::parse(small());
  const std::vector<double> found = model::rope_frequencies(c.rope, c.rotary_dim());
  EXPECT_EQ(found.size(), 8u);
  EXPECT_EQ(found[0], 1.0);
  EXPECT_NEAR(found[1], std::pow(1e6, -2.0 / 16.0), 1e-15);
  for (size_t i = 2; i < 8; ++i) EXPECT_EQ(found[i], 0.0);
}

TEST(parts_of_the_other_models_are_refused_by_field) {
  const std::pair<const char*, const char*> refused[] = {{"hidden_size_per_layer_input", "256"}, {"num_kv_shared_layers", "20"}, {"enable_moe_block", "true"},
                                                         {"use_bidirectional_attention", "\"all\""}, {"attention_bias", "true"}, {"sliding_window", "0"}};
  for (const auto& [field, value] : refused) {
    try {
      test::parse(small(field, value));
      test::report(__FILE__, __LINE__, std::string(field) + " = " + value + " is accepted");
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Code::kUnsupported);
      EXPECT_TRUE(std::string(error.what()).find(field) != std::string::npos);
    }
  }
  Json json = small();
  Json without = Json::object();
  for (const auto& [name, value] : json.members("t")) {
    if (name != "hidden_size_per_layer_input") without.set(name, value);
  }
  EXPECT_THROWS(test::parse(without), Code::kUnsupported);  // the class has 256 where a file says nothing
}

TEST(heads_that_do_not_divide_are_refused) {
  EXPECT_THROWS(test::parse(small("num_global_key_value_heads", "3")), Code::kConfig);
  EXPECT_THROWS(test::parse(small("global_head_dim", "15")), Code::kConfig);
  EXPECT_THROWS(test::parse(small("global_head_dim", "4611686018427387904")), Code::kConfig);
  EXPECT_THROWS(test::parse(small("num_global_key_value_heads", "4611686018427387904")), Code::kConfig);
}

}  // namespace
}  // namespace model_archs_gemma4_test
