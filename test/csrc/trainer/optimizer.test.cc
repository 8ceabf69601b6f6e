// One update compared with AdamW in f64, and which tensors decay and Muon apply to. Faults put into the code:
// decay_all ignored, clip factor dropped, Muon given the AdamW rate, the update norm not of the difference,
// the GPU's kernel not given the factor. Each is detected.
#include "trainer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "check.h"
#include "core/thread_pool.h"
#include "device.h"
#include "model/reference.h"

namespace trainer_optimizer_test {
namespace {

using namespace hone;
using model::Parameters;
using trainer::Optimizer;
using trainer::OptimizerConfig;

struct Fixture {
  model::ModelConfig config;
  Parameters p, g;
  explicit Fixture(int64_t layers = 0) : config(test::switch_configs()[2].second), p(small(layers)), g(config) {
    test::roughen(p, 1);
    test::roughen(g, 2);
  }
  const model::ModelConfig& small(int64_t layers) {
    if (layers > 0) config.layers = layers;
    return config;
  }
};

/// One update with gradients multiplied by `scale`, which is passed as the clip of gradients whose norm is 1.
Optimizer::Applied apply(Optimizer& optimizer, Fixture& f, float lr, float muon_lr, double scale = 1.0) {
  double squares = (1.0 - 1e-6) * (1.0 - 1e-6);
  const TensorView total{&squares, DType::kF64, {1}};
  return optimizer.apply(Stream{}, f.p, f.g, total, {.lr = lr, .muon_lr = muon_lr, .clip = scale});
}

TEST(adamw_follows_the_formula_with_decay_groups_and_clip) {
  for (bool decay_all : {false, true}) {
    Fixture f;
    OptimizerConfig c;
    c.weight_decay = 0.3f;
    c.decay_all = decay_all;
    Optimizer optimizer(f.config, c);
    const test::Reference start(f.p), gradient(f.g);
    test::Reference m(optimizer.m()), v = m, p = start;
    const double lr = 0.01;
    for (int step = 1; step <= 3; ++step) {
      const double scale = 1.0 / (step * step);  // varies, since a constant scale cancels in Adam
      double change = 0.0, weight = 0.0;
      for (const auto& spec : f.p.specs()) {
        const double decay = decay_all || spec.shape.size() == 2 ? double(c.weight_decay) : 0.0;
        for (size_t i = 0; i < size_t(spec.numel()); ++i) {
          const double g = scale * gradient.tensors.at(spec.name)[i];
          double &x = p.tensors.at(spec.name)[i], &mi = m.tensors.at(spec.name)[i], &vi = v.tensors.at(spec.name)[i];
          const double before = x;
          mi = double(c.beta1) * mi + (1 - double(c.beta1)) * g;
          vi = double(c.beta2) * vi + (1 - double(c.beta2)) * g * g;
          x = x * (1 - lr * decay) - lr * (mi / (1 - std::pow(double(c.beta1), step))) /
                                         (std::sqrt(vi / (1 - std::pow(double(c.beta2), step))) + 1e-8);
          change += (x - before) * (x - before);
          weight += x * x;
        }
      }
      const Optimizer::Applied norms = apply(optimizer, f, float(lr), 0.0f, scale);
      EXPECT_NEAR(norms.scale, scale, 1e-7);
      EXPECT_NEAR(norms.update_norm / std::sqrt(change), 1.0, 1e-4);
      EXPECT_NEAR(norms.weight_norm / std::sqrt(weight), 1.0, 1e-6);
    }
    for (const auto& spec : f.p.specs())
      for (int64_t i = 0; i < spec.numel(); ++i)
        EXPECT_NEAR(f.p.view(spec).as<float>()[i], p.tensors.at(spec.name)[size_t(i)], 2e-6);
  }
}

TEST(muon_reaches_block_matrices_only) {
  Fixture f;
  OptimizerConfig c;
  c.kind = OptimizerConfig::Kind::kMuon;
  for (bool muon_rate : {false, true}) {
    Optimizer optimizer(f.config, c);
    const test::Reference before(f.p);
    apply(optimizer, f, muon_rate ? 0.0f : 0.01f, muon_rate ? 0.01f : 0.0f);
    for (const auto& spec : f.p.specs()) {
      bool moved = false;
      for (int64_t i = 0; i < spec.numel(); ++i)
        moved = moved || double(f.p.view(spec).as<float>()[i]) != before.tensors.at(spec.name)[size_t(i)];
      if (moved != (spec.matrix == muon_rate)) test::report(__FILE__, __LINE__, spec.name + " was treated by the wrong rule");
    }
  }
}

TEST(each_rule_decays_what_it_reaches_at_its_own_rate) {
  Fixture f;
  f.g.zero();
  OptimizerConfig c;
  c.kind = OptimizerConfig::Kind::kMuon;
  c.weight_decay = 0.5f;
  const test::Reference before(f.p);
  Optimizer optimizer(f.config, c);
  apply(optimizer, f, 0.1f, 0.2f);
  for (const auto& spec : f.p.specs()) {
    const double left = spec.matrix ? 1 - 0.2 * 0.5 : spec.shape.size() == 2 ? 1 - 0.1 * 0.5 : 1.0;
    for (int64_t i = 0; i < spec.numel(); ++i) {
      const double old = before.tensors.at(spec.name)[size_t(i)];
      EXPECT_NEAR(f.p.view(spec).as<float>()[i], left * old, 1e-6 * std::fabs(old));
    }
  }
}

TEST(a_muon_update_has_the_spectral_size_of_its_rule) {
  // Newton-Schulz brings all singular values near 1, so |update| is about lr sqrt(rank) sqrt(max(1, R/C)).
  Fixture f;
  OptimizerConfig c;
  c.kind = OptimizerConfig::Kind::kMuon;
  Optimizer optimizer(f.config, c);
  const test::Reference before(f.p);
  apply(optimizer, f, 0.0f, 1.0f, 0.1);
  for (const auto& spec : f.p.specs()) {
    if (!spec.matrix) continue;
    double square = 0.0;
    for (int64_t i = 0; i < spec.numel(); ++i) {
      const double d = double(f.p.view(spec).as<float>()[i]) - before.tensors.at(spec.name)[size_t(i)];
      square += d * d;
    }
    const double R = double(spec.shape[0]), C = double(spec.shape[1]);
    const double expected = std::sqrt(std::min(R, C) * std::max(1.0, R / C));
    // the polynomial leaves singular values in [0.7, 1.2]
    EXPECT_NEAR(std::sqrt(square) / expected, 0.95, 0.25);
  }
}

/// A copy of the whole block in host memory.
std::vector<float> values(const model::TensorBlock& p) {
  Arena staging(p.staging_bytes(p.flat()), "test");
  const float* const x = p.read(p.flat(), staging).as<float>();
  return {x, x + p.flat().numel()};
}

/// Equal parameters and gradients on the CPU and on a GPU, with an optimizer for each.
struct TwoSides {
  const Device device{Stream::Backend::kCuda, nullptr};
  const Stream& stream = device.stream();
  Fixture f{1};
  Parameters p{f.config, stream}, g{f.config, stream};
  Optimizer cpu, gpu;
  std::shared_ptr<model::WeightSnapshot> weights = model::WeightSnapshot::make(stream, p, 0);
  SharedArrays sums{stream, 64, "test"};
  const SharedArrays::Array<double> total = sums.take<double>(1);

  explicit TwoSides(const OptimizerConfig& c) : cpu(f.config, c), gpu(f.config, c, stream) {
    for (const auto& [to, from] : {std::pair{&p, &f.p}, std::pair{&g, &f.g}}) {
      const std::vector<float> all = values(*from);
      to->write(to->flat(), [&](const TensorView& host) { std::copy(all.begin(), all.end(), host.as<float>()); });
    }
  }
  Optimizer::Applied apply(double squares, double clip) {
    *total.host = squares;
    sums.upload(stream, 0, sums.used());
    return gpu.apply(stream, p, g, total.view(), {0.1f, 0.2f, clip}, weights->parts(p));
  }
  Optimizer::Applied apply_on_cpu(double squares, double clip) {
    return cpu.apply(Stream{}, f.p, f.g, {&squares, DType::kF64, {1}}, {0.1f, 0.2f, clip});
  }
  /// packs(): a snapshot's packed tensors. packed(): whether they equal what packing would give.
  std::vector<std::vector<std::byte>> packs(const model::WeightSnapshot& of) const {
    std::vector<std::vector<std::byte>> out;
    for (const model::WeightSnapshot::Part& part : of.parts(p)) {
      const TensorView flat = part.flat();
      out.emplace_back(size_t(flat.numel() * dtype_bytes(flat.dtype)));
      download(stream, out.back().data(), flat.data, int64_t(out.back().size()));
    }
    synchronize(stream);
    return out;
  }
  bool packed() const { return packs(*weights) == packs(*model::WeightSnapshot::make(stream, p, 0)); }
};

TEST(a_norm_that_is_not_finite_changes_nothing) {
  for (const auto kind : {OptimizerConfig::Kind::kAdamW, OptimizerConfig::Kind::kMuon}) {
    Fixture f;
    OptimizerConfig c;
    c.kind = kind;
    c.weight_decay = 0.3f;
    Optimizer optimizer(f.config, c);
    const std::vector<float> before = values(f.p);
    double squares = HUGE_VAL;
    const auto done = optimizer.apply(Stream{}, f.p, f.g, {&squares, DType::kF64, {1}}, {0.1f, 0.2f, 0.3});
    EXPECT_TRUE(std::isnan(done.scale) && done.update_norm == 0.0 && done.weight_norm > 0.0);
    EXPECT_EQ(optimizer.steps, 0);
    EXPECT_TRUE(values(f.p) == before && values(optimizer.m()) == std::vector<float>(before.size(), 0.0f));
  }
}

TEST(moments_in_bf16_are_adamws_alone) {
  const Fixture f;
  OptimizerConfig c;
  c.moments = DType::kBF16;
  EXPECT_TRUE(Optimizer(f.config, c).m().flat().dtype == DType::kBF16);
  c.kind = OptimizerConfig::Kind::kMuon;
  EXPECT_THROWS(Optimizer(f.config, c), Code::kConfig);
  c = {};
  c.moments = DType::kI32;
  EXPECT_THROWS(Optimizer(f.config, c), Code::kConfig);
}

TEST(moments_in_bf16_have_the_same_bits_for_any_number_of_threads) {
  OptimizerConfig c;
  c.moments = DType::kBF16;
  c.seed = 11;
  Fixture alone, many;
  Optimizer first(alone.config, c), second(many.config, c);
  ThreadPool pool(3);
  double squares = 1.0;
  for (int step = 0; step < 3; ++step) {
    first.apply(Stream{}, alone.p, alone.g, {&squares, DType::kF64, {1}}, {.lr = 0.1f});
    second.apply(Stream{.pool = &pool}, many.p, many.g, {&squares, DType::kF64, {1}}, {.lr = 0.1f});
  }
  EXPECT_TRUE(values(alone.p) == values(many.p));
  const size_t bytes = size_t(first.m().flat().numel()) * 2;
  EXPECT_EQ(std::memcmp(first.m().flat().data, second.m().flat().data, bytes), 0);
  EXPECT_EQ(std::memcmp(first.v().flat().data, second.v().flat().data, bytes), 0);
}

TEST(draws_are_numbered_through_all_tensors) {
  Fixture f, flat;
  OptimizerConfig c;
  c.moments = DType::kBF16;
  c.seed = 11;
  Optimizer optimizer(f.config, c);
  const int64_t n = f.p.flat().numel();
  std::vector<uint16_t> m(size_t(n), 0), v = m;
  for (int step = 1; step <= 2; ++step) {
    apply(optimizer, f, 0.1f, 0.0f);
    // one call for all tensors; the optimizer makes one for tensors with decay and one for the others
    kernels::adamw(Stream{}, {.param = flat.p.flat(), .m = {m.data(), DType::kBF16, {n}}, .v = {v.data(), DType::kBF16, {n}},
                              .grad = flat.g.flat(), .lr = 0.1f, .step = step, .seed = 11});
  }
  EXPECT_TRUE(values(f.p) == values(flat.p));
  EXPECT_EQ(std::memcmp(optimizer.m().flat().data, m.data(), m.size() * 2), 0);
  EXPECT_EQ(std::memcmp(optimizer.v().flat().data, v.data(), v.size() * 2), 0);
}

TEST(on_a_gpu_moments_in_bf16_are_the_cpus) {
  NEEDS_DEVICE;
  OptimizerConfig c;
  c.moments = DType::kBF16;
  c.seed = 11;
  TwoSides both(c);
  const double norm = std::sqrt(kernels::sum_of_squares(Stream{}, both.f.g.flat()));
  for (int step = 0; step < 3; ++step) {
    both.apply(norm * norm, norm / 4);
    both.apply_on_cpu(norm * norm, norm / 4);
  }
  EXPECT_TRUE(values(both.p) == values(both.f.p));  // a step depends on how earlier steps rounded
}

TEST(on_a_gpu_the_clip_factor_is_read_where_the_norm_is_and_nan_changes_nothing) {
  NEEDS_DEVICE;
  TwoSides both({});
  const double norm = std::sqrt(kernels::sum_of_squares(Stream{}, both.f.g.flat()));
  const auto done = both.apply(norm * norm, norm / 4);
  EXPECT_NEAR(done.scale, 0.25, 1e-6);
  const Optimizer::Applied norms = both.apply_on_cpu(norm * norm, norm / 4);
  EXPECT_EQ(done.scale, norms.scale);
  EXPECT_TRUE(values(both.gpu.m()) == values(both.cpu.m()));
  EXPECT_TRUE(values(both.p) == values(both.f.p));
  EXPECT_NEAR(done.update_norm, norms.update_norm, 1e-6 * norms.update_norm);
  EXPECT_NEAR(done.weight_norm, norms.weight_norm, 1e-6 * norms.weight_norm);
  EXPECT_TRUE(both.packed());
  EXPECT_TRUE(std::isnan(both.apply(std::nan(""), norm).scale));
  EXPECT_EQ(both.gpu.steps, 1);
  EXPECT_TRUE(values(both.gpu.m()) == values(both.cpu.m()) && values(both.p) == values(both.f.p));
  EXPECT_TRUE(both.packed());
}

std::vector<std::byte> bytes_of(const model::TensorBlock& block) {
  Arena staging(block.staging_bytes(block.flat()), "test");
  const TensorView host = block.read(block.flat(), staging);
  return {host.as<std::byte>(), host.as<std::byte>() + host.numel() * dtype_bytes(host.dtype)};
}

TEST(moments_that_visit_the_device_have_the_bits_of_those_that_stay_there) {
  NEEDS_DEVICE;
  for (const DType moments : {DType::kF32, DType::kBF16}) {
    for (const int64_t window : {208, 1 << 22}) {
      OptimizerConfig c;
      c.moments = moments, c.seed = 11, c.weight_decay = 0.3f, c.window = window;
      TwoSides stay(c);
      c.moments_on_host = true;
      TwoSides visit(c);
      EXPECT_TRUE(visit.packs(*visit.weights) == stay.packs(*stay.weights));
      const test::Deferred streams;
      const double norm = std::sqrt(kernels::sum_of_squares(Stream{}, stay.f.g.flat()));
      for (const double clip : {norm / 4, 0.0, std::nan(""), 2 * norm, norm / 9}) {
        const bool skipped = std::isnan(clip);
        const double squares = skipped ? clip : norm * norm, most = skipped ? 1.0 : clip;
        const Optimizer::Applied one = stay.apply(squares, most), other = visit.apply(squares, most);
        EXPECT_TRUE(skipped ? std::isnan(other.scale) : other.scale == one.scale);
        EXPECT_TRUE(one.update_norm == other.update_norm && one.weight_norm == other.weight_norm);
        if (!skipped) visit.apply_on_cpu(squares, most);
      }
      EXPECT_TRUE(values(visit.p) == values(visit.f.p));  // the CPU's optimizer has no windows
      EXPECT_TRUE(values(visit.p) == values(stay.p));
      EXPECT_EQ(visit.gpu.steps, 4);
      for (auto moment : {&Optimizer::m, &Optimizer::v}) {
        const std::vector<std::byte> here = bytes_of((visit.gpu.*moment)());
        EXPECT_TRUE(here == bytes_of((stay.gpu.*moment)()) && here == bytes_of((visit.cpu.*moment)()));
      }
      EXPECT_TRUE(visit.packed());
    }
  }
}

TEST(moments_on_the_host_are_adamws_alone_and_mean_nothing_on_the_cpu) {
  Fixture f, same;
  OptimizerConfig c;
  c.moments_on_host = true;
  Optimizer there(f.config, c), here(same.config, {});
  apply(there, f, 0.1f, 0.0f);
  apply(here, same, 0.1f, 0.0f);
  EXPECT_TRUE(values(f.p) == values(same.p));
  c.kind = OptimizerConfig::Kind::kMuon;
  EXPECT_THROWS(Optimizer(f.config, c), Code::kConfig);
  c = {};
  for (const int64_t window : {0, -16, 8, 24}) {
    c.window = window;
    EXPECT_THROWS(Optimizer(f.config, c), Code::kConfig);
  }
}

TEST(on_a_gpu_every_tensor_goes_to_its_own_packs_also_where_all_of_them_decay) {
  NEEDS_DEVICE;
  OptimizerConfig c;
  c.decay_all = true;
  TwoSides both(c);
  both.apply(1.0, 0.0);
  EXPECT_TRUE(both.packed());
}

TEST(muon_on_a_gpu_reaches_the_same_tensors_with_the_same_rates) {
  NEEDS_DEVICE;
  OptimizerConfig c;
  c.kind = OptimizerConfig::Kind::kMuon;
  c.weight_decay = 0.3f;
  TwoSides both(c);
  const std::vector<float> before = values(both.p);
  const double norm = std::sqrt(kernels::sum_of_squares(Stream{}, both.f.g.flat()));
  const auto done = both.apply(norm * norm, norm / 4);
  const Optimizer::Applied norms = both.apply_on_cpu(norm * norm, norm / 4);
  EXPECT_EQ(done.scale, norms.scale);
  EXPECT_TRUE(values(both.gpu.m()) == values(both.cpu.m()));
  EXPECT_TRUE(both.packed());
  const std::vector<float> got = values(both.p), wanted = values(both.f.p);
  for (const auto& spec : both.p.specs()) {
    double error = 0, update = 0;
    for (size_t i = size_t(spec.offset); i < size_t(spec.offset + spec.numel()); ++i) {
      error += std::pow(double(got[i]) - double(wanted[i]), 2);
      update += std::pow(double(wanted[i]) - double(before[i]), 2);
    }
    // Muon's bound is that of test/csrc/kernels/cuda/optimizer.test.cc; AdamW has the CPU's bits.
    if (!(std::sqrt(error) <= (spec.matrix ? 0.06 : 0.0) * std::sqrt(update))) test::report(__FILE__, __LINE__, spec.name);
  }
  EXPECT_NEAR(done.update_norm, norms.update_norm, 0.06 * norms.update_norm);
}

TEST(alignment_gaps_stay_zero) {
  Fixture f;
  Optimizer optimizer(f.config, {});
  apply(optimizer, f, 0.1f, 0.1f);
  std::vector<bool> named(size_t(f.p.flat().numel()));
  for (const auto& spec : f.p.specs())
    for (int64_t i = 0; i < spec.numel(); ++i) named[size_t(spec.offset + i)] = true;
  for (size_t i = 0; i < named.size(); ++i)
    if (!named[i]) EXPECT_EQ(f.p.flat().as<float>()[i], 0.0f);
}

TEST(what_would_divide_by_zero_is_refused) {
  const auto refused = [](auto change) {
    OptimizerConfig config;
    change(config);
    EXPECT_THROWS(trainer::check_optimizer(config), Code::kConfig);
  };
  trainer::check_optimizer({});
  refused([](auto& c) { c.beta1 = 1.0f; });
  refused([](auto& c) { c.beta2 = 1.0f; });
  refused([](auto& c) { c.muon_momentum = 1.0f; });
  refused([](auto& c) { c.eps = 0.0f; });
  refused([](auto& c) { c.weight_decay = -0.1f; });
  refused([](auto& c) { c.gradient_clip = std::nanf(""); });
}

}  // namespace
}  // namespace trainer_optimizer_test
