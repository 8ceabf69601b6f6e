// Weights that receivers of adapters form, against the trainer's own to the bit; how often the base is sent; and faults.
#include "trainer/adapter_transfer.h"

#include <optional>
#include <thread>

#include "check.h"
#include "dist/local_ranks.h"
#include "kernels/matmul.h"
#include "kernels/rounding.h"
#include "model/reference.h"
#include "trainer/trainer.h"
#include "trainer/weight_transfer.h"

namespace trainer_adapter_transfer_test {

using namespace hone;
using namespace hone::test;
using model::WeightSnapshot;
using trainer::WeightReceiver;
using Kind = LocalFault::Kind;

namespace {

constexpr milliseconds kPatientTransfer{60'000};
constexpr auto kCpu = Stream::Backend::kCpu;
constexpr int64_t kSmall = 1000;      // bytes of a bucket
constexpr uint64_t kFirstBucket = 3;  // the announcement and the answers come before
const model::AdapterConfig kAdapters{2, 4.0f, {"q_proj", "down_proj", "q_proj"}, 1};

std::vector<std::byte> contents(const WeightSnapshot& weights) {
  std::vector<std::byte> out;
  for (const TensorView& block : weights.blocks()) out.insert(out.end(), block.as<std::byte>(), block.as<std::byte>() + block.numel());
  return out;
}

/// A trainer whose base is the seed's, rounded to bf16 if `rounded`.
struct Sender {
  trainer::Trainer trainer;

  explicit Sender(DType storage = DType::kF32, uint64_t seed = 3, bool rounded = false) : trainer(test::tiny_config(), config(storage), nullptr) {
    model::Parameters& base = trainer.parameters();
    test::roughen(base, seed);
    if (rounded) kernels::round_to_bf16(Stream{}, f32(base.flat().as<float>(), {1, base.flat().numel()}));
    trainer.parameters_changed();
  }

  static trainer::TrainerConfig config(DType storage) {
    trainer::TrainerConfig out;
    out.adapters = kAdapters, out.packed_tokens = 16, out.weight_storage = storage;
    return out;
  }

  /// content: adapters of their own for each.
  void become(uint32_t version, uint32_t content) {
    model::TensorBlock& block = trainer.trained();
    float x = 0.01f * float(content);
    for (const auto& spec : block.specs()) {
      for (int64_t i = 0; i < spec.numel(); ++i) block.view(spec).as<float>()[i] = x = -0.99f * x + 0.003f;
    }
    trainer.set_version(version + 1), trainer.set_version(version);  // its packs are to be made again
  }

  std::vector<int> send(dist::Communicator& group, uint32_t version, int64_t bucket = kSmall, uint32_t content = 0) {
    become(version, content ? content : version);
    return trainer::send_adapters(group, *trainer.adapter_source(bucket));
  }

  bool has(const WeightSnapshot& weights, uint32_t version, uint32_t content = 0) {
    become(version, content ? content : version);
    const auto own = trainer.snapshot();
    return weights.version == version && own->version == version && contents(weights) == contents(*own);
  }
};

std::vector<std::string> three(const std::function<void(dist::Communicator&, int)>& body, LocalFault fault = {}) {
  return local_ranks(3, kPatientTransfer, fault, body);
}

/// A sender and a receiver over a group of two: one thread each.
void transfer(const std::function<void()>& send, const std::function<void()>& receive) {
  std::thread other(send);
  receive();
  other.join();
}

/// Counts the bytes that are broadcast through it, and records where in memory the buckets lie.
class Counted final : public dist::Communicator {
 public:
  explicit Counted(dist::Communicator& group) : group_(group) {}
  int64_t bytes = 0;
  std::vector<uint8_t*> buckets;

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void broadcast(const Stream& stream, const TensorView& buffer, int root) override {
    bytes += buffer.numel() * dtype_bytes(buffer.dtype);
    if (buffer.dtype == DType::kU8 && buffer.numel() == kSmall) buckets.push_back(buffer.as<uint8_t>());
    group_.broadcast(stream, buffer, root);
  }
  void all_reduce(const Stream& s, const TensorView& buffer, dist::ReduceOp op) override { group_.all_reduce(s, buffer, op); }
  void reduce_scatter(const Stream& s, const TensorView& from, const TensorView& to, dist::ReduceOp op) override {
    group_.reduce_scatter(s, from, to, op);
  }
  void all_gather(const Stream& s, const TensorView& from, const TensorView& to) override { group_.all_gather(s, from, to); }
  void all_to_all(const Stream& s, const TensorView& from, const TensorView& to) override { group_.all_to_all(s, from, to); }
  void team_all_to_all(const Stream& s, const TensorView& from, const TensorView& to, int team) override {
    group_.team_all_to_all(s, from, to, team);
  }
  void wait(const Stream& stream) override { group_.wait(stream); }
  void close() override { group_.close(); }
  void abort(const std::string& reason) override { group_.abort(reason); }

 private:
  dist::Communicator& group_;
};

int64_t adapter_bytes() {
  return model::total_elements(model::adapter_specs(test::tiny_config(), kAdapters)) * 4;
}
int64_t base_elements() { return model::total_elements(model::tensor_specs(test::tiny_config())); }
/// Bytes of a transfer of `bytes` in one bucket: the announcement, and a checksum a bucket.
int64_t sent(std::initializer_list<int64_t> buckets) {
  int64_t all = sizeof(trainer::Announcement);
  for (const int64_t bytes : buckets) all += bytes + 4;
  return all;
}

}  // namespace

TEST(receivers_form_the_trainers_very_bits) {
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    for (const bool rounded : {false, true}) {
      for (const int64_t bucket : {kSmall, trainer::kBucketBytes}) {
        expect_all(three([&](dist::Communicator& group, int rank) {
          Sender sender(storage, 3, rounded);
          WeightReceiver receiver(test::tiny_config(), kCpu, storage, nullptr);
          for (const auto& [version, content] : std::vector<std::pair<uint32_t, uint32_t>>{{4, 1}, {5, 2}, {5, 3}}) {
            if (rank == 0) {
              EXPECT_TRUE(sender.send(group, version, bucket, content).empty());
            } else {
              EXPECT_EQ(receiver.receive(group), version);
              EXPECT_TRUE(sender.has(*receiver.commit(), version, content));
            }
          }
          group.close();
        }), "ok");
      }
    }
  }
}

// The weights are W + alpha / rank B A: two elements by hand, in f64.
TEST(formed_weights_are_the_base_and_the_product_of_the_adapters) {
  auto group = local_communicators(2, kPatientTransfer);
  Sender sender;
  WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
  transfer([&] { sender.send(*group[0], 1); }, [&] { receiver.receive(*group[1]); });
  const model::Parameters& base = sender.trainer.parameters();
  const model::TensorBlock& block = sender.trainer.trained();
  const std::string stem = "model.layers.1.self_attn.q_proj.";
  const float *a = block.view(stem + "lora_A.weight").as<float>(), *b = block.view(stem + "lora_B.weight").as<float>();
  const TensorView w = base.view(stem + "weight");
  const int64_t k = w.dim(1), row = 3, column = 5;
  const double wanted = double(w.row<float>(row)[column]) + 2.0 * (double(b[row * 2]) * a[column] + double(b[row * 2 + 1]) * a[k + column]);
  model::Parameters expected(test::tiny_config());
  std::copy_n(base.flat().as<float>(), base.flat().numel(), expected.flat().as<float>());
  const auto plain = WeightSnapshot::make(Stream{}, expected, 1);
  expected.view(stem + "weight").row<float>(row)[column] = float(wanted);
  const auto changed = WeightSnapshot::make(Stream{}, expected, 1);
  const auto got = receiver.commit();
  const auto floats = [](const WeightSnapshot& s) { return s.layers[1].qkv; };
  const kernels::PackedMatrix p = floats(*plain), c = floats(*changed), g = floats(*got);
  const int64_t n = kernels::packed_bytes(Stream{}, p.n, p.k, p.storage) / 4;
  int64_t seen = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float before = static_cast<const float*>(p.panels)[i], after = static_cast<const float*>(c.panels)[i];
    if (before == after) continue;
    EXPECT_NEAR(static_cast<const float*>(g.panels)[i], after, 1e-6);
    ++seen;
  }
  EXPECT_EQ(seen, 1);
}

TEST(the_base_is_sent_once_in_bf16_where_that_is_exact_and_again_when_it_changes) {
  auto pair = local_communicators(2, kPatientTransfer);
  Counted counted(*pair[0]);
  std::optional<Sender> sender(std::in_place, DType::kF32, 3, true);
  std::optional<WeightReceiver> receiver(std::in_place, test::tiny_config(), kCpu, DType::kF32, nullptr);
  const auto bytes = [&](uint32_t version, WeightReceiver& to) {
    counted.bytes = 0;
    transfer([&] { sender->send(counted, version, trainer::kBucketBytes); }, [&] { to.receive(*pair[1]); });
    EXPECT_TRUE(sender->has(*to.commit(), version));
    return counted.bytes;
  };
  EXPECT_EQ(bytes(1, *receiver), sent({2 * base_elements(), adapter_bytes()}));
  EXPECT_EQ(bytes(2, *receiver), sent({adapter_bytes()}));
  sender->trainer.parameters();  // only read
  EXPECT_EQ(bytes(3, *receiver), sent({adapter_bytes()}));
  WeightReceiver beside(test::tiny_config(), kCpu, DType::kF32, nullptr);  // of another engine of the process
  EXPECT_EQ(bytes(3, beside), sent({adapter_bytes()}));
  sender.emplace(DType::kF32, 8);
  EXPECT_EQ(bytes(4, *receiver), sent({4 * base_elements(), adapter_bytes()}));
  receiver.emplace(test::tiny_config(), kCpu, DType::kF32, nullptr);  // the only one with that base is gone
  EXPECT_EQ(bytes(4, *receiver), sent({4 * base_elements(), adapter_bytes()}));
}

TEST(what_an_engine_holds_does_not_change_while_the_next_version_comes) {
  auto group = local_communicators(2, kPatientTransfer);
  Sender sender;
  WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
  std::shared_ptr<const WeightSnapshot> held;
  for (uint32_t version : {1u, 2u, 3u}) {
    transfer([&] { sender.send(*group[0], version); }, [&] { receiver.receive(*group[1]); });
    if (version == 2) continue;  // not committed
    const auto before = held;
    held = receiver.commit();
    if (before) EXPECT_TRUE(before != held && sender.has(*before, 1));
  }
  EXPECT_TRUE(sender.has(*held, 3));
}

TEST(who_gets_adapters_from_another_receiver_forms_the_trainers_very_bits) {
  auto first = local_communicators(2, kPatientTransfer), second = local_communicators(2, kPatientTransfer);
  Sender sender(DType::kBF16);
  WeightReceiver peer(test::tiny_config(), kCpu, DType::kBF16, nullptr), late(test::tiny_config(), kCpu, DType::kBF16, nullptr);
  for (uint32_t version : {4u, 6u}) {
    transfer([&] { sender.send(*first[0], version); }, [&] { peer.receive(*first[1]); });
    EXPECT_THROWS(peer.send(*second[0]), Code::kState);  // not committed
    peer.commit();
    transfer([&] { EXPECT_EQ(peer.send(*second[0]), version); }, [&] { EXPECT_EQ(late.receive(*second[1]), version); });
    EXPECT_TRUE(sender.has(*late.commit(), version));
  }
}

TEST(memory_of_a_peer_that_is_not_what_it_was_is_noticed_by_the_trainers_checksums) {
  auto first = local_communicators(2, kPatientTransfer), second = local_communicators(2, kPatientTransfer);
  Sender sender;
  WeightReceiver peer(test::tiny_config(), kCpu, DType::kF32, nullptr), late(test::tiny_config(), kCpu, DType::kF32, nullptr);
  transfer([&] { sender.send(*first[0], 3); }, [&] { peer.receive(*first[1]); });
  peer.commit();
  Counted watched(*second[0]);
  for (const std::string wanted : {"ok", "FORMAT receive: bucket 0 of the adapters arrived damaged: its checksum is another."}) {
    transfer([&] { peer.send(watched); }, [&] { EXPECT_EQ(outcome([&] { late.receive(*second[1]); }), wanted); });
    watched.buckets.at(0)[3] += 1;
  }
  EXPECT_THROWS(late.commit(), Code::kState);
}

TEST(a_receiver_takes_whole_weights_after_adapters_and_adapters_again) {
  auto group = local_communicators(2, kPatientTransfer);
  Sender sender;
  WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
  for (uint32_t version : {1u, 2u, 3u}) {
    const auto packs = [&] {
      sender.become(version, version);
      trainer::send_weights(*group[0], {}, *sender.trainer.snapshot(), kSmall);
    };
    transfer([&] { version == 2 ? packs() : void(sender.send(*group[0], version)); }, [&] { receiver.receive(*group[1]); });
    EXPECT_TRUE(sender.has(*receiver.commit(), version));
  }
}

TEST(a_damaged_bucket_is_named_and_its_version_never_handed_out) {
  const uint64_t base_buckets = uint64_t((4 * base_elements() + kSmall - 1) / kSmall);
  const std::pair<uint64_t, std::string> faults[] = {
      {kFirstBucket + 2, "FORMAT receive: bucket 1 of the adapters' base arrived damaged: its checksum is another."},
      {kFirstBucket + 1, "FORMAT receive: bucket 0 of the adapters' base arrived damaged: its checksum is another."},
      {kFirstBucket + 2 * base_buckets + 2, "FORMAT receive: bucket 1 of the adapters arrived damaged: its checksum is another."}};
  for (const auto& [collective, wanted] : faults) {
    const auto said = three([&](dist::Communicator& group, int rank) {
      Sender sender;
      WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
      if (rank == 0) {
        EXPECT_TRUE(sender.send(group, 1) == std::vector<int>{2});
        EXPECT_TRUE(sender.send(group, 1).empty());  // sent again, it reaches all
        return;
      }
      const std::string end = outcome([&] { receiver.receive(group); });
      EXPECT_EQ(end, rank == 1 ? std::string("ok") : wanted);
      if (rank == 2) EXPECT_THROWS(receiver.commit(), Code::kState);
      EXPECT_EQ(receiver.receive(group), 1u);
      EXPECT_TRUE(sender.has(*receiver.commit(), 1));
    }, {Kind::kDamages, 2, collective});
    expect_all(said, "ok");
  }
}

TEST(a_sender_that_dies_in_the_middle_leaves_the_version_before) {
  for (const Kind kind : {Kind::kDies, Kind::kDiesHalfway}) {
    for (const uint64_t bucket : {0u, 1u}) {  // of the second transfer, which sends adapters alone in several buckets
      const uint64_t base_buckets = uint64_t((4 * base_elements() + kSmall - 1) / kSmall), own = uint64_t((adapter_bytes() + kSmall - 1) / kSmall);
      EXPECT_TRUE(own > 1);
      const uint64_t transfer = 2 * (base_buckets + own) + kFirstBucket;
      const auto said = three([&](dist::Communicator& group, int rank) {
        Sender sender;
        WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
        if (rank == 0) {
          for (uint32_t version : {1u, 2u}) sender.send(group, version);
          return;
        }
        receiver.receive(group);
        const auto held = receiver.commit();
        EXPECT_THROWS(receiver.receive(group), Code::kCollective);
        EXPECT_THROWS(receiver.commit(), Code::kState);
        EXPECT_TRUE(sender.has(*held, 1));
      }, {kind, 0, transfer + kFirstBucket - 1 + 2 * bucket});
      EXPECT_TRUE(has(said[0], "died, as it was told to") && said[1] == "ok" && said[2] == "ok");
    }
  }
}

TEST(half_a_base_is_sent_again_by_the_next_sender) {
  WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
  const auto body = [&](dist::Communicator& group, int rank) {
    Sender sender;
    if (rank == 0) return void(sender.send(group, 1));
    receiver.receive(group);
    EXPECT_TRUE(sender.has(*receiver.commit(), 1));
  };
  const auto said = local_ranks(2, kPatientTransfer, {Kind::kDiesHalfway, 0, kFirstBucket + 4}, body);
  EXPECT_TRUE(has(said[0], "died, as it was told to") && has(said[1], "COLLECTIVE"));
  expect_all(local_ranks(2, kPatientTransfer, {}, body), "ok");
}

TEST(adapters_of_another_model_are_refused_and_the_group_goes_on) {
  model::ModelConfig other = test::tiny_config();
  other.mlp_width += 8;
  expect_all(three([&](dist::Communicator& group, int rank) {
    if (rank == 0) {
      EXPECT_TRUE(Sender().send(group, 1) == std::vector<int>{2});
      return group.close();
    }
    WeightReceiver receiver(rank == 2 ? other : test::tiny_config(), kCpu, DType::kF32, nullptr);
    const std::string end = outcome([&] { receiver.receive(group); });
    EXPECT_EQ(end, std::string(rank == 2 ? "CONFIG receive: what rank 0 sends belongs to another model than this receiver's, or is packed otherwise."
                                         : "ABORTED receive: rank 2 refused version 1; nothing was sent."));
    EXPECT_THROWS(receiver.commit(), Code::kState);
    group.close();
  }), "ok");
}

TEST(an_announcement_that_no_model_can_take_is_refused) {
  trainer::AdapterReceiver receiver(Stream{}, test::tiny_config(), DType::kF32, kernels::Arithmetic::kF32);
  trainer::Announcement good;
  good.contents = trainer::Contents::kAdapters;
  good.bytes = adapter_bytes(), good.rank = 2, good.alpha = 4.0f;
  trainer::write_field("q_proj,down_proj", good.targets, sizeof(good.targets));
  trainer::write_field(trainer::transfer_plan(Stream{}, test::tiny_config(), DType::kF32, kernels::Arithmetic::kF32), good.plan, sizeof(good.plan));
  EXPECT_TRUE(receiver.fits(good));
  using Change = std::function<void(trainer::Announcement&)>;
  for (const Change& change : {Change([](auto& a) { a.rank = 4; }), Change([](auto& a) { a.rank = -1; }), Change([](auto& a) { a.bytes += 4; }),
                               Change([](auto& a) { a.targets[0] = 'x'; }), Change([](auto& a) { a.base_type = 77; }),
                               Change([](auto& a) { a.plan[0] ^= 1; }), Change([](auto& a) { a.magic[7] = '2'; })}) {
    trainer::Announcement other = good;
    change(other);
    EXPECT_TRUE(!receiver.fits(other));
  }
}

TEST(a_trainer_without_adapters_has_no_source) {
  trainer::TrainerConfig config = Sender::config(DType::kF32);
  config.adapters = {};
  trainer::Trainer whole(test::tiny_config(), config, nullptr);
  EXPECT_TRUE(!whole.adapter_source(kSmall));
}

}  // namespace trainer_adapter_transfer_test
