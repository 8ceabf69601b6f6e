#include "model/adapters_file.h"

#include <map>

#include "model/durable_file.h"
#include "model/safetensors.h"

namespace hone::model {

void load_adapters(const std::string& directory, const AdapterConfig& config, TensorBlock& block) {
  const std::string described = directory + "/" + kAdapterConfig, path = directory + "/" + kAdapterStem + ".safetensors";
  check_adapter_json(Json::parse(read_text(described), described.c_str()), config, described.c_str());
  std::map<std::string, const TensorSpec*> missing;
  for (const TensorSpec& spec : block.specs()) missing.emplace(peft_name(spec.name), &spec);
  const SafetensorsFile file(path);
  for (const auto& entry : file.entries()) {
    const auto found = missing.find(entry.name);
    if (found == missing.end()) {
      fail(Code::kFormat, "%s: tensor \"%s\" is no adapter of the recipe's lora.targets.", path.c_str(), shown_name(entry.name).c_str());
    }
    if (entry.shape != found->second->shape) {
      fail(Code::kFormat, "%s: tensor \"%s\" has another shape than this rank and model give.", path.c_str(), entry.name.c_str());
    }
    block.write(block.view(*found->second), [&](const TensorView& host) { read_as_f32(entry, host, path); });
    missing.erase(found);
  }
  if (missing.empty()) return;
  fail(Code::kFormat, "%s: tensor \"%s\" is missing (%zu missing in all).", path.c_str(), missing.begin()->first.c_str(), missing.size());
}

}  // namespace hone::model
