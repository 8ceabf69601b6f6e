// Packs against those that a snapshot makes at once, and who may see them change.
#include "trainer/packed_weights.h"

#include <vector>

#include "check.h"
#include "kernels/matmul.h"
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
  EXPECT_TRUE(second != first && f.current(*second) && !f.current(*first));  // a reader held the first
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

TEST(transposes_are_of_the_current_parameters) {
  Fixture f;
  const auto expected = [&] {
    Arena arena(model::transposed_bytes(Stream{}, f.parameters.config(), DType::kF32), "test");
    const auto all = model::transpose_weights(Stream{}, f.parameters, *f.weights.snapshot(), arena);
    return std::pair{bytes(all.layers[0].down), bytes(all.head)};
  };
  const auto got = [&] { return std::pair{bytes(f.weights.transposed().layers[0].down), bytes(f.weights.transposed().head)}; };
  const auto before = got();
  EXPECT_TRUE(before == expected());
  f.change();
  f.weights.advance(nullptr, 1);
  EXPECT_TRUE(got() == expected() && got() != before);
}

}  // namespace
}  // namespace trainer_packed_weights_test
