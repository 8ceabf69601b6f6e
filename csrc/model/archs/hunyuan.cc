// Hunyuan's dense models: Llama with q and k normed per head after rotary embedding. For rotary angles see
// parse_dynamic, decoder.cc.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_hunyuan(ConfigFields& fields, ModelConfig& config) {
  config.norm_eps = 1e-5f;
  config.qk_norm = config.qk_norm_last = true;
  config.qkv_bias = config.o_bias = fields.boolean("attention_bias", false);
  parse_decoder(fields, config);
  fields.only("use_qk_norm", true);
  fields.only("use_cla", false);
  fields.only("norm_type", {"rms"});
  fields.only("use_rotary_pos_emb", true);
  fields.only("add_classification_head", false);
  // Fields of classification heads and of images in the authors' code.
  fields.ignore({"attention_head_dim", "cla_share_factor", "class_num", "dense_list", "eod_token_id", "im_end_id", "im_newline_id",
                 "im_start_id", "mask_init_id", "org_vocab_size", "pad_id", "pool_type", "text_end_id", "text_start_id"});
}

/// Writes rope_theta as the base that alpha resulted in.
void write_hunyuan(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("attention_bias", Json::boolean(config.qkv_bias));
  json.set("use_qk_norm", Json::boolean(true));
}

}  // namespace hone::model::archs
