#include "addon/memory_sizes.h"

#include <algorithm>
#include <utility>

#include "addon/arguments.h"
#include "addon/errors.h"
#include "addon/model_options.h"
#include "engine/memory.h"
#include "trainer/memory.h"

namespace hone::addon {

constexpr uint64_t kMostRanks = 1 << 16;

Napi::Value memory_sizes(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  return translated(env, [&]() -> Napi::Value {
    const model::ModelConfig model = read_model_config(call[0]);
    const engine::EngineConfig engine = read_engine_config(call[1]);
    const trainer::TrainerConfig trainer = read_trainer_config(call[2]);
    const auto sequences = int64_t(to_id(call[3], "sequences"));
    const auto threads = int(to_id(call[4], "threads"));
    const auto ranks = int(std::min<uint64_t>(to_id(call[5], "ranks"), kMostRanks));
    if (ranks < 1) fail(Code::kConfig, "memorySizes: ranks is 0; it must be at least 1.");
    const DType base = to_text(call[6], "base") == "bf16" ? DType::kBF16 : DType::kF32;
    const bool one_layer = trainer.sharding.stage == trainer::Sharding::Stage::kParameters;
    const model::SnapshotBytes s = model::snapshot_bytes({.backend = trainer.device}, model, trainer.weight_storage, one_layer, base);
    const engine::EngineBytes e = engine::engine_bytes(model, engine, threads);
    const trainer::TrainerBytes t = trainer::trainer_bytes(model, trainer, sequences, threads, {0, ranks}, base);
    const std::pair<const char*, int64_t> sizes[] = {
        {"parameters", t.parameters},   {"trained", t.trained},  {"moments", t.moments}, {"hostMoments", t.host_moments}, {"firstPacking", t.first_packing}, {"adapters", t.adapters}, {"snapshot", s.tensors()}, {"ends", s.ends}, {"head", s.head},
        {"ropeTables", s.rope_tables},  {"activations", t.activations},
        {"trainingScratch", t.scratch},
        {"logits", t.logits},           {"arrays", t.arrays}, {"keyValues", e.key_values},
        {"page", e.page},               {"engineScratch", e.scratch}};
    Napi::Object out = Napi::Object::New(env);
    for (const auto& [name, bytes] : sizes) out.Set(name, double(bytes));
    return out;
  });
}

}  // namespace hone::addon
