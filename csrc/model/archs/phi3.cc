// Phi-3 and Phi-4: q, k, v and gate, up in one tensor each; a part of each head rotated, or longrope (Phi-4-mini).
#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

constexpr const char* kContext = "hone_max_context";

/// transformers takes the long factors for a sequence as soon as it exceeds the original positions, and so turns tokens that
/// were read already by other angles: a token's log-probability would depend on what comes after it. Here the longest
/// sequence of the run decides once, for engine and trainer alike.
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
