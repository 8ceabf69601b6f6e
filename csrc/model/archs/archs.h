// The table of architectures: one row per model_type of config.json.
#pragma once

#include <functional>

#include "core/config_fields.h"
#include "model/config.h"

namespace hone::model {

/// To add an architecture: write archs/<name>.cc with these two functions and add its row in archs.cc.
struct Architecture {
  const char* name;           // model_type in config.json, and ModelConfig::arch
  // the "architectures" entry that transformers loads it with; null for a vision-language wrapper
  const char* causal_class;
  void (*parse)(ConfigFields& fields, ModelConfig& config);
  // null for a wrapper, whose checkpoints are saved as those of its text model
  void (*write)(const ModelConfig& config, Json& json);
  bool mixture = false;
};

/// Whether the table has this model_type and the model is a mixture of experts.
bool is_supported_mixture(const std::string& name);
/// Throws kUnsupported naming the type and listing the types in the table.
const Architecture& find_architecture(const std::string& name, const char* where);

/// Reads the fields that all Llama-like decoders share: sizes, rope, norm, activation and weight tying. A
/// field that the file lacks keeps the value that the architecture has set in `config`. Reads both the
/// transformers-4 (rope_theta, rope_scaling) and the transformers-5 (rope_parameters) style. partial_rotary:
/// whether partial_rotary_factor may be below 1.
void parse_decoder(ConfigFields& fields, ModelConfig& config, bool partial_rotary = false);
/// Reads sliding_window: returns 0 if it is null and config.sliding_window if it is absent. Throws kConfig if
/// it is negative or exceeds 32 bits.
int32_t parse_window(ConfigFields& fields, const ModelConfig& config);
/// Reads which layers have a sliding window: from layer_types, or from `slides(layer)` if the file lacks that
/// field.
void parse_layer_types(ConfigFields& fields, ModelConfig& config, const std::function<bool(int64_t layer)>& slides);
/// Reads layer_types, sliding_window, use_sliding_window and max_window_layers as Qwen's files have them.
void parse_qwen_window(ConfigFields& fields, ModelConfig& config);
/// Parses the JSON object of a text model and gathers its problems; does not call check(). Throws for a
/// missing or unknown model_type and for a mixture of experts that is not in the table.
ModelConfig parse_text_model(const Json& json, const std::string& where, ConfigProblems& problems);

/// A JSON number with a decimal point, since transformers 5 refuses an integer for a field that it declares
/// as float.
Json decimal(double value);
/// Writes the transformers-5 fields that all architectures share.
void write_decoder(const ModelConfig& config, Json& json);
/// Writes rope_parameters as two objects: one for layers with a sliding window (sliding_theta), one for other
/// layers.
void write_rope_by_layer(const ModelConfig& config, Json& json);
void write_window(const ModelConfig& config, Json& json);
/// Writes layer_types: "sliding_attention" or "full_attention" for each layer.
void write_layer_types(const ModelConfig& config, Json& json);

namespace archs {
void parse_llama(ConfigFields& fields, ModelConfig& config);
void write_llama(const ModelConfig& config, Json& json);
void parse_mistral(ConfigFields& fields, ModelConfig& config);
void write_mistral(const ModelConfig& config, Json& json);
void parse_qwen2(ConfigFields& fields, ModelConfig& config);
void write_qwen2(const ModelConfig& config, Json& json);
void parse_mimo(ConfigFields& fields, ModelConfig& config);
void parse_qwen3(ConfigFields& fields, ModelConfig& config);
void write_qwen3(const ModelConfig& config, Json& json);
void parse_phi3(ConfigFields& fields, ModelConfig& config);
void write_phi3(const ModelConfig& config, Json& json);
void parse_olmo2(ConfigFields& fields, ModelConfig& config);
void write_olmo2(const ModelConfig& config, Json& json);
void parse_smollm3(ConfigFields& fields, ModelConfig& config);
void write_smollm3(const ModelConfig& config, Json& json);
void parse_granite(ConfigFields& fields, ModelConfig& config);
void write_granite(const ModelConfig& config, Json& json);
void parse_gemma2(ConfigFields& fields, ModelConfig& config);
void write_gemma2(const ModelConfig& config, Json& json);
void parse_gemma3(ConfigFields& fields, ModelConfig& config);
void write_gemma3(const ModelConfig& config, Json& json);
void parse_gemma4(ConfigFields& fields, ModelConfig& config);
void write_gemma4(const ModelConfig& config, Json& json);
void parse_gemma4_whole(ConfigFields& fields, ModelConfig& config);
void parse_olmo3(ConfigFields& fields, ModelConfig& config);
void write_olmo3(const ModelConfig& config, Json& json);
void parse_glm(ConfigFields& fields, ModelConfig& config);
void write_glm(const ModelConfig& config, Json& json);
void parse_glm4(ConfigFields& fields, ModelConfig& config);
void parse_ernie4_5(ConfigFields& fields, ModelConfig& config);
void write_ernie4_5(const ModelConfig& config, Json& json);
void parse_hunyuan(ConfigFields& fields, ModelConfig& config);
void write_hunyuan(const ModelConfig& config, Json& json);
void parse_seed_oss(ConfigFields& fields, ModelConfig& config);
void write_seed_oss(const ModelConfig& config, Json& json);
void parse_exaone4(ConfigFields& fields, ModelConfig& config);
void write_exaone4(const ModelConfig& config, Json& json);
void parse_ministral3(ConfigFields& fields, ModelConfig& config);
void parse_minicpm(ConfigFields& fields, ModelConfig& config);
void write_minicpm(const ModelConfig& config, Json& json);
void parse_cohere(ConfigFields& fields, ModelConfig& config);
void write_cohere(const ModelConfig& config, Json& json);
void parse_cohere2(ConfigFields& fields, ModelConfig& config);
void write_cohere2(const ModelConfig& config, Json& json);
void parse_granite_hybrid(ConfigFields& fields, ModelConfig& config);
void write_granite_hybrid(const ModelConfig& config, Json& json);
void parse_granitemoe(ConfigFields& fields, ModelConfig& config);
void write_granitemoe(const ModelConfig& config, Json& json);
void parse_lfm2_moe(ConfigFields& fields, ModelConfig& config);
void write_lfm2_moe(const ModelConfig& config, Json& json);
void parse_ernie4_5_moe(ConfigFields& fields, ModelConfig& config);
void write_ernie4_5_moe(const ModelConfig& config, Json& json);
void parse_qwen2_moe(ConfigFields& fields, ModelConfig& config);
void write_qwen2_moe(const ModelConfig& config, Json& json);
void parse_dots1(ConfigFields& fields, ModelConfig& config);
void write_dots1(const ModelConfig& config, Json& json);
void parse_minimax_m2(ConfigFields& fields, ModelConfig& config);
void write_minimax_m2(const ModelConfig& config, Json& json);
void parse_solar_open(ConfigFields& fields, ModelConfig& config);
void write_solar_open(const ModelConfig& config, Json& json);
void parse_exaone_moe(ConfigFields& fields, ModelConfig& config);
void write_exaone_moe(const ModelConfig& config, Json& json);
void parse_falcon_h1(ConfigFields& fields, ModelConfig& config);
void write_falcon_h1(const ModelConfig& config, Json& json);
void parse_nemotron_h(ConfigFields& fields, ModelConfig& config);
void write_nemotron_h(const ModelConfig& config, Json& json);
void parse_qwen3_5_text(ConfigFields& fields, ModelConfig& config);
void write_qwen3_5_text(const ModelConfig& config, Json& json);
void parse_qwen3_moe(ConfigFields& fields, ModelConfig& config);
void write_qwen3_moe(const ModelConfig& config, Json& json);
void parse_olmoe(ConfigFields& fields, ModelConfig& config);
void write_olmoe(const ModelConfig& config, Json& json);
void parse_mixtral(ConfigFields& fields, ModelConfig& config);
void write_mixtral(const ModelConfig& config, Json& json);
void parse_glm4_moe(ConfigFields& fields, ModelConfig& config);
void write_glm4_moe(const ModelConfig& config, Json& json);
void parse_qwen3_5_moe_text(ConfigFields& fields, ModelConfig& config);
void write_qwen3_5_moe_text(const ModelConfig& config, Json& json);
void parse_qwen3_next(ConfigFields& fields, ModelConfig& config);
void write_qwen3_next(const ModelConfig& config, Json& json);
void parse_gpt_oss(ConfigFields& fields, ModelConfig& config);
void write_gpt_oss(const ModelConfig& config, Json& json);
void parse_lfm2(ConfigFields& fields, ModelConfig& config);
void write_lfm2(const ModelConfig& config, Json& json);
void parse_llava(ConfigFields& fields, ModelConfig& config);
void parse_qwen2_vl_text(ConfigFields& fields, ModelConfig& config);
void parse_qwen3_vl_text(ConfigFields& fields, ModelConfig& config);
void parse_qwen2_5_vl(ConfigFields& fields, ModelConfig& config);
}  // namespace archs

}  // namespace hone::model
