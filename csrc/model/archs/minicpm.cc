// MiniCPM (4, 4.1): Llama with Granite's multipliers under other names. Source: its authors' modeling_minicpm.py.
#include <algorithm>
#include <cmath>

#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_minicpm(ConfigFields& fields, ModelConfig& config) {
  parse_decoder(fields, config);
  config.embedding_scale = float(fields.number("scale_emb", 1.0));
  const double depth = fields.number("scale_depth", 1.0), base = fields.number("dim_model_base", 1.0);
  config.residual_scale = float(depth / std::sqrt(double(std::max<int64_t>(config.layers, 1))));
  config.logits_scaling = double(config.width) / base;
  fields.ignore({"mup_denominator"});  // a setting of the authors' optimizer
}

void write_minicpm(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("scale_emb", Json::number(double(config.embedding_scale)));
  json.set("scale_depth", Json::number(double(config.residual_scale) * std::sqrt(double(config.layers))));
  json.set("dim_model_base", Json::number(double(config.width) / config.logits_scaling));
}

}  // namespace hone::model::archs
