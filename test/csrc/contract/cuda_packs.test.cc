// On a GPU the optimizer writes the packed weights that packing the master weights would give: in place; or
// into new memory, while a reader holds the old ones; or not at all, when the step is skipped. Faults put
// into the code, each detected: always written in place; packs of a skipped step published; their version not
// updated; a norm missing among the parts; gradients created at once. Detected by
// test/csrc/trainer/optimizer.test.cc: runs at the start of their part, or over several parts; Muon writes no
// packs; AdamW packs another tensor.
#include <cmath>

#include "architectures.h"
#include "core/device.h"
#include "cuda_trainer.h"
#include "device.h"
#include "model/weight_snapshot.h"

namespace contract_cuda_packs_test {

using namespace hone;
using namespace hone::test;
using trainer::StepOptions;
using trainer::StepReport;

namespace {

/// The bytes of every packed tensor on the device.
std::vector<std::vector<std::byte>> contents(const model::WeightSnapshot& weights, const model::Parameters& of) {
  std::vector<std::vector<std::byte>> out;
  for (const model::WeightSnapshot::Part& part : weights.parts(of)) {
    const TensorView flat = part.flat();
    out.emplace_back(size_t(flat.numel() * dtype_bytes(flat.dtype)));
    const Device device(kCuda, nullptr);
    download(device.stream(), out.back().data(), flat.data, int64_t(out.back().size()));
    synchronize(device.stream());
  }
  return out;
}

}  // namespace

TEST(the_optimizer_writes_the_packs_that_packing_its_masters_would_give) {
  NEEDS_DEVICE;
  // an untied head, and norms of q and k; experts whose parameters are the transposes of their matrices
  for (ModelConfig model : {small_gpu_decoder(), small_gpu_decoder(true), architecture_config("gpt_oss")}) {
    const bool muon = model.qk_norm;
    if (!model.sinks) model.layers = 1;
    TrainerConfig config;
    config.device = kCuda, config.optimizer.gradient_clip = 0.5f;
    if (muon) config.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
    Trainer trainer(model, config, nullptr);
    trainer.parameters().initialize(3);
    StepOptions o;
    o.objective = kernels::Objective::kSupervised, o.lr = 0.05f, o.muon_lr = 0.05f;
    const Device device(kCuda, nullptr);
    const auto packed_anew = [&] {
      return contents(*model::WeightSnapshot::make(device.stream(), trainer.parameters(), 0), trainer.parameters());
    };
    auto held = trainer.snapshot();
    const auto first = contents(*held, trainer.parameters());
    trainer.step(some_batch(model).view(), o);  // a reader, `held`, has the old packed weights
    EXPECT_TRUE(trainer.snapshot() != held && trainer.snapshot()->version == 1);
    EXPECT_TRUE(contents(*held, trainer.parameters()) == first);
    const auto second = contents(*trainer.snapshot(), trainer.parameters());
    EXPECT_TRUE(second == packed_anew() && second != first);
    held.reset();
    const void* const at = trainer.snapshot()->embedding.data;
    // there is no reader, so the packed weights are written in place
    trainer.step(some_batch(model).view(), o);
    EXPECT_TRUE(trainer.snapshot()->embedding.data == at && trainer.snapshot()->version == 2);
    EXPECT_TRUE(contents(*trainer.snapshot(), trainer.parameters()) == packed_anew());
  }
}

TEST(packs_meant_for_a_step_that_is_skipped_are_not_published) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto trainer = make_trainer(model, 3);
  for (int i = 0; i < 2; ++i) scale_head(trainer->parameters());
  trainer->parameters_changed();
  // The losses are finite and the gradient overflows: sequences of one loss token each, of ratio 1, with the
  // largest advantage.
  Batch huge;
  for (const int length : {7, 11, 4}) {
    std::vector<int32_t> tokens;
    for (int t = 0; t < length; ++t) tokens.push_back(int32_t(random_int(0, model.vocabulary - 1)));
    huge.add(tokens, size_t(length - 1), -3e38f, 1);
  }
  huge.behavior.assign(huge.tokens.size(), 0.0f);
  std::vector<float> entropies(huge.tokens.size());
  trainer->score(huge.view(), 1.0f, huge.behavior.data(), entropies.data());
  const auto held = trainer->snapshot();
  const auto before = contents(*held, trainer->parameters());
  StepOptions o;
  o.lr = 0.05f;
  const StepReport report = trainer->step(huge.view(), o);
  EXPECT_TRUE(report.skipped && std::isfinite(report.loss) && !std::isfinite(report.grad_norm));
  EXPECT_TRUE(trainer->snapshot() == held && held->version == 0);
  EXPECT_TRUE(contents(*held, trainer->parameters()) == before);
}

#ifdef HONE_HAVE_CUDA
TEST(a_trainer_that_takes_no_step_has_no_gradients_and_no_moments) {
  NEEDS_DEVICE;
  ModelConfig model = small_gpu_decoder();
  model.vocabulary = 30000;
  const auto free_bytes = [] {
    size_t free = 0, total = 0;
    cuda::check(cudaMemGetInfo(&free, &total), "test");
    return int64_t(free);
  };
  TrainerConfig config;
  config.device = kCuda;
  const int64_t before = free_bytes();
  Trainer trainer(model, config, nullptr);
  const int64_t masters = trainer.parameters().flat().numel() * 4, slack = int64_t(3) << 20;
  trainer.snapshot();
  EXPECT_TRUE(before - free_bytes() <= masters + masters / 2 + slack);
  trainer.gradients();
  EXPECT_TRUE(before - free_bytes() >= 2 * masters);
}
#endif

}  // namespace contract_cuda_packs_test
