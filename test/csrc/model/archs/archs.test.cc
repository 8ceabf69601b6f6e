// The table of architectures: every row is found by name, loads what it writes, and names its class in
// transformers. Faults put into the code: the row of qwen3 with qwen2's class, a wrapper that is written.
// Each is detected.
#include "model/archs/archs.h"

#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_archs_test {
namespace {

using namespace hone;

TEST(rows_are_found_by_model_type) {
  for (const char* name : {"llama", "mistral", "qwen2", "qwen3", "phi3", "olmo2", "smollm3", "granite", "gemma2",
                           "gemma3_text", "gemma3", "llava", "mistral3", "olmo3", "glm", "glm4", "ernie4_5", "seed_oss", "exaone4",
                           "ministral3", "minicpm", "mimo", "gemma4_text", "gemma4", "cohere", "cohere2", "granitemoehybrid", "qwen3_moe", "olmoe", "mixtral", "glm4_moe", "gpt_oss", "qwen3_5_moe", "qwen3_5_moe_text", "qwen3_next", "qwen2_5_vl", "qwen3_vl", "qwen3_5_text", "qwen3_5"}) {
    EXPECT_EQ(std::string(model::find_architecture(name, "x").name), std::string(name));
  }
  EXPECT_THROWS(model::find_architecture("gemma", "x"), Code::kUnsupported);
  EXPECT_THROWS(model::find_architecture("", "x"), Code::kUnsupported);
}

TEST(an_unknown_type_lists_what_there_is) {
  try {
    model::find_architecture("gemma", "config.json");
  } catch (const Error& e) {
    const std::string text = e.what();
    for (const char* part : {"config.json", "gemma", "llama", "qwen3"}) EXPECT_TRUE(text.find(part) != std::string::npos);
  }
}

TEST(decoders_are_written_with_their_class) {
  for (const auto& [type, name] : {std::pair{"llama", "LlamaForCausalLM"}, {"mistral", "MistralForCausalLM"},
                                   {"qwen2", "Qwen2ForCausalLM"}, {"qwen3", "Qwen3ForCausalLM"},
                                   {"phi3", "Phi3ForCausalLM"}, {"olmo2", "Olmo2ForCausalLM"},
                                   {"smollm3", "SmolLM3ForCausalLM"}, {"granite", "GraniteForCausalLM"},
                                   {"gemma2", "Gemma2ForCausalLM"}, {"gemma3_text", "Gemma3ForCausalLM"},
                                   {"olmo3", "Olmo3ForCausalLM"}, {"glm", "GlmForCausalLM"}, {"glm4", "Glm4ForCausalLM"},
                                   {"ernie4_5", "Ernie4_5ForCausalLM"}, {"seed_oss", "SeedOssForCausalLM"},
                                   {"exaone4", "Exaone4ForCausalLM"}, {"ministral3", "Ministral3ForCausalLM"},
                                   {"minicpm", "MiniCPMForCausalLM"}, {"mimo", "MiMoForCausalLM"}, {"cohere", "CohereForCausalLM"}, {"cohere2", "Cohere2ForCausalLM"}, {"qwen3_moe", "Qwen3MoeForCausalLM"}, {"olmoe", "OlmoeForCausalLM"},
                                   {"mixtral", "MixtralForCausalLM"}, {"glm4_moe", "Glm4MoeForCausalLM"}, {"gpt_oss", "GptOssForCausalLM"}}) {
    const Json json = test::written(test::parse(test::hf_config(type)));
    EXPECT_EQ(json.find("architectures")->items("t")[0].as_string("t"), std::string(name));
    EXPECT_EQ(json.find("model_type")->as_string("t"), std::string(type));
  }
}

TEST(a_wrapper_is_never_written) {
  model::ModelConfig config = test::parse(test::hf_config("llama"));
  config.arch = "llava";
  EXPECT_THROWS(model::to_hf_config(config), Code::kInternal);
}

}  // namespace
}  // namespace model_archs_archs_test
