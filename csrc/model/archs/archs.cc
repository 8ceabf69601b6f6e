// One row per architecture; see archs.h for how to add one.
#include "model/archs/archs.h"

#include <algorithm>
#include <iterator>

namespace hone::model {
namespace {

constexpr Architecture kTable[] = {
    {"llama", "LlamaForCausalLM", archs::parse_llama, archs::write_llama},
    {"mistral", "MistralForCausalLM", archs::parse_mistral, archs::write_mistral},
    {"qwen2", "Qwen2ForCausalLM", archs::parse_qwen2, archs::write_qwen2},
    {"qwen3", "Qwen3ForCausalLM", archs::parse_qwen3, archs::write_qwen3},
    {"phi3", "Phi3ForCausalLM", archs::parse_phi3, archs::write_phi3},
    {"olmo2", "Olmo2ForCausalLM", archs::parse_olmo2, archs::write_olmo2},
    {"smollm3", "SmolLM3ForCausalLM", archs::parse_smollm3, archs::write_smollm3},
    {"granite", "GraniteForCausalLM", archs::parse_granite, archs::write_granite},
    {"gemma2", "Gemma2ForCausalLM", archs::parse_gemma2, archs::write_gemma2},
    {"gemma3_text", "Gemma3ForCausalLM", archs::parse_gemma3, archs::write_gemma3},
    {"gemma4_text", "Gemma4ForCausalLM", archs::parse_gemma4, archs::write_gemma4},
    {"olmo3", "Olmo3ForCausalLM", archs::parse_olmo3, archs::write_olmo3},
    {"glm", "GlmForCausalLM", archs::parse_glm, archs::write_glm},
    {"glm4", "Glm4ForCausalLM", archs::parse_glm4, archs::write_glm},
    {"ernie4_5", "Ernie4_5ForCausalLM", archs::parse_ernie4_5, archs::write_ernie4_5},
    {"seed_oss", "SeedOssForCausalLM", archs::parse_seed_oss, archs::write_seed_oss},
    {"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", archs::parse_hunyuan, archs::write_hunyuan},
    {"exaone4", "Exaone4ForCausalLM", archs::parse_exaone4, archs::write_exaone4},
    {"ministral3", "Ministral3ForCausalLM", archs::parse_ministral3, archs::write_mistral},
    {"minicpm", "MiniCPMForCausalLM", archs::parse_minicpm, archs::write_minicpm},
    {"mimo", "MiMoForCausalLM", archs::parse_mimo, archs::write_qwen2},
    {"cohere", "CohereForCausalLM", archs::parse_cohere, archs::write_cohere},
    {"cohere2", "Cohere2ForCausalLM", archs::parse_cohere2, archs::write_cohere2},
    {"granitemoehybrid", "GraniteMoeHybridForCausalLM", archs::parse_granite_hybrid, archs::write_granite_hybrid, true},
    {"falcon_h1", "FalconH1ForCausalLM", archs::parse_falcon_h1, archs::write_falcon_h1},
    {"nemotron_h", "NemotronHForCausalLM", archs::parse_nemotron_h, archs::write_nemotron_h, true},
    {"qwen3_5_text", "Qwen3_5ForCausalLM", archs::parse_qwen3_5_text, archs::write_qwen3_5_text},
    {"lfm2", "Lfm2ForCausalLM", archs::parse_lfm2, archs::write_lfm2},
    {"qwen3_moe", "Qwen3MoeForCausalLM", archs::parse_qwen3_moe, archs::write_qwen3_moe, true},
    {"olmoe", "OlmoeForCausalLM", archs::parse_olmoe, archs::write_olmoe, true},
    {"mixtral", "MixtralForCausalLM", archs::parse_mixtral, archs::write_mixtral, true},
    {"glm4_moe", "Glm4MoeForCausalLM", archs::parse_glm4_moe, archs::write_glm4_moe, true},
    {"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", archs::parse_qwen3_5_moe_text, archs::write_qwen3_5_moe_text, true},
    {"qwen3_next", "Qwen3NextForCausalLM", archs::parse_qwen3_next, archs::write_qwen3_next, true},
    {"gpt_oss", "GptOssForCausalLM", archs::parse_gpt_oss, archs::write_gpt_oss, true},
    {"granitemoe", "GraniteMoeForCausalLM", archs::parse_granitemoe, archs::write_granitemoe, true},
    {"lfm2_moe", "Lfm2MoeForCausalLM", archs::parse_lfm2_moe, archs::write_lfm2_moe, true},
    {"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", archs::parse_ernie4_5_moe, archs::write_ernie4_5_moe, true},
    {"qwen2_moe", "Qwen2MoeForCausalLM", archs::parse_qwen2_moe, archs::write_qwen2_moe, true},
    {"dots1", "Dots1ForCausalLM", archs::parse_dots1, archs::write_dots1, true},
    {"minimax_m2", "MiniMaxM2ForCausalLM", archs::parse_minimax_m2, archs::write_minimax_m2, true},
    {"solar_open", "SolarOpenForCausalLM", archs::parse_solar_open, archs::write_solar_open, true},
    {"exaone_moe", "ExaoneMoeForCausalLM", archs::parse_exaone_moe, archs::write_exaone_moe, true},
    {"qwen2_5_vl_text", nullptr, archs::parse_qwen2_vl_text, nullptr},
    {"qwen3_vl_text", nullptr, archs::parse_qwen3_vl_text, nullptr},
    {"qwen2_5_vl", nullptr, archs::parse_qwen2_5_vl, nullptr},
    {"qwen3_vl", nullptr, archs::parse_llava, nullptr},
    {"qwen3_5", nullptr, archs::parse_llava, nullptr},
    {"qwen3_5_moe", nullptr, archs::parse_llava, nullptr, true},
    {"gemma3", nullptr, archs::parse_llava, nullptr},
    {"gemma4", nullptr, archs::parse_gemma4_whole, nullptr},
    {"llava", nullptr, archs::parse_llava, nullptr},
    {"mistral3", nullptr, archs::parse_llava, nullptr},
};

}  // namespace

bool is_supported_mixture(const std::string& name) {
  return std::any_of(std::begin(kTable), std::end(kTable), [&](const Architecture& row) { return row.mixture && name == row.name; });
}

const Architecture& find_architecture(const std::string& name, const char* where) {
  std::string list;
  for (const Architecture& row : kTable) {
    if (name == row.name) return row;
    list += (list.empty() ? "" : ", ") + std::string(row.name);
  }
  fail(Code::kUnsupported, "%s: model_type is \"%s\"; supported: %s.", where, name.c_str(), list.c_str());
}

}  // namespace hone::model
