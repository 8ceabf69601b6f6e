// The predicted memory of an engine, compared to the byte with what the arenas of a real engine hold after it
// has worked.
#include "engine/memory.h"

#include "check.h"
#include "core/device.h"
#include "core/thread_pool.h"
#include "device.h"
#include "engine/engine.h"
#include "engine/page_pool.h"
#include "model/reference.h"

namespace engine_memory_test {
namespace {

using namespace hone;
using engine::EngineConfig;

void finish_requests(engine::Engine& made, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    engine::Request r;
    r.id = uint64_t(i) + 1, r.prompt = {1, 2, 3, 4, 5}, r.max_tokens = 8;
    made.submit(r);
  }
  engine::StepOutput out;
  while (made.step(out)) {
  }
}

EngineConfig small_engine(Stream::Backend device) {
  EngineConfig config;
  config.device = device;
  config.max_running = 5, config.pages = 32, config.max_context = 48, config.step_tokens = 24;
  return config;
}

/// A tiny model with sizes that GPU kernels support.
model::ModelConfig gpu_model() {
  model::ModelConfig model = test::tiny_config();
  model.width = 40, model.head_dim = 16, model.mlp_width = 56, model.vocabulary = 64;
  return model;
}

TEST(on_the_cpu_an_engine_takes_what_it_is_said_to_take) {
  const model::ModelConfig model = test::tiny_config();
  ThreadPool pool(3);
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
    const EngineConfig config = small_engine(Stream::Backend::kCpu);
    model::Parameters parameters(model);
    parameters.initialize(1);
    const auto weights = model::WeightSnapshot::make(Stream{}, parameters, 1);
    const int64_t before = Arena::live_bytes(Memory::kHost);
    engine::Engine made(model, config, threads);
    made.set_weights(weights);
    finish_requests(made, 5);
    const engine::EngineBytes planned = engine::engine_bytes(model, config, threads ? 3 : 1);
    EXPECT_EQ(Arena::live_bytes(Memory::kHost) - before, planned.scratch);
    EXPECT_EQ(planned.key_values, engine::PagePool(model, config.pages, config.page_tokens).page_bytes() * config.pages);
  }
}

TEST(on_a_gpu_it_takes_its_pages_and_weights_too_and_no_more_rows_than_said) {
  NEEDS_DEVICE;
  const model::ModelConfig model = gpu_model();
  const EngineConfig config = small_engine(Stream::Backend::kCuda);
  const Device device(Stream::Backend::kCuda, nullptr);
  model::Parameters parameters(model, device.stream());
  parameters.initialize(1);
  const auto weights = model::WeightSnapshot::make(device.stream(), parameters, 1);
  const int64_t before = Arena::live_bytes(Memory::kDevice);
  engine::Engine made(model, config, nullptr);
  made.set_weights(weights);
  finish_requests(made, 5);
  const engine::EngineBytes planned = engine::engine_bytes(model, config, 1);
  const auto snapshot = model::snapshot_bytes(device.stream(), model, DType::kBF16);
  const int64_t held = Arena::live_bytes(Memory::kDevice) - before, whole = planned.key_values + planned.scratch + snapshot.tensors();
  EXPECT_TRUE(held <= whole && held > whole - 64 * 1024);  // buckets that no step has used take no memory
}

}  // namespace
}  // namespace engine_memory_test
