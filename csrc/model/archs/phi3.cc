// Phi-3 and Phi-4: files store q, k, v as one tensor, and gate, up as one; only a part of each head is
// rotated, or longrope (Phi-4-mini).
#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

constexpr const char* kContext = "hone_max_context";

/// Chooses longrope's short or long factors by the longest sequence of the run, once, for engine and trainer.
/// (transformers switches a sequence to the long factors as soon as it exceeds the original positions, which
/// changes the angles of tokens that were already read, so that a token's log-prob would depend on later
/// tokens.)
void choose_factors(ModelConfig& config, int64_t context) {
  RopeConfig& rope = config.rope;
  rope.extended = context > rope.original_max_positions && rope.extended_positions > rope.original_max_positions;
  if (rope.extended) config.max_positions = rope.extended_positions;
}

}  // namespace

void parse_phi3(ConfigFields& fields, ModelConfig& config) {
  config.fused_qkv = config.fused_gate_up = true;
  config.norm_eps = 1e-5f;
  config.max_positions = 4096;
  config.rope.original_max_positions = fields.integer("original_max_position_embeddings", 4096);
  config.rope.partial = fields.number("partial_rotary_factor", 1.0);
  const int64_t context = fields.integer(kContext, 0);
  parse_decoder(fields, config, true);
  config.sliding_window = parse_window(fields, config);
  if (config.rope.kind == RopeConfig::Kind::kLongrope) choose_factors(config, context);
  else config.rope.original_max_positions = 0;
}

void write_phi3(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  if (config.rope.extended) json.set(kContext, Json::integer(config.max_positions));
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
}

}  // namespace hone::model::archs
