// Recorded bits of training and sampling, from AVX2 and AVX-512 on x86-64: every vector instruction set and
// every later kernel must reproduce them. If new bits are wanted, update the table below, and say in
// CHANGELOG.md that runs recorded earlier no longer replay.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../kernels/each_isa.h"
#include "architectures.h"
#include "cuda_trainer.h"
#include "rollouts.h"

namespace contract_recorded_bits_test {
namespace {

using namespace hone;
using kernels::Arithmetic;
using test::Batch;

/// FNV-1a hash of the values' bytes. All NaNs count as one value, because processors differ in NaN's sign.
class Digest {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    for (T value : values) {
      if (value != value) value = T(0x7fc0);
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &value, sizeof(T));
      for (const unsigned char byte : bytes) sum_ = (sum_ ^ byte) * 0x100000001b3u;
    }
  }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 0xcbf29ce484222325u;
};

/// Token ids that are the same in every run, whatever HONE_TEST_SEED is.
class Ids {
 public:
  explicit Ids(int64_t vocabulary) : vocabulary_(uint32_t(vocabulary)) {}
  std::vector<int32_t> some(int count) {
    std::vector<int32_t> out(static_cast<size_t>(count));
    for (int32_t& id : out) id = int32_t(((state_ = state_ * 1664525u + 1013904223u) >> 8) % vocabulary_);
    return out;
  }

 private:
  uint32_t vocabulary_, state_ = 1;
};

std::unique_ptr<trainer::Trainer> make(const model::ModelConfig& model, Arithmetic arithmetic) {
  trainer::TrainerConfig config;
  config.packed_tokens = 14;
  config.weight_storage = arithmetic == Arithmetic::kBF16 ? DType::kBF16 : DType::kF32, config.arithmetic = arithmetic;
  auto trainer = std::make_unique<trainer::Trainer>(model, config, nullptr);
  trainer->parameters().initialize(7);
  test::scale_head(trainer->parameters());
  trainer->parameters_changed();
  return trainer;
}

/// A hash of the log-probs, gradients and weights of two training steps.
uint64_t trained(const model::ModelConfig& model, Arithmetic arithmetic) {
  const auto trainer = make(model, arithmetic);
  Ids ids(model.vocabulary);
  Batch batch;
  for (const int length : {7, 11, 4, 13}) batch.add(ids.some(length), length / 3, length > 7 ? -0.5f : 1.0f);
  std::vector<float> entropies(batch.tokens.size());
  batch.behavior.assign(batch.tokens.size(), 0.0f);
  trainer->score(batch.view(), 1.0f, batch.behavior.data(), entropies.data());
  trainer::StepOptions o;
  o.lr = 1e-2f, o.clip_low = o.clip_high = 0.5f;
  Digest digest;
  digest.add(batch.behavior), digest.add(entropies);
  for (int s = 0; s < 2; ++s) {
    digest.add(trainer->step(batch.view(), o).logprobs);
    digest.add(test::values(trainer->gradients(), trainer->gradients().flat()));
  }
  digest.add(test::values(trainer->parameters(), trainer->parameters().flat()));
  return digest.value();
}

/// A hash of the tokens, log-probs and entropies of four attempts at three prompts.
uint64_t sampled(const model::ModelConfig& model) {
  const auto trainer = make(model, Arithmetic::kF32);
  engine::EngineConfig config;
  config.max_running = 5, config.step_tokens = 9, config.pages = 64, config.max_context = 64, config.run_seed = 3;
  engine::Engine engine(model, config, nullptr);
  engine.set_weights(trainer->snapshot());
  Ids ids(model.vocabulary);
  for (uint64_t id = 0; id < 3; ++id) {
    engine::Request request;
    request.id = id, request.problem = uint32_t(id * 7 + 3), request.count = 4, request.max_tokens = 20;
    request.prompt = ids.some(int(3 + 9 * id));
    engine.submit(request);
  }
  Digest digest;
  for (const auto& [who, rollout] : test::drain(engine)) {
    digest.add(rollout.tokens), digest.add(rollout.logprobs), digest.add(rollout.entropies);
  }
  return digest.value();
}

std::vector<std::pair<std::string, model::ModelConfig>> models() {
  auto all = test::architecture_configs();
  all.emplace_back("qwen3", test::small_decoder(true));
  all.emplace_back("qwen3_5", test::hybrid_config());
  all.emplace_back("lfm2", test::convolution_config());
  all.emplace_back("granite-4-h", test::mamba_config());
  all.emplace_back("granite-4-h with experts", test::mamba_config(true));
  all.emplace_back("falcon_h1", test::beside_config());
  all.emplace_back("nemotron_h", test::halves_config());
  all.emplace_back("nemotron_h with experts", test::halves_config(true));
  all.emplace_back("gemma4_text", test::two_sizes_config());
  return all;
}

struct Recorded {
  std::string name;
  uint64_t trained, trained_bf16, sampled;
};
const Recorded kRecorded[] = {
    {"phi3", 0xcaa1a89e5709a137, 0x60e1b7899ee09bd7, 0x2b011f1a3cc9db68},
    {"olmo2", 0x6806bb31a3e67452, 0xa0d900654d4b2773, 0x5fafbe4c99eb241a},
    {"smollm3", 0x57490e44d2131679, 0x9d8e80d0740517a6, 0x8f52d0cfd17a1011},
    {"granite", 0x46072bf56219b73f, 0x4432527c32d52e27, 0x94d13ace3134812b},
    {"gemma2", 0xccdd8850f4279dfe, 0x6ced7f0d6a263982, 0x230f98b939c28287},
    {"gemma3_text", 0x6a738aef8ee91e23, 0x907d42ad220fdf78, 0x299025d094fcef55},
    {"olmo3", 0x83abbd0fed3a1590, 0x05f319ad67494875, 0x56e42413b62294d5},
    {"glm4", 0x014585222970fcd4, 0x4aa874b76d9e0e7f, 0x1735ed64b5838b3d},
    {"exaone4", 0x47969b209dc9b194, 0x9e7c2c5188aff4d3, 0x31fedecfd29bd0b9},
    {"cohere", 0x7d65f729f7600c5e, 0x854eba6e32f8b0bb, 0x0ee6958a03991f66},
    {"cohere2", 0x55d15d84500d0a7e, 0x31cd2bdec0b01dcd, 0x0c971d667d7a02de},
    {"granitemoehybrid", 0x25eb12c02c4901a1, 0x69c9f4fe341bcb9b, 0x0036804951618ab3},
    {"qwen3_moe", 0x25cb99a0030b13d2, 0xd28e3e900fb84a13, 0xbff32a84bae49315},
    {"olmoe", 0xd0f91449cf1ccbd3, 0xf5c243b886f92b03, 0xc66b804b4a6b0ae3},
    {"mixtral", 0x3ca0554c6c6ba7ae, 0x8bc1246e49b6cde0, 0xfda6569073463bfd},
    {"glm4_moe", 0x3f271d1a1ad3bfca, 0x02b7804413fcde2a, 0x187438def3d18564},
    {"gpt_oss", 0x6179a7a8c1f40ff7, 0x9917bb865b3a4511, 0x5742486bebf3868a},
    {"qwen3", 0x58e10ef838956a9a, 0xca71682675a2325d, 0xf65606efa31cb4d0},
    {"qwen3_5", 0x5aba89016a7bbbf0, 0x7d1313ceaee452bc, 0xba6a2153890b0093},
    {"lfm2", 0xbee40ad8f85c5e73, 0x5b46e09db748aa18, 0x44038db3770107aa},
    {"granite-4-h", 0x1b21989a6e45dbfc, 0x84fd36abadacd8fe, 0x2db7488f4066a8ef},
    {"granite-4-h with experts", 0xb06f39d376237aa6, 0xeeef27bc6552be76, 0xfcebb676a85cc5a3},
    {"falcon_h1", 0x08264ad203416fd5, 0x2a36c73961e4782a, 0xb94144d81c9230e8},
    {"nemotron_h", 0x60ab5ce802f374f6, 0xee5a2fe47808de36, 0xf577a194c943a77c},
    {"nemotron_h with experts", 0xb709d7c3449a2040, 0x93be23194f8502c2, 0xefe40b820a17c879},
    {"gemma4_text", 0x7f87e1c6c442129c, 0xfd12fbc3e1979715, 0x0d5bef8764a26713},
};

void expect(const std::string& name, const char* what, uint64_t found, uint64_t wanted) {
  if (found == wanted) return;
  char text[200];
  std::snprintf(text, sizeof text, "%s: %s is 0x%016" PRIx64 ", recorded was 0x%016" PRIx64, name.c_str(), what, found, wanted);
  test::report(__FILE__, __LINE__, text);
}

}  // namespace

TEST(vector_sets_give_the_bits_that_were_recorded) {
  using kernels::cpu::Isa;
  const auto all = models();
  EXPECT_EQ(std::size(kRecorded), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [name, model] = all[i];
    const Recorded row = i < std::size(kRecorded) ? kRecorded[i] : Recorded{};
    EXPECT_EQ(row.name, name);
    test::on_sets({Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kNeon}, [&] {
      expect(name, "trained", trained(model, Arithmetic::kF32), row.trained);
      expect(name, "trained in bf16", trained(model, Arithmetic::kBF16), row.trained_bf16);
      expect(name, "sampled", sampled(model), row.sampled);
    });
  }
}

}  // namespace contract_recorded_bits_test
