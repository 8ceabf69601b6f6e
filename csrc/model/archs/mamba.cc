#include "model/archs/mamba.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace hone::model::archs {
namespace {

/// Infinity if the item is the object that transformers writes in its place, since JSON has no such number.
double bound_of(const Json& item, const char* where) {
  if (item.kind() != Json::Kind::kObject) return item.as_double(where);
  const Json* text = item.find("__float__");
  if (text && text->as_string(where) == "Infinity") return std::numeric_limits<double>::infinity();
  fail(Code::kConfig, "%s has %s; its bounds are numbers.", where, item.dump().c_str());
}

}  // namespace

kernels::StepRange parse_steps(ConfigFields& fields) {
  const Json* given = fields.value("time_step_limit");
  if (!given) return {};
  const std::string where = fields.path("time_step_limit");
  const std::vector<Json>& bounds = given->items(where.c_str());
  if (bounds.size() == 2) return {bound_of(bounds[0], where.c_str()), bound_of(bounds[1], where.c_str())};
  fields.problem(Code::kConfig, where + " has " + std::to_string(bounds.size()) + " numbers; it must have two, the bounds of a time step.");
  return {};
}

void write_steps(const kernels::StepRange& steps, Json& json) {
  Json most = Json::object(), bounds = Json::array();
  most.set("__float__", Json::string("Infinity"));
  bounds.push(decimal(steps.least));
  bounds.push(std::isinf(steps.most) ? std::move(most) : decimal(steps.most));
  json.set("time_step_limit", std::move(bounds));
}

void parse_mamba_sizes(ConfigFields& fields, ModelConfig& config, int64_t wide, const char* meaning) {
  const int64_t heads = fields.integer("mamba_n_heads", 128);
  const Json* const head = fields.value("mamba_d_head");
  const bool sized = head && head->kind() == Json::Kind::kNumber;
  config.delta = {.key_heads = fields.integer("mamba_n_groups", 1),
                  .value_heads = heads,
                  .key_dim = fields.integer("mamba_d_state", 256),
                  .value_dim = sized ? fields.integer("mamba_d_head") : wide / std::max<int64_t>(heads, 1),
                  .taps = fields.integer("mamba_d_conv", 4),
                  .mamba = true};
  config.steps = parse_steps(fields);
  if (config.delta.values() != wide) {
    fields.problem(Code::kConfig, fields.path("mamba_n_heads") + " is " + std::to_string(heads) + " and mamba_d_head " + std::to_string(config.delta.value_dim) +
                                      "; their product must be " + meaning + ", " + std::to_string(wide) + ".");
  }
  fields.only("mamba_conv_bias", true);
  fields.only("mamba_proj_bias", false);
}

void write_mamba_sizes(const ModelConfig& config, Json& json) {
  const kernels::DeltaSizes& s = config.delta;
  json.set("mamba_n_groups", Json::integer(s.key_heads));
  json.set("mamba_n_heads", Json::integer(s.value_heads));
  json.set("mamba_d_state", Json::integer(s.key_dim));
  json.set("mamba_d_head", Json::integer(s.value_dim));
  json.set("mamba_d_conv", Json::integer(s.taps));
  json.set("mamba_conv_bias", Json::boolean(true));
  json.set("mamba_proj_bias", Json::boolean(false));
  write_steps(config.steps, json);
}

}  // namespace hone::model::archs
