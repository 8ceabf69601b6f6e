// Weights that receivers pass to engines, compared with the sender's snapshot to the bit; and versions that
// must not be passed on.
#include "trainer/weight_transfer.h"

#include <atomic>
#include <cstring>
#include <thread>

#include "check.h"
#include "dist/local_ranks.h"
#include "kernels/matmul.h"
#include "model/reference.h"

namespace trainer_weight_transfer_test {

using namespace hone;
using namespace hone::test;
using trainer::WeightReceiver;
using Kind = LocalFault::Kind;

namespace {

constexpr milliseconds kPatientTransfer{60'000};
constexpr auto kCpu = Stream::Backend::kCpu;
constexpr int64_t kSmall = 1000;  // bytes of a bucket
constexpr uint64_t kFirstBucket = 3;  // collectives before the first bucket: the header and the answers

std::vector<std::byte> bytes(const kernels::PackedMatrix& m) {
  const auto* const first = static_cast<const std::byte*>(m.panels);
  return {first, first + kernels::packed_bytes(Stream{}, m.n, m.k, m.storage)};
}

std::vector<float> floats(const TensorView& view) { return {view.as<float>(), view.as<float>() + view.numel()}; }

bool same(const model::WeightSnapshot& a, const model::WeightSnapshot& b) {
  bool equal = bytes(a.head) == bytes(b.head) && floats(a.embedding) == floats(b.embedding) &&
               floats(a.final_norm) == floats(b.final_norm) && a.layers.size() == b.layers.size();
  for (size_t i = 0; i < a.layers.size() && equal; ++i) {
    const model::PackedLayer &x = a.layers[i], &y = b.layers[i];
    equal = bytes(x.qkv) == bytes(y.qkv) && bytes(x.o) == bytes(y.o) && bytes(x.gate_up) == bytes(y.gate_up) &&
            bytes(x.down) == bytes(y.down) && floats(x.attn_norm) == floats(y.attn_norm);
  }
  return equal;
}

/// The weights of a version, equal in every test.
model::Parameters weights_of(uint32_t version) {
  model::Parameters parameters(test::tiny_config());
  test::roughen(parameters, 3 + version);
  return parameters;
}

std::shared_ptr<model::WeightSnapshot> snapshot_of(uint32_t version, DType storage = DType::kF32) {
  return model::WeightSnapshot::make(Stream{}, weights_of(version), version, storage);
}

std::vector<int> send_version(dist::Communicator& group, uint32_t version, int64_t bucket, DType storage = DType::kF32) {
  return trainer::send_weights(group, {}, *snapshot_of(version, storage), bucket);
}

bool is_version(const model::WeightSnapshot& snapshot, uint32_t version, DType storage = DType::kF32) {
  return snapshot.version == version && same(snapshot, *snapshot_of(version, storage));
}

/// Rank 0 of a group, which records where in memory the buckets lie that it sends.
class Watched final : public dist::Communicator {
 public:
  explicit Watched(dist::Communicator& group) : group_(group) {}
  std::vector<uint8_t*> buckets;

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void broadcast(const Stream& stream, const TensorView& buffer, int root) override {
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

std::vector<std::string> three(const std::function<void(dist::Communicator&, int)>& body, LocalFault fault = {}) {
  return local_ranks(3, kPatientTransfer, fault, body);
}

}  // namespace

TEST(receivers_have_the_senders_very_bits) {
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    for (const int64_t bucket : {kSmall, trainer::kBucketBytes}) {
      expect_all(three([&](dist::Communicator& group, int rank) {
        WeightReceiver receiver(test::tiny_config(), kCpu, storage, nullptr);
        for (uint32_t version : {4u, 5u}) {
          if (rank == 0) {
            EXPECT_TRUE(send_version(group, version, bucket, storage).empty());
          } else {
            EXPECT_EQ(receiver.receive(group), version);
            EXPECT_TRUE(is_version(*receiver.commit(), version, storage));
          }
        }
        group.close();
      }), "ok");
    }
  }
}

/// Weights of a version whose embedding and head are in bf16, as those of a frozen base may be.
std::shared_ptr<model::WeightSnapshot> narrow_ends(uint32_t version) {
  model::Parameters parameters = weights_of(version);
  const auto out = model::WeightSnapshot::empty({}, parameters.config(), DType::kF32, kernels::Arithmetic::kF32, Memory::kHost, DType::kBF16);
  out->repack({}, parameters, version);
  return out;
}

TEST(a_receiver_stores_embedding_and_head_as_the_sender_does) {
  expect_all(three([&](dist::Communicator& group, int rank) {
    WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
    for (const bool narrow : {true, false, true}) {
      if (rank == 0) {
        EXPECT_TRUE(trainer::send_weights(group, {}, narrow ? *narrow_ends(4) : *snapshot_of(4), kSmall).empty());
        continue;
      }
      receiver.receive(group);
      const auto received = receiver.commit();
      const auto sent = narrow ? narrow_ends(4) : snapshot_of(4);
      EXPECT_TRUE(received->ends == sent->ends && bytes(received->head) == bytes(sent->head));
      for (size_t i = 0; i < 2; ++i) {
        const TensorView got = received->blocks()[i], want = sent->blocks()[i];
        EXPECT_TRUE(got.numel() == want.numel());
      }
      EXPECT_TRUE(std::memcmp(received->embedding.data, sent->embedding.data, size_t(sent->embedding.numel() * dtype_bytes(sent->embedding.dtype))) == 0);
    }
    group.close();
  }), "ok");
}

TEST(what_an_engine_holds_does_not_change_while_the_next_version_comes) {
  expect_all(three([&](dist::Communicator& group, int rank) {
    WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
    std::shared_ptr<const model::WeightSnapshot> held;
    for (uint32_t version : {1u, 2u, 3u}) {
      if (rank == 0) send_version(group, version, kSmall);
      if (rank == 0) continue;
      receiver.receive(group);
      if (version == 2) continue;  // not committed
      const auto before = held;
      held = receiver.commit();
      if (before) EXPECT_TRUE(before != held && is_version(*before, 1));
    }
    if (rank > 0) EXPECT_TRUE(is_version(*held, 3));
  }), "ok");
}

// Rank 0 trains; rank 1 receives weights from it, and rank 2 receives them from rank 1 over a group of these
// two.
TEST(who_gets_weights_from_another_receiver_has_the_trainers_very_bits) {
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    auto first = local_communicators(2, kPatientTransfer), second = local_communicators(2, kPatientTransfer);
    WeightReceiver peer(test::tiny_config(), kCpu, storage, nullptr), late(test::tiny_config(), kCpu, storage, nullptr);
    const auto transfer = [](const std::function<void()>& send, const std::function<void()>& receive) {
      std::thread other(send);
      receive();
      other.join();
    };
    for (uint32_t version : {4u, 6u}) {
      transfer([&] { send_version(*first[0], version, kSmall, storage); }, [&] { peer.receive(*first[1]); });
      peer.commit();
      transfer([&] { EXPECT_EQ(peer.send(*second[0]), version); }, [&] { EXPECT_EQ(late.receive(*second[1]), version); });
      EXPECT_TRUE(is_version(*late.commit(), version, storage) && is_version(*peer.commit(), version, storage));
    }
    // and so on, even back to the first receiver
    transfer([&] { late.send(*first[0]); }, [&] { peer.receive(*first[1]); });
    EXPECT_TRUE(is_version(*peer.commit(), 6, storage));
  }
}

TEST(only_what_was_committed_whole_is_sent_on) {
  // ends an incorrect send, which has no receiver, by a time-out
  auto group = local_communicators(2, milliseconds(10'000));
  WeightReceiver peer(test::tiny_config(), kCpu, DType::kF32, nullptr), late(test::tiny_config(), kCpu, DType::kF32, nullptr);
  const auto get = [&](uint32_t version) {
    std::thread trainer([&] { send_version(*group[0], version, kSmall); });
    peer.receive(*group[1]);
    trainer.join();
  };
  EXPECT_THROWS(peer.send(*group[0]), Code::kState);
  for (const uint32_t version : {4u, 5u}) {
    get(version);
    // the new version is not committed, and the old one is gone
    EXPECT_THROWS(peer.send(*group[0]), Code::kState);
    peer.commit();
  }
  std::thread sender([&] { peer.send(*group[0]); });  // the refused calls sent nothing to the group
  EXPECT_EQ(late.receive(*group[1]), 5u);
  sender.join();
}

TEST(memory_of_a_peer_that_is_not_what_it_was_is_noticed_by_the_trainers_checksums) {
  auto first = local_communicators(2, kPatientTransfer), second = local_communicators(2, kPatientTransfer);
  WeightReceiver peer(test::tiny_config(), kCpu, DType::kF32, nullptr), late(test::tiny_config(), kCpu, DType::kF32, nullptr);
  std::thread trainer([&] { send_version(*first[0], 3, kSmall); });
  peer.receive(*first[1]);
  trainer.join();
  peer.commit();
  Watched watched(*second[0]);
  for (const std::string wanted : {"ok", "FORMAT receive: bucket 1 of the weights arrived damaged: its checksum is another."}) {
    std::thread sender([&] { peer.send(watched); });
    EXPECT_EQ(outcome([&] { late.receive(*second[1]); }), wanted);
    sender.join();
    watched.buckets.at(1)[3] += 1;
  }
  EXPECT_THROWS(late.commit(), Code::kState);
}

TEST(a_damaged_bucket_is_named_and_its_version_never_handed_out) {
  const LocalFault fault{Kind::kDamages, 2, kFirstBucket + 2};
  const auto said = three([&](dist::Communicator& group, int rank) {
    WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
    if (rank == 0) {
      EXPECT_TRUE(send_version(group, 1, kSmall) == std::vector<int>{2});
      EXPECT_TRUE(send_version(group, 1, kSmall).empty());  // sent again, it reaches all ranks
      return;
    }
    const std::string end = outcome([&] { receiver.receive(group); });
    EXPECT_EQ(end, std::string(rank == 1 ? "ok" : "FORMAT receive: bucket 1 of the weights arrived damaged: its checksum is another."));
    if (rank == 2) EXPECT_THROWS(receiver.commit(), Code::kState);
    EXPECT_EQ(receiver.receive(group), 1u);
    EXPECT_TRUE(is_version(*receiver.commit(), 1));
  }, fault);
  expect_all(said, "ok");
}

TEST(an_older_version_is_refused_and_nothing_of_it_is_sent) {
  expect_all(three([&](dist::Communicator& group, int rank) {
    WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
    for (uint32_t version : {7u, 6u, 7u, 8u}) {
      if (rank == 0) {
        EXPECT_TRUE(send_version(group, version, kSmall) ==
                    (version == 6 ? std::vector<int>({1, 2}) : std::vector<int>()));
        continue;
      }
      const std::string end = outcome([&] { receiver.receive(group); });
      EXPECT_EQ(end, std::string(version == 6 ? "STATE receive: version 6 comes after version 7 was committed." : "ok"));
      if (version == 6) EXPECT_THROWS(receiver.commit(), Code::kState);
      else EXPECT_TRUE(is_version(*receiver.commit(), version));
    }
  }), "ok");
}

TEST(weights_of_another_model_are_refused_and_the_group_goes_on) {
  model::ModelConfig other = test::tiny_config();
  other.mlp_width += 8;
  expect_all(three([&](dist::Communicator& group, int rank) {
    if (rank == 0) {
      EXPECT_TRUE(send_version(group, 1, kSmall) == std::vector<int>{2});
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

TEST(a_bucket_of_any_size_that_an_unknown_peer_announces_is_refused) {
  expect_all(local_ranks(2, kPatientTransfer, {}, [&](dist::Communicator& group, int rank) {
    WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
    for (const int64_t bucket : {int64_t(0), int64_t(-4), trainer::kBucketBytes + 1}) {
      if (rank == 0) EXPECT_TRUE(send_version(group, 1, bucket) == std::vector<int>{1});
      if (rank == 1) EXPECT_THROWS(receiver.receive(group), Code::kConfig);
    }
  }), "ok");
}

TEST(a_sender_that_dies_in_the_middle_leaves_the_version_before) {
  const auto transfer = uint64_t(2 * ((snapshot_of(1)->bytes() + kSmall - 1) / kSmall) + 3);
  for (const Kind kind : {Kind::kDies, Kind::kDiesHalfway}) {
    const auto said = three([&](dist::Communicator& group, int rank) {
      WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
      if (rank == 0) {
        for (uint32_t version : {1u, 2u}) send_version(group, version, kSmall);
        return;
      }
      receiver.receive(group);
      const auto held = receiver.commit();
      EXPECT_THROWS(receiver.receive(group), Code::kCollective);
      EXPECT_THROWS(receiver.commit(), Code::kState);
      EXPECT_TRUE(is_version(*held, 1));
    }, {kind, 0, transfer + kFirstBucket + 4});
    EXPECT_TRUE(has(said[0], "died, as it was told to") && said[1] == "ok" && said[2] == "ok");
  }
}

TEST(a_receiver_that_dies_is_told_to_the_sender) {
  const auto said = three([&](dist::Communicator& group, int rank) {
    WeightReceiver receiver(test::tiny_config(), kCpu, DType::kF32, nullptr);
    if (rank == 0) send_version(group, 1, kSmall);
    else receiver.receive(group);
  }, {Kind::kDiesHalfway, 2, kFirstBucket + 2});
  EXPECT_TRUE(has(said[0], "COLLECTIVE ") && has(said[0], "is gone"));
}

// A trainer that ran the collectives of both groups in one order would hang here: rank 0 broadcasts to the
// engine before it gathers from trainers, while the engine takes part only after another trainer has
// gathered.
TEST(collectives_of_two_groups_may_interleave) {
  for (const bool broadcast_first : {true, false}) {
    auto trainers = local_communicators(2, kPatientTransfer), engines = local_communicators(2, kPatientTransfer);
    std::atomic<bool> gathered{false};
    std::vector<float> weights(5000, 2.0f), arrived(5000), mine[2] = {{1.0f}, {2.0f}}, all[2] = {{0, 0}, {0, 0}};
    std::thread second([&] {
      trainers[1]->all_gather({}, view(mine[1]), view(all[1]));
      trainers[1]->wait({});
      gathered = true;
    });
    std::thread engine([&] {
      while (!gathered) std::this_thread::yield();
      engines[1]->broadcast({}, view(arrived), 0);
      engines[1]->wait({});
    });
    if (broadcast_first) engines[0]->broadcast({}, view(weights), 0);
    trainers[0]->all_gather({}, view(mine[0]), view(all[0]));
    if (!broadcast_first) engines[0]->broadcast({}, view(weights), 0);
    trainers[0]->wait({});
    engines[0]->wait({});
    second.join();
    engine.join();
    EXPECT_TRUE(arrived == weights && all[0] == std::vector<float>({1.0f, 2.0f}) && all[1] == all[0]);
  }
}

}  // namespace trainer_weight_transfer_test
