// Trainers on GPUs that divide their work: each rank is a thread with a stream of the host shim, and a
// stand-in replaces NCCL.
#pragma once

#include <functional>
#include <vector>

#include "cuda_trainer.h"
#include "device.h"
#include "dist/gpu_ranks.h"
#include "trainer/sharded_course.h"

namespace hone::test {

using Stage = Sharding::Stage;

/// A small model, since in the host shim a micro-batch takes a tenth of a second per layer.
inline ModelConfig small(int64_t layers = 1) {
  ModelConfig model = small_gpu_decoder();
  model.layers = layers;
  model.vocabulary = 160;  // large enough that the weights outside of layers have two blocks
  return model;
}

inline TrainerConfig gpu_config(Stage stage, bool exact, int64_t packed_tokens = 14) {
  TrainerConfig config = config_of(stage, exact, packed_tokens);
  config.device = kCuda;
  return config;
}

inline StepOptions supervised() {
  StepOptions o;
  o.objective = Objective::kSupervised, o.lr = 0.01f;
  return o;
}

/// The batches of two steps, equal for all trainers that are compared.
inline std::vector<Batch> drawn_batches(const ModelConfig& model) {
  std::vector<Batch> out;
  for (int i = 0; i < 2; ++i) {
    out.push_back(some_batch(model));
    out.back().add({1, 2, 3, 4, 5, 6}, 2, 1.0f, 1);
  }
  return out;
}

inline void roughen_all(Trainer& trainer) {
  trainer.parameters().initialize(3);
  scale_head(trainer.parameters());
  trainer.parameters_changed();
}

inline Course course_of(Trainer& trainer, const StepOptions& o, const std::vector<Batch>& batches) {
  Course course;
  for (const Batch& batch : batches) course.reports.push_back(trainer.step(batch.view(), o));
  course.weights = values(trainer.trained(), trainer.trained().flat());
  return course;
}

inline Course run(const ModelConfig& model, const TrainerConfig& config, const StepOptions& o, const std::vector<Batch>& batches,
           dist::Communicator* ranks = nullptr) {
  Trainer trainer(model, config, nullptr, ranks);
  roughen_all(trainer);
  return course_of(trainer, o, batches);
}

inline void on_gpus(int size, const std::function<void(dist::Communicator&)>& body) {
  expect_all(gpu_ranks(size, {}, [&](GpuCommunicator& group, const Stream&, int) {
    body(group);
    group.close();
  }), "ok");
}

inline std::vector<Course> run_ranks(int size, const ModelConfig& model, const TrainerConfig& config, const StepOptions& o,
                              const std::vector<Batch>& batches) {
  std::vector<Course> courses(static_cast<size_t>(size));
  on_gpus(size, [&](dist::Communicator& group) { courses[size_t(group.rank())] = run(model, config, o, batches, &group); });
  return courses;
}

}  // namespace hone::test

#define NEEDS_SHIM \
  NEEDS_DEVICE;    \
  if (!on_shim()) SKIP("the stand-in for NCCL reads no GPU's memory")
