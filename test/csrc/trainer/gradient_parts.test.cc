// Gradients of a batch's parts: they sum to the step's gradient; each is that of its own sequences (compared
// with central differences of an f64 model, and with a trainer that gets only these sequences); inner
// products equal plain f64 sums; and a later step has the bits of a step without them.
#include "trainer/gradient_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "check.h"
#include "trainer/reference_loss.h"

namespace trainer_gradient_parts_test {
namespace {

using namespace hone;
using kernels::Correction;
using kernels::Objective;
using test::Batch;
using trainer::GradientParts;
using trainer::GradientProducts;
using trainer::StepOptions;
using trainer::StepReport;
using trainer::Trainer;
using trainer::TrainerConfig;

std::vector<float> values(const TensorView& flat) { return {flat.as<float>(), flat.as<float>() + flat.numel()}; }

double brute(const std::vector<float>& a, const std::vector<float>& b) {
  long double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (long double)a[i] * b[i];
  return double(sum);
}

double norm(const std::vector<float>& a) { return std::sqrt(brute(a, a)); }

/// Random gradients of `parts` parts, each of n elements.
std::vector<std::vector<float>> random_gradients(int64_t n, int32_t parts) {
  std::vector<std::vector<float>> out(static_cast<size_t>(parts), std::vector<float>(size_t(n)));
  for (auto& gradient : out) {
    for (float& x : gradient) x = float(test::random_int(-1000, 1000)) * 1e-3f;
  }
  return out;
}

std::vector<double> products_of(const std::vector<std::vector<float>>& gradients, ThreadPool* pool) {
  const int64_t n = int64_t(gradients[0].size());
  GradientProducts products(Stream{.pool = pool}, n, int32_t(gradients.size()));
  for (const auto& gradient : gradients) products.add(f32(const_cast<float*>(gradient.data()), {n}));
  return products.products();
}

TEST(products_are_those_of_a_plain_sum_on_any_number_of_threads) {
  for (const auto& [n, parts] : {std::pair<int64_t, int32_t>{1, 1}, {7, 3}, {8192 * 3 + 5, 4}, {(4 << 20) + 8192 + 3, 2}}) {
    const auto gradients = random_gradients(n, parts);
    const std::vector<double> got = products_of(gradients, nullptr);
    for (int32_t p = 0; p < parts; ++p) {
      for (int32_t q = 0; q < parts; ++q) {
        const auto &a = gradients[size_t(p)], &b = gradients[size_t(q)];
        // f64 sums of numbers up to 1
        EXPECT_NEAR(got[size_t(p * parts + q)], brute(a, b), 1e-13 * double(n));
        EXPECT_EQ(got[size_t(p * parts + q)], got[size_t(q * parts + p)]);
      }
    }
    ThreadPool pool(3);
    EXPECT_TRUE(products_of(gradients, &pool) == got);
  }
}

/// A batch with enough sequences that each part has every kind of sequence of add_logprobs' cycle.
Batch some_batch(int64_t vocabulary, int64_t sequences = 8) {
  Batch b;
  b.groups = 2;
  for (int64_t i = 0; i < sequences; ++i) {
    std::vector<int32_t> ids(size_t(test::random_int(4, 12)));
    for (int32_t& id : ids) id = int32_t(test::random_int(0, vocabulary - 1));
    b.add(ids, test::random_int(1, int64_t(ids.size()) - 2), i % 2 ? 0.7f : -1.1f, int32_t(sequences / 2));
  }
  return b;
}

std::vector<std::pair<const char*, StepOptions>> cases() {
  StepOptions gspo, grpo, dapo, dr, cispo, supervised, everything, tis, sequence;
  gspo.clip_low = gspo.clip_high = 0.02f;
  grpo = gspo;
  grpo.objective = Objective::kGrpo, grpo.clip_low = grpo.clip_high = 0.1f;
  dapo = dr = cispo = grpo;
  dapo.objective = Objective::kDapo, dr.objective = Objective::kDrGrpo, cispo.objective = Objective::kCispo;
  supervised.objective = Objective::kSupervised;
  everything = gspo;
  everything.kl_coef = 0.3f, everything.entropy_coef = 0.2f, everything.temperature = 0.7f;
  tis = sequence = grpo;
  tis.correction = Correction::kTis, tis.correction_high = 1.1f;
  sequence.correction = Correction::kGeometricMask, sequence.correction_low = 0.98f, sequence.correction_high = 1.06f;
  return {{"gspo", gspo}, {"grpo", grpo}, {"dapo", dapo}, {"dr-grpo", dr}, {"cispo", cispo}, {"supervised", supervised},
          {"gspo, kl, entropy, T 0.7", everything}, {"tis", tis}, {"geometric-mask", sequence}};
}

struct Fixture {
  model::ModelConfig config = test::tiny_config();
  Trainer trainer;
  Batch batch;
  explicit Fixture(const StepOptions& o, TrainerConfig options = narrow()) : trainer(config, options, nullptr) {
    test::roughen(trainer.parameters(), 5);
    trainer.parameters_changed();
    batch = some_batch(config.vocabulary);
    test::add_logprobs(batch, test::Reference(trainer.parameters()), double(o.temperature));
  }
  static TrainerConfig narrow() {
    TrainerConfig c;
    c.packed_tokens = 20;  // gives several micro-batches per part
    return c;
  }
  GradientParts parts(const StepOptions& o, const std::vector<int32_t>& part_of, int32_t n) {
    return trainer.gradient_parts(batch.view(), o, part_of.data(), n);
  }
  /// The gradient of one part, read from gradients() after making that part the last one.
  std::vector<float> gradient_of(const StepOptions& o, const std::vector<int32_t>& part_of, int32_t part) {
    std::vector<int32_t> last = part_of;
    for (int32_t& p : last) p = p == part;
    parts(o, last, 2);
    return values(trainer.gradients().flat());
  }
};

const std::vector<int32_t> kPartOf{0, 2, 0, 1, 2, 1, 2, 2};

/// A batch of the sequences of one part, normalized as in the whole batch.
Batch only(const Batch& all, int32_t part) {
  Batch out;
  out.groups = all.groups;
  for (int64_t i = 0; i < all.size(); ++i) {
    if (kPartOf[size_t(i)] != part) continue;
    const size_t from = size_t(all.cu_seqlens[size_t(i)]), to = size_t(all.cu_seqlens[size_t(i) + 1]);
    out.tokens.insert(out.tokens.end(), all.tokens.begin() + int64_t(from), all.tokens.begin() + int64_t(to));
    out.mask.insert(out.mask.end(), all.mask.begin() + int64_t(from), all.mask.begin() + int64_t(to));
    out.behavior.insert(out.behavior.end(), all.behavior.begin() + int64_t(from), all.behavior.begin() + int64_t(to));
    out.reference.insert(out.reference.end(), all.reference.begin() + int64_t(from), all.reference.begin() + int64_t(to));
    out.cu_seqlens.push_back(int32_t(out.tokens.size()));
    out.advantages.push_back(all.advantages[size_t(i)]);
    out.group_sizes.push_back(all.group_sizes[size_t(i)]);
  }
  return out;
}

/// Whether the loss is a mean over tokens instead of sequences, so that a batch of fewer tokens divides by
/// fewer.
bool per_token(Objective objective) {
  return objective == Objective::kDapo || objective == Objective::kCispo || objective == Objective::kSupervised;
}

TEST(parts_add_up_to_the_gradient_of_the_step_and_are_those_of_their_own_sequences) {
  for (const auto& [name, o] : cases()) {
    Fixture f(o);
    const GradientParts got = f.parts(o, kPartOf, 3);
    std::vector<std::vector<float>> gradients;
    for (int32_t p = 0; p < 3; ++p) gradients.push_back(f.gradient_of(o, kPartOf, p));
    for (size_t p = 0; p < 3; ++p) {
      for (size_t q = 0; q < 3; ++q) {
        const double size = norm(gradients[p]) * norm(gradients[q]);
        EXPECT_NEAR(got.products[3 * p + q], brute(gradients[p], gradients[q]), 1e-12 * size);
      }
      Trainer alone(f.config, TrainerConfig{}, nullptr);
      test::roughen(alone.parameters(), 5);
      alone.parameters_changed();
      const Batch own = only(f.batch, int32_t(p));
      trainer::TrainingBatch batch = own.view();
      batch.step.sequences = f.batch.size();
      alone.step(batch, o);
      std::vector<float> wanted = values(alone.gradients().flat());
      if (per_token(o.objective)) {
        for (float& x : wanted) x = float(double(x) * double(own.counted()) / double(f.batch.counted()));
      }
      const double size = norm(wanted);
      // the packing differs
      for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(gradients[p][i], wanted[i], 1e-5 * size);
      EXPECT_TRUE(size > 1e-4);
    }
    f.trainer.step(f.batch.view(), o);
    const std::vector<float> whole = values(f.trainer.gradients().flat());
    const double size = norm(whole);
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_NEAR(gradients[0][i] + gradients[1][i] + gradients[2][i], whole[i], 1e-5 * size);
    }
    const double total = std::accumulate(got.products.begin(), got.products.end(), 0.0);
    EXPECT_NEAR(total / (size * size), 1.0, 1e-5);
    EXPECT_EQ(got.non_finite_sequence, -1);
    EXPECT_TRUE(got.micro_batches >= 3);
  }
}

TEST(the_gradient_of_a_part_matches_central_differences_of_its_share_of_the_loss) {
  StepOptions o;
  o.clip_low = o.clip_high = 0.02f;
  Fixture f(o);
  test::Reference reference(f.trainer.parameters());
  for (int32_t part = 0; part < 3; ++part) {
    const std::vector<float> gradient = f.gradient_of(o, kPartOf, part);
    Batch share = f.batch;  // a sequence with advantage 0 adds nothing
    for (size_t i = 0; i < kPartOf.size(); ++i) share.advantages[i] *= kPartOf[i] == part ? 1.0f : 0.0f;
    const double scale = norm(gradient);
    for (const auto& spec : f.trainer.parameters().specs()) {
      for (int k = 0; k < 2; ++k) {
        const size_t i = size_t(test::random_int(0, spec.numel() - 1));
        double& x = reference.tensors.at(spec.name)[i];
        const double saved = x, h = 1e-5;
        x = saved + h;
        const double up = test::reference_loss(reference, share, o);
        x = saved - h;
        const double down = test::reference_loss(reference, share, o);
        x = saved;
        EXPECT_NEAR(gradient[size_t(spec.offset) + i], (up - down) / (2 * h), 1e-6 + 1e-4 * scale);
      }
    }
  }
}

TEST(a_custom_objective_is_asked_about_each_part_with_the_counts_of_the_whole_batch) {
  StepOptions o;
  o.objective = Objective::kCustom;
  int64_t asked = 0, tokens = 0;
  o.slopes = [&](const trainer::SlopesRequest& r) {
    asked += 1, tokens += r.tokens;
    for (int64_t i = 0; i < r.sequences; ++i) {
      for (int32_t t = r.starts[i]; t < r.starts[i + 1]; ++t) {
        r.slopes[t] = -double(r.advantages[i]) / double(r.step.counted_tokens);
        r.losses[i] += r.slopes[t] * double(r.logprobs[t]);
      }
    }
  };
  Fixture f(o);
  const GradientParts got = f.parts(o, kPartOf, 3);
  EXPECT_EQ(asked, got.micro_batches);
  EXPECT_EQ(tokens, f.batch.counted());
  const StepReport report = f.trainer.step(f.batch.view(), o);
  const double total = std::accumulate(got.products.begin(), got.products.end(), 0.0);
  EXPECT_NEAR(std::sqrt(total) / report.grad_norm, 1.0, 1e-5);
}

TEST(steps_after_it_have_the_bits_of_steps_without) {
  using Kind = trainer::OptimizerConfig::Kind;
  struct Switch {
    Kind kind;
    DType moments, storage;
    int64_t rank;
  };
  for (const Switch& s : {Switch{Kind::kAdamW, DType::kF32, DType::kF32, 0}, {Kind::kAdamW, DType::kBF16, DType::kBF16, 0},
                          {Kind::kMuon, DType::kF32, DType::kF32, 0}, {Kind::kAdamW, DType::kF32, DType::kF32, 4}}) {
    const auto run = [&](bool measured) {
      StepOptions o;
      o.entropy_coef = 0.01f, o.lr = 1e-2f, o.muon_lr = 1e-2f;
      TrainerConfig options = Fixture::narrow();
      options.optimizer.kind = s.kind, options.optimizer.moments = s.moments, options.weight_storage = s.storage;
      options.optimizer.gradient_clip = 0.1f;
      if (s.rank > 0) options.adapters = {s.rank, 8.0f, {"all-linear"}, 5};
      test::random().seed(77);
      Fixture f(o, options);
      std::vector<double> seen;
      for (int step = 0; step < 3; ++step) {
        if (measured) f.parts(o, kPartOf, 3);
        const StepReport r = f.trainer.step(f.batch.view(), o);
        seen.insert(seen.end(), {r.loss, r.grad_norm, r.update_norm, double(f.trainer.version())});
      }
      return std::make_pair(seen, values(f.trainer.trained().flat()));
    };
    EXPECT_TRUE(run(true) == run(false));
  }
}

TEST(a_part_without_sequences_has_no_gradient) {
  const StepOptions o;
  Fixture f(o);
  const GradientParts got = f.parts(o, {0, 0, 0, 0, 2, 2, 2, 2}, 3);
  EXPECT_TRUE(got.products[0] > 0 && got.products[8] > 0);
  for (const size_t i : {1u, 3u, 4u, 5u, 7u}) EXPECT_EQ(got.products[i], 0.0);
}

TEST(a_loss_that_is_not_finite_is_named_and_leaves_no_number) {
  const StepOptions o;
  Fixture f(o);
  f.batch.behavior[size_t(f.batch.cu_seqlens[4]) - 1] = std::numeric_limits<float>::quiet_NaN();
  const GradientParts got = f.parts(o, kPartOf, 3);
  EXPECT_EQ(got.non_finite_sequence, 3);
  for (const double x : got.products) EXPECT_TRUE(std::isnan(x));
  f.batch.behavior[size_t(f.batch.cu_seqlens[4]) - 1] = -3.0f;
  EXPECT_TRUE(std::isfinite(f.parts(o, kPartOf, 3).products[0]));
}

TEST(parts_that_are_not_there_are_refused) {
  const StepOptions o;
  Fixture f(o);
  EXPECT_THROWS(f.parts(o, kPartOf, 2), Code::kShape);
  EXPECT_THROWS(f.parts(o, {0, 0, 0, 0, 0, 0, 0, -1}, 2), Code::kShape);
  EXPECT_THROWS(f.parts(o, {0, 0, 0, 0, 0, 0, 0, 0}, 0), Code::kShape);
}

TEST(all_gradients_but_the_last_are_kept_and_a_gpu_brings_down_a_piece_at_a_time) {
  const Stream cpu, gpu{.backend = Stream::Backend::kCuda};
  EXPECT_EQ(trainer::gradient_products_bytes(cpu, 1000, 1), 0);
  EXPECT_EQ(trainer::gradient_products_bytes(cpu, 1000, 4), 3 * Arena::rounded(4000));
  EXPECT_EQ(trainer::gradient_products_bytes(gpu, int64_t(1) << 30, 4), (int64_t(3) << 32) + (16 << 20));
}

}  // namespace
}  // namespace trainer_gradient_parts_test
