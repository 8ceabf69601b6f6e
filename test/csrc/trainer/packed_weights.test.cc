// PackedWeights: packs compared with those of a new snapshot, and which readers may see them change.
#include "trainer/packed_weights.h"

#include <vector>

#include "check.h"
#include "kernels/matmul.h"
#include "model/network.h"
#include "model/reference.h"

namespace trainer_packed_weights_test {
namespace {

using namespace hone;
using model::WeightSnapshot;
using trainer::PackedWeights;

std::vector<std::byte> bytes(const kernels::PackedMatrix& m) {
  const auto* const first = static_cast<const std::byte*>(m.panels);
  return {first, first + kernels::packed_bytes(Stream{}, m.n, m.k, m.storage)};
}

bool same_packs(const WeightSnapshot& a, const WeightSnapshot& b) {
  return bytes(a.layers[0].qkv) == bytes(b.layers[0].qkv) && bytes(a.head) == bytes(b.head) &&
         test::same_bits(a.final_norm.as<float>(), b.final_norm.as<float>(), a.final_norm.numel());
}

struct Fixture {
  model::Parameters parameters{test::tiny_config()};
  PackedWeights weights{Stream{}, parameters, DType::kF32};
  Fixture() { test::roughen(parameters, 3); }
  void change() {
    for (const auto& spec : parameters.specs()) parameters.view(spec).as<float>()[0] += 1.0f;
  }
  bool current(const WeightSnapshot& s) const { return same_packs(s, *WeightSnapshot::make(Stream{}, parameters, 0)); }
};

TEST(a_snapshot_is_made_once_for_each_state_of_the_parameters) {
  Fixture f;
  const auto first = f.weights.snapshot();
  EXPECT_TRUE(f.current(*first));
  EXPECT_EQ(f.weights.snapshot().get(), first.get());
  f.change();
  f.weights.parameters_changed();
  const auto second = f.weights.snapshot();
  // a reader holds the first snapshot
  EXPECT_TRUE(second != first && f.current(*second) && !f.current(*first));
  EXPECT_EQ(second->rope_table(0).as<float>(), first->rope_table(0).as<float>());
}

TEST(memory_that_nobody_else_reads_is_used_again) {
  Fixture f;
  const WeightSnapshot* const place = f.weights.snapshot().get();
  f.change();
  f.weights.advance(nullptr, 1);
  EXPECT_EQ(f.weights.snapshot().get(), place);
  EXPECT_TRUE(f.current(*f.weights.snapshot()));
  EXPECT_EQ(f.weights.snapshot()->version, 1u);
}

TEST(a_version_travels_with_its_snapshot) {
  Fixture f;
  const auto first = f.weights.snapshot();
  f.weights.set_version(40);
  EXPECT_EQ(f.weights.version(), 40u);
  EXPECT_EQ(f.weights.snapshot()->version, 40u);
  EXPECT_EQ(first->version, 0u);
  f.weights.advance(nullptr, 1);
  EXPECT_EQ(f.weights.snapshot()->version, 41u);
}

TEST(packs_that_an_update_has_written_are_not_made_again) {
  Fixture f;
  f.weights.snapshot();
  f.change();
  const auto written = WeightSnapshot::make(Stream{}, f.parameters, 7);
  f.weights.advance(written, 1);
  EXPECT_EQ(f.weights.snapshot().get(), written.get());
  EXPECT_EQ(written->version, 1u);
}

struct AdaptedFixture {
  model::Parameters base{test::tiny_config()};
  model::Adapters adapters{base.config(), {2, 2.0f, {"q_proj"}, 1}, Stream{}};
  trainer::AdaptedWeights adapted{Stream{}, base, adapters};
  PackedWeights weights{Stream{}, base, DType::kF32, &adapted};
  AdaptedFixture() { test::roughen(base, 3); }
  void change_base() {
    test::roughen(base, 4);
    weights.parameters_changed();
  }
};

TEST(versions_of_adapters_share_what_lies_outside_of_layers_until_the_base_changes) {
  AdaptedFixture f;
  const auto first = f.weights.snapshot();
  const std::vector<std::byte> head = bytes(first->head), qkv = bytes(first->layers[0].qkv);
  for (const auto& spec : f.adapters.block().specs()) std::fill_n(f.adapters.block().view(spec).as<float>(), spec.numel(), 0.5f);
  f.weights.advance(nullptr, 1);
  const auto second = f.weights.snapshot();
  EXPECT_TRUE(second != first && second->head.panels == first->head.panels && second->embedding.data == first->embedding.data);
  EXPECT_TRUE(bytes(first->layers[0].qkv) == qkv && bytes(second->layers[0].qkv) != qkv && bytes(second->layers[0].o) == bytes(first->layers[0].o));
  f.change_base();
  const auto third = f.weights.snapshot();
  EXPECT_TRUE(third->head.panels != first->head.panels && bytes(first->head) == head && bytes(third->head) != head);
}

TEST(a_base_that_changes_is_not_written_into_what_a_reader_of_an_older_version_holds) {
  AdaptedFixture f;
  const auto held = f.weights.snapshot();
  const std::vector<std::byte> head = bytes(held->head);
  f.weights.advance(nullptr, 1);
  f.weights.snapshot();  // no reader holds this snapshot, and its head is the first one's
  f.change_base();
  f.weights.snapshot();
  EXPECT_TRUE(bytes(held->head) == head);
}

TEST(embedding_and_head_are_stored_as_the_base_is) {
  AdaptedFixture f;
  EXPECT_TRUE(f.weights.snapshot()->ends == DType::kF32 && f.weights.snapshot()->head.storage == DType::kF32);
  test::round_to_bf16(f.base);
  f.weights.parameters_changed();
  const auto narrow = f.weights.snapshot();
  const TensorView head = f.base.head();
  EXPECT_TRUE(narrow->ends == DType::kBF16 && narrow->head.storage == DType::kBF16 && narrow->embedding.dtype == DType::kBF16);
  EXPECT_TRUE(head.dtype == DType::kBF16 && narrow->embedding.as<uint16_t>()[5] == f.base.embedding().as<uint16_t>()[5]);
  const int64_t full = model::snapshot_bytes({}, f.base.config(), DType::kF32).ends;
  EXPECT_EQ(model::snapshot_bytes({}, f.base.config(), DType::kF32, false, DType::kBF16).ends, narrow->blocks()[1].numel());
  EXPECT_TRUE(narrow->blocks()[1].numel() < 0.6 * double(full));
  const kernels::PackedMatrix turned = model::transposed_head({}, *narrow, f.base);
  EXPECT_TRUE(turned.panels == head.data && turned.transposed && turned.storage == DType::kBF16 && turned.n == head.dim(1) && turned.k == head.dim(0));
  f.weights.advance(nullptr, 1);
  EXPECT_TRUE(f.weights.snapshot()->head.panels == narrow->head.panels);  // versions share them
  f.base.store_as(DType::kF32);
  f.change_base();
  EXPECT_TRUE(f.weights.snapshot()->ends == DType::kF32 && f.weights.snapshot()->embedding.dtype == DType::kF32);
}

}  // namespace
}  // namespace trainer_packed_weights_test
