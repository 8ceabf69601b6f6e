// Vision-language wrappers (Llava, Pixtral, Gemma-3): only their text model is trained and sampled.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_llava(ConfigFields& fields, ModelConfig& config) {
  const Json* text = fields.value("text_config");
  if (!text) fail(Code::kConfig, "%s is missing; a wrapper needs its text model.", fields.path("text_config").c_str());
  config = parse_text_model(*text, fields.where() + ": text_config", *fields.problems());
  // transformers reads the wrapper's flag, not the text model's.
  config.tied_head = fields.boolean("tie_word_embeddings", config.tied_head);
  fields.ignore({"vision_config", "image_seq_length", "multimodal_projector_bias", "projector_hidden_act",
                 "vision_feature_layer", "vision_feature_select_strategy", "spatial_merge_size", "mm_tokens_per_image"});
}

}  // namespace hone::model::archs
