// Which kernels a decode step launches: in a model of a few gigabytes or less, their number, not the bytes
// they read, decides how long the step takes. A + marks a kernel that may start before the preceding one has
// ended. For published models' own sizes no kernel is executed.
#include "cuda_trainer.h"
#include "device.h"
#include "engine/engine.h"
#include "model/layer.h"
#ifdef HONE_CUDA_SHIM
#include "engine/step_attention.h"
#include "kernels/cuda/matmul.h"
#include "model/rope_table.h"
#endif

namespace contract_launches_test {

using namespace hone;
using namespace hone::test;
using model::ModelConfig;

#ifdef HONE_CUDA_SHIM

namespace {

// before the first kernel, since a process queries the capability only once
TEST_SETUP { cuda_shim::set_capability(9); }

ModelConfig config_of(const char* arch, int64_t width, int64_t heads, int64_t kv_heads, int64_t mlp_width, bool qk_norm) {
  ModelConfig c;
  c.arch = arch, c.vocabulary = 64, c.layers = 2, c.head_dim = 128, c.max_positions = 4096;
  c.width = width, c.heads = heads, c.kv_heads = kv_heads, c.mlp_width = mlp_width, c.qk_norm = qk_norm;
  return c;
}
const ModelConfig kQwen = config_of("qwen3", 1024, 16, 8, 3072, true);       // Qwen3-0.6B
const ModelConfig kMistral = config_of("mistral", 4096, 32, 8, 14336, false);  // Mistral-7B

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::string name : names) {
    if (const size_t at = name.find("_kernel"); at != std::string::npos) name.erase(at, 7);
    out += (out.empty() ? "" : " ") + name;
  }
  return out;
}

/// A layer's weights, which all share the same few bytes, since only their shapes matter.
model::PackedLayer layer_of(const ModelConfig& c, void* memory) {
  const auto matrix = [&](int64_t n, int64_t k) { return kernels::PackedMatrix{n, k, DType::kBF16, memory}; };
  const auto vector = [&](int64_t n) { return TensorView(memory, DType::kF32, {n}); };
  model::PackedLayer w;
  w.qkv = matrix(c.qkv_width(), c.width), w.o = matrix(c.width, c.q_width());
  w.gate_up = matrix(2 * c.mlp_width, c.width), w.down = matrix(c.width, c.mlp_width);
  w.attn_norm = w.mlp_norm = vector(c.width);
  if (c.qk_norm) w.q_norm = w.k_norm = vector(c.head_dim);
  return w;
}

/// The kernels that one layer launches in a decode step of `rows` rows on a device of this capability.
std::string layer_launches(const ModelConfig& c, int64_t rows, int capability, int64_t layer = 1) {
  cuda_shim::set_capability(capability);
  kernels::cuda::force_portable(capability < 9);
  const Stream stream = device_stream();
  const DeviceArray<uint16_t> memory(8192);
  const auto act = [&](std::initializer_list<int64_t> dims) { return memory.view(DType::kBF16, dims); };
  const auto ints = [&](std::initializer_list<int64_t> dims) { return memory.view(DType::kI32, dims); };
  engine::PagePool pool(c, 2, 16, DType::kBF16, stream);
  Arena ops(64 << 20, "test", Memory::kDevice);
  engine::PagedAttention attention(pool, c, ints({rows}), ints({rows}), ints({rows, 128}),
                                   {ints({rows}), ints({rows})});
  attention.list_work(stream, ops);
  const model::LayerScratch scratch{act({rows, c.width}), act({rows, c.mlp_width}), act({rows, c.width}), &ops};
  model::LayerActivations to;
  to.input = to.middle = act({rows, c.width});
  to.qkv = act({rows, c.qkv_width()}), to.gate_up = act({rows, 2 * c.mlp_width});
  to.kept = false;
  to.attn_out = act({rows, c.heads, c.head_dim}), to.attn_rows = act({rows, c.q_width()});
  const TensorView table = memory.view(DType::kF32, {8, c.head_dim});
  cuda_shim::LaunchLog log(false);
  model::layer_forward(stream, c, layer_of(c, memory.data()), layer, ints({rows}), table, attention, to, scratch, to.input);
  return joined(log.names);
}

/// The launches of the last step of a generation, which are those of its recorded graph.
std::vector<std::string> step_launches(ModelConfig c, int64_t layers) {
  c.layers = layers;
  const auto trainer = make_trainer(c, 3);
  engine::EngineConfig config;
  config.max_running = 4, config.step_tokens = 40, config.pages = 16, config.max_context = 64, config.device = kCuda;
  engine::Engine engine(c, config, nullptr);
  engine.set_weights(trainer->snapshot());
  engine.submit(random_request(c, 0, 12, 4));
  std::vector<std::string> names;
  for (engine::StepOutput out;;) {
    cuda_shim::LaunchLog log;
    if (!engine.step(out)) return names;
    names = log.names;
  }
}

}  // namespace

TEST(a_layer_of_a_decode_step_launches_these_kernels) {
  NEEDS_DEVICE;
  const struct Hopper {
    ~Hopper() { cuda_shim::set_capability(9); }
  } again;
  const std::string before = "norm product add_pieces prepare_heads attention_paged product add_pieces norm product";
  const std::string after = " swiglu product add_pieces";
  const std::string sm90 =
      "norm+ product_few_sm90+ attention_paged+ product_few_sm90+ norm+ product_few_sm90+ product_few_sm90+";
  for (const int64_t rows : {1, 64, 256}) {
    EXPECT_EQ(layer_launches(kQwen, rows, 8), before + " add_pieces" + after);
    EXPECT_EQ(layer_launches(kMistral, rows, 8), before + after);
    EXPECT_EQ(layer_launches(kQwen, rows, 9), sm90);
    EXPECT_EQ(layer_launches(kMistral, rows, 9), sm90);
  }
}

TEST(a_decode_step_is_its_layers_and_these_kernels) {
  NEEDS_DEVICE;
  kernels::cuda::force_portable(false);
  const ModelConfig c = small_gpu_decoder(true);
  const std::vector<std::string> two = step_launches(c, 2), three = step_launches(c, 3);
  const std::string layer =
      " norm+ product_few_sm90+ attention_paged+ product_few_sm90+ norm+ product_few_sm90+ product_few_sm90+";
  EXPECT_EQ(joined(two), "copy copy list_paged_items embedding+" + layer + layer +
                             " norm+ gather+ head_tile_sm90+ merge_samples+ truncate+ copy");
  EXPECT_EQ(three.size() - two.size(), size_t(7));
}

namespace {

Rollouts generated(const ModelConfig& c, const std::vector<engine::Request>& requests, bool ahead) {
  const struct Ahead {
    ~Ahead() { cuda_shim::run_ahead(false); }
  } end;
  cuda_shim::run_ahead(ahead);
  const auto trainer = make_trainer(c, 3);
  engine::EngineConfig config;
  config.max_running = 4, config.step_tokens = 8, config.pages = 16, config.max_context = 64, config.device = kCuda;
  engine::Engine engine(c, config, nullptr);
  engine.set_weights(trainer->snapshot());
  for (const engine::Request& r : requests) engine.submit(r);
  return drain(engine);
}

}  // namespace

// In the shim's run-ahead mode a kernel starts while the writes of the kernel before it are not yet visible, and
// runs until it waits for them.
TEST(kernels_that_begin_early_give_the_same_bits) {
  NEEDS_DEVICE;
  kernels::cuda::force_portable(false);
  const ModelConfig c = small_gpu_decoder(true);
  std::vector<engine::Request> requests{random_request(c, 0, 12, 4), random_request(c, 1, 12, 3)};
  requests[1].sampling.top_k = 5;
  const Rollouts one_after_the_other = generated(c, requests, false), ahead = generated(c, requests, true);
  EXPECT_EQ(ahead.size(), size_t(2));
  for (const auto& [who, rollout] : ahead) EXPECT_TRUE(same_rollout(rollout, one_after_the_other.at(who)));
}

#else
TEST(launches_of_a_decode_step) { SKIP("the shim only"); }
#endif

}  // namespace contract_launches_test
