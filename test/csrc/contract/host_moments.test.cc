// A trainer whose optimizer moments lie in host memory gets the bits of one that keeps them on the device: in
// whole steps, also with adapters, and after reading a checkpoint that the other kind of trainer wrote.
#include <cmath>
#include <filesystem>

#include "cuda_trainer.h"
#include "device.h"

namespace contract_host_moments_test {

using namespace hone;
using namespace hone::test;
using trainer::StepOptions;
using trainer::StepReport;

namespace {

TrainerConfig options(bool host, DType moments, bool adapted) {
  TrainerConfig c;
  c.device = kCuda;
  c.packed_tokens = 14;
  c.optimizer.moments = moments, c.optimizer.seed = 5, c.optimizer.gradient_clip = 0.5f, c.optimizer.window = 512;
  c.optimizer.moments_on_host = host;
  if (adapted) c.adapters = {8, 8.0f, {"all-linear"}, 1};
  return c;
}

std::unique_ptr<Trainer> make(const ModelConfig& model, const TrainerConfig& config) {
  auto made = std::make_unique<Trainer>(model, config, nullptr);
  made->parameters().initialize(3);
  made->parameters_changed();
  return made;
}

std::vector<float> trained(Trainer& trainer) { return values(trainer.trained(), trainer.trained().flat()); }

void expect_same(Trainer& a, Trainer& b) { EXPECT_TRUE(trained(a) == trained(b) && a.version() == b.version()); }

StepReport step(Trainer& trainer, const Batch& batch) {
  StepOptions o;
  o.objective = kernels::Objective::kSupervised, o.lr = 0.05f;
  return trainer.step(batch.view(), o);
}

}  // namespace

TEST(a_trainer_with_moments_on_the_host_has_the_bits_of_one_with_moments_on_the_device) {
  NEEDS_DEVICE;
  ModelConfig model = small_gpu_decoder();
  model.layers = 1;
  const auto folder = std::filesystem::temp_directory_path() / ("hone-host-moments-" + std::to_string(seed()));
  for (const bool adapted : {false, true}) {
    const DType moments = adapted ? DType::kBF16 : DType::kF32;
    const auto device = make(model, options(false, moments, adapted)), host = make(model, options(true, moments, adapted));
    const Deferred streams;
    for (int i = 0; i < 2; ++i) {
      const Batch batch = some_batch(model);
      const StepReport one = step(*device, batch), other = step(*host, batch);
      EXPECT_TRUE(one.loss == other.loss && one.grad_norm == other.grad_norm && one.update_norm == other.update_norm);
      EXPECT_TRUE(one.weight_norm == other.weight_norm && one.grad_scale == other.grad_scale && !other.skipped);
      expect_same(*device, *host);
    }
    // Each trainer continues from the other's checkpoint.
    device->save(folder / "device", "");
    host->save(folder / "host", "");
    const auto there = make(model, options(true, moments, adapted)), here = make(model, options(false, moments, adapted));
    there->load(folder / "device");
    here->load(folder / "host");
    const Batch batch = some_batch(model);
    for (Trainer* each : {device.get(), there.get(), here.get()}) step(*each, batch);
    for (Trainer* each : {there.get(), here.get()}) expect_same(*device, *each);
    std::filesystem::remove_all(folder);
  }
}

}  // namespace contract_host_moments_test
