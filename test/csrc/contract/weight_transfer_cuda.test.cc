// Transfer of weights from a trainer's GPU to the engines of other GPUs, which get the trainer's packed
// weights to the bit and need no other memory. Ranks are threads, and a stand-in replaces NCCL.
#include "trainer/weight_transfer.h"

#include <cstring>
#include <optional>

#include "core/device.h"
#include "engine/engine.h"
#include "sharded_gpus.h"

namespace contract_weight_transfer_cuda_test {

using namespace hone;
using namespace hone::test;
using model::WeightSnapshot;
using trainer::WeightReceiver;

namespace {

constexpr int64_t kBucket = 5000;  // in bytes; small enough for many buckets, of which the last is shorter

std::vector<std::byte> contents(const WeightSnapshot& weights) {
  std::vector<std::byte> out(size_t(weights.bytes()));
  const Device device(kCuda, nullptr);
  std::byte* to = out.data();
  for (const TensorView& block : weights.blocks()) {
    if (weights.memory() == Memory::kPinned) std::copy_n(block.as<std::byte>(), block.numel(), to);
    else download(device.stream(), to, block.data, block.numel());
    to += block.numel();
  }
  return out;
}

Rollouts rollouts_with(const ModelConfig& model, std::shared_ptr<const WeightSnapshot> weights) {
  engine::EngineConfig c;
  c.max_running = 2, c.step_tokens = 8, c.pages = 16, c.max_context = 64, c.run_seed = 11, c.device = kCuda;
  engine::Engine engine(model, c, nullptr);
  engine.set_weights(std::move(weights));
  engine::Request request;
  request.id = 1, request.prompt = {1, 2, 3, 4, 5}, request.max_tokens = 4;
  engine.submit(request);
  return drain(engine);
}

/// Rank 0 sends a trainer's weights after each of `versions` steps; `check` gets them, and what a receiver
/// committed.
void transfer(const TrainerConfig& config, int versions,
              const std::function<void(const WeightSnapshot& sent, std::shared_ptr<const WeightSnapshot> got)>& check) {
  const ModelConfig model = small();
  Trainer sender(model, config, nullptr);
  roughen_all(sender);
  std::vector<std::shared_ptr<const WeightSnapshot>> sent;
  for (int v = 0; v < versions; ++v) {
    sender.step(some_batch(model).view(), supervised());
    sent.push_back(sender.snapshot());
  }
  on_gpus(3, [&](dist::Communicator& group) {
    std::optional<WeightReceiver> receiver;
    if (group.rank() > 0) receiver.emplace(model, kCuda, DType::kF32, nullptr);
    for (const auto& weights : sent) {
      if (!receiver) {
        EXPECT_TRUE(trainer::send_weights(group, sender.stream(), *weights, kBucket).empty());
        continue;
      }
      EXPECT_EQ(receiver->receive(group), weights->version);
      check(*weights, receiver->commit());
    }
  });
}

}  // namespace

TEST(engines_of_other_gpus_get_the_trainers_packs_to_the_bit) {
  NEEDS_SHIM;
  TrainerConfig full, lora;
  full.device = lora.device = kCuda;
  full.packed_tokens = lora.packed_tokens = 14;
  lora.adapters.rank = 8, lora.adapters.alpha = 8.0f;
  lora.adapters.targets = {"q_proj", "v_proj", "down_proj"};
  for (const TrainerConfig& config : {full, lora}) {
    transfer(config, 2, [](const WeightSnapshot& sent, std::shared_ptr<const WeightSnapshot> got) {
      EXPECT_TRUE(got->version == sent.version && got->memory() == Memory::kPinned);
      EXPECT_TRUE(contents(*got) == contents(sent));
    });
  }
}

TEST(an_engine_samples_with_what_came_as_with_the_trainers_own) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const auto trainer = make_trainer(model, 3);
  const auto weights = trainer->snapshot();
  const Rollouts wanted = rollouts_with(model, weights);
  std::shared_ptr<const WeightSnapshot> got;
  on_gpus(2, [&](dist::Communicator& group) {
    if (group.rank() == 0) {
      trainer::send_weights(group, trainer->stream(), *weights, kBucket);
    } else {
      WeightReceiver receiver(model, kCuda, DType::kF32, nullptr);
      receiver.receive(group);
      got = receiver.commit();
    }
  });
  const Rollouts rollouts = rollouts_with(model, got);
  EXPECT_EQ(rollouts.size(), wanted.size());
  for (const auto& [who, rollout] : wanted) EXPECT_TRUE(same_rollout(rollout, rollouts.at(who)));
}

// A receiver has no f32 master weights, no trainer, and no second copy of the engine's weights.
TEST(a_receiver_has_a_bucket_in_device_memory_and_the_weights_once_in_the_hosts) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const auto trainer = make_trainer(model, 3);
  const auto weights = trainer->snapshot();
  std::vector<int64_t> device, host;
  on_gpus(2, [&](dist::Communicator& group) {
    std::optional<WeightReceiver> receiver;
    const int64_t tables = model::snapshot_bytes(trainer->stream(), model, DType::kBF16).rope_tables;
    const int64_t on_device = Arena::live_bytes(Memory::kDevice), on_host = Arena::live_bytes(Memory::kPinned);
    if (group.rank() == 1) receiver.emplace(model, kCuda, DType::kF32, nullptr);
    for (int i = 0; i < 3; ++i) {
      if (!receiver) {
        trainer::send_weights(group, trainer->stream(), *weights, kBucket);
        continue;
      }
      receiver->receive(group);
      receiver->commit();
      device.push_back(Arena::live_bytes(Memory::kDevice) - on_device - tables);
      host.push_back(Arena::live_bytes(Memory::kPinned) - on_host);
    }
  });
  EXPECT_TRUE(device == std::vector<int64_t>(3, Arena::rounded(kBucket)));
  EXPECT_TRUE(host == std::vector<int64_t>(3, weights->bytes()));
}

TEST(a_gpu_that_received_weights_sends_them_on) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const auto trainer = make_trainer(model, 3);
  const auto weights = trainer->snapshot();
  std::optional<WeightReceiver> peer;
  on_gpus(2, [&](dist::Communicator& group) {
    if (group.rank() == 0) {
      trainer::send_weights(group, trainer->stream(), *weights, kBucket);
    } else {
      peer.emplace(model, kCuda, DType::kF32, nullptr);
      peer->receive(group);
      peer->commit();
    }
  });
  on_gpus(2, [&](dist::Communicator& group) {
    if (group.rank() == 0) {
      peer->send(group);
    } else {
      WeightReceiver late(model, kCuda, DType::kF32, nullptr);
      late.receive(group);
      EXPECT_TRUE(contents(*late.commit()) == contents(*weights));
    }
  });
}

TEST(weights_in_the_hosts_memory_are_refused_by_a_receiver_on_a_gpu) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  model::Parameters parameters(model);
  const auto weights = WeightSnapshot::make(Stream{}, parameters, 1);
  on_gpus(2, [&](dist::Communicator& group) {
    if (group.rank() == 0) {
      EXPECT_TRUE(trainer::send_weights(group, {}, *weights) == std::vector<int>{1});
    } else {
      WeightReceiver receiver(model, kCuda, DType::kF32, nullptr);
      EXPECT_THROWS(receiver.receive(group), Code::kConfig);
    }
  });
}

}  // namespace contract_weight_transfer_cuda_test
