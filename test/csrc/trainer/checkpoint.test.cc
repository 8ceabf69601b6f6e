// Saving checkpoints and resuming to the bit; everything that can be wrong with a folder; a disk that becomes
// full. Faults put into the code: optimizer steps not restored, m saved for v, files not verified, the
// manifest's own hash not verified, the unfinished folder kept after an error. Each is detected.
#include "trainer/checkpoint.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <sys/resource.h>

#include "check.h"
#include "core/device.h"
#include "model/goldens.h"
#include "model/hf_loader.h"
#include "trainer/reference_loss.h"

namespace trainer_checkpoint_test {
namespace {

using namespace hone;
namespace fs = std::filesystem;
using test::TemporaryFolder;
using trainer::CheckpointState;
using trainer::Optimizer;
using trainer::OptimizerConfig;
using trainer::Trainer;
using trainer::TrainerConfig;

TrainerConfig options_of(OptimizerConfig::Kind kind) {
  TrainerConfig options;
  options.optimizer.kind = kind;
  return options;
}

test::Batch small_batch(const model::ModelConfig& config) {
  test::Batch batch;
  std::mt19937_64 random(4);
  for (int i = 0; i < 4; ++i) {
    std::vector<int32_t> ids;
    for (int t = 0; t < 9; ++t) ids.push_back(int32_t(random() % uint64_t(config.vocabulary)));
    batch.add(ids, 2, 1.0f);
  }
  return batch;
}

void train(Trainer& trainer, int steps) {
  const test::Batch batch = small_batch(trainer.parameters().config());
  trainer::StepOptions o;
  o.objective = kernels::Objective::kSupervised;
  o.lr = 1e-2f;
  o.muon_lr = 1e-2f;
  for (int s = 0; s < steps; ++s) trainer.step(batch.view(), o);
}

std::vector<float> copy(Trainer& trainer) {
  const TensorView flat = trainer.parameters().flat();
  return {flat.as<float>(), flat.as<float>() + flat.numel()};
}

TEST(a_resumed_run_continues_to_the_bit) {
  for (auto kind : {OptimizerConfig::Kind::kAdamW, OptimizerConfig::Kind::kMuon}) {
    for (const auto& [name, config] : test::switch_configs()) {
      const TemporaryFolder folder("resume");
      Trainer a(config, options_of(kind), nullptr), b(config, options_of(kind), nullptr);
      a.parameters().initialize(1);
      a.parameters_changed();
      train(a, 3);
      a.set_version(17);
      a.save(folder / "run/step3", "{\"sampler\": [1, 2]}");
      EXPECT_EQ(b.load(folder / "run/step3/"), std::string("{\"sampler\": [1, 2]}"));
      EXPECT_EQ(b.version(), 17u);
      EXPECT_TRUE(copy(a) == copy(b));
      train(a, 3);
      train(b, 3);
      EXPECT_EQ(b.version(), 20u);
      EXPECT_TRUE(copy(a) == copy(b));
    }
  }
}

TrainerConfig rounded_moments(uint64_t seed) {
  TrainerConfig options;
  options.optimizer.moments = DType::kBF16;
  options.optimizer.seed = seed;
  return options;
}

int64_t bytes_of(const std::string& file) { return int64_t(fs::file_size(file)); }

TEST(moments_in_bf16_resume_to_the_bit_and_take_half) {
  const TemporaryFolder folder("rounded");
  const model::ModelConfig config = test::tiny_config();
  Trainer a(config, rounded_moments(5), nullptr), b(config, rounded_moments(5), nullptr), c(config, rounded_moments(6), nullptr);
  Trainer exact(config, {}, nullptr);
  for (Trainer* t : {&a, &c, &exact}) {
    t->parameters().initialize(1);
    t->parameters_changed();
    train(*t, 3);
  }
  EXPECT_TRUE(copy(a) != copy(c));      // stochastic rounding depends on the seed
  EXPECT_TRUE(copy(a) != copy(exact));  // stochastic rounding changes the weights
  a.save(folder / "a", "");
  exact.save(folder / "exact", "");
  b.load(folder / "a");
  train(a, 3);
  train(b, 3);
  EXPECT_TRUE(copy(a) == copy(b));
  const int64_t halved = bytes_of(folder / "a/optimizer.safetensors"), whole = bytes_of(folder / "exact/optimizer.safetensors");
  EXPECT_NEAR(double(whole - halved), double(2 * 2 * a.parameters().flat().numel()), 2000.0);
}

TEST(moments_of_another_type_are_refused_before_anything_is_overwritten) {
  const TemporaryFolder folder("types");
  const model::ModelConfig config = test::tiny_config();
  Trainer rounded(config, rounded_moments(5), nullptr), exact(config, {}, nullptr);
  rounded.save(folder / "rounded", "");
  exact.parameters().initialize(1);
  exact.save(folder / "exact", "");
  const std::vector<float> before = copy(rounded);
  EXPECT_THROWS(rounded.load(folder / "exact"), Code::kConfig);
  EXPECT_THROWS(exact.load(folder / "rounded"), Code::kConfig);
  EXPECT_TRUE(copy(rounded) == before);
}

TEST(the_folder_is_a_model_that_others_can_load) {
  const TemporaryFolder folder("hf");
  model::ModelConfig config = test::switch_configs()[2].second;  // a model with tied head and biases
  Trainer trainer(config, {}, nullptr);
  trainer.parameters().initialize(8);
  trainer.save(folder / "x", "");
  model::Parameters loaded(model::load_hf_config(folder / "x"));
  const model::LoadReport report = model::load_hf_weights(folder / "x", loaded);
  EXPECT_EQ(report.loaded, int64_t(loaded.specs().size()));
  EXPECT_EQ(report.skipped, 0);
  EXPECT_TRUE(test::same_bits(loaded.flat().as<float>(), trainer.parameters().flat().as<float>(), loaded.flat().numel()));
}

/// Parameters and moments with different values, saved in shards of at most 4,000 bytes.
struct Sharded {
  model::ModelConfig config = test::tiny_config();
  model::Parameters parameters{config};
  Optimizer optimizer{config, {}};
  TemporaryFolder folder{"sharded"};
  Sharded() {
    parameters.initialize(1);
    const model::Parameters m = drawn(2), v = drawn(3);
    copy_rows(Stream{}, m.flat(), optimizer.m().flat());
    copy_rows(Stream{}, v.flat(), optimizer.v().flat());
    optimizer.steps = 5;
    save();
  }
  model::Parameters drawn(uint64_t seed) const {
    model::Parameters out(config);
    out.initialize(seed);
    return out;
  }
  void save() {
    write_checkpoint(folder / "c", {7, optimizer.steps, OptimizerConfig::Kind::kAdamW, "extra \"quoted\""}, parameters, optimizer, 4000);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder / "c")) out.push_back(entry.path().string());
    std::sort(out.begin(), out.end());
    return out;
  }
  /// Reads into new objects; if that throws, they must be unchanged.
  CheckpointState read() {
    model::Parameters p(config);
    Optimizer o(config, {});
    try {
      CheckpointState state = read_checkpoint(folder / "c", p, o);
      EXPECT_TRUE(test::same_bits(p.flat().as<float>(), parameters.flat().as<float>(), p.flat().numel()));
      EXPECT_TRUE(test::same_bits(o.m().flat().as<float>(), optimizer.m().flat().as<float>(), p.flat().numel()));
      EXPECT_TRUE(test::same_bits(o.v().flat().as<float>(), optimizer.v().flat().as<float>(), p.flat().numel()));
      EXPECT_EQ(o.steps, optimizer.steps);
      return state;
    } catch (const Error&) {
      for (int64_t i = 0; i < p.flat().numel(); ++i) EXPECT_EQ(p.flat().as<float>()[i], 0.0f);
      EXPECT_EQ(o.steps, 0);
      throw;
    }
  }
};

TEST(shards_hold_everything_once) {
  Sharded s;
  EXPECT_TRUE(s.files().size() > 8);
  const CheckpointState state = s.read();
  EXPECT_EQ(state.version, 7u);
  EXPECT_EQ(state.extra, std::string("extra \"quoted\""));
  EXPECT_EQ(s.folder.count(), size_t(1));  // no unfinished folder is left next to it
  model::Parameters loaded(model::load_hf_config(s.folder / "c"));
  EXPECT_TRUE(model::load_hf_weights(s.folder / "c", loaded).files > 2);
}

TEST(saving_again_replaces_the_folder) {
  Sharded s;
  s.parameters.initialize(99);
  s.optimizer.steps = 6;
  s.save();
  s.read();
  EXPECT_EQ(s.folder.count(), size_t(1));
}

TEST(a_missing_truncated_or_altered_file_is_named) {
  const Sharded intact;
  for (size_t i = 0; i < intact.files().size(); ++i) {
    const std::string name = fs::path(intact.files()[i]).filename().string();
    const auto expect_named = [&](Sharded& s, const char* what) {
      std::string message;
      try {
        s.read();
      } catch (const Error& e) {
        message = e.what();
        EXPECT_TRUE(e.code() == Code::kFormat);
      }
      const bool said = name == "manifest.json" || message.find(what) != std::string::npos;
      if (message.find(name) == std::string::npos || !said) test::report(__FILE__, __LINE__, name + " " + what + ": \"" + message + "\"");
    };
    Sharded missing, truncated, altered;
    fs::remove(missing.files()[i]);
    expect_named(missing, "missing");
    fs::resize_file(truncated.files()[i], fs::file_size(truncated.files()[i]) - 1);
    expect_named(truncated, "truncated");
    std::string text = model::read_text(altered.files()[i]);
    text[text.size() / 2] = char(text[text.size() / 2] ^ 1);
    {
      model::DurableFile file(altered.files()[i]);
      file.write(text);
      file.commit();
    }
    expect_named(altered, "altered");
  }
}

/// Replaces the tensors in a checkpoint's file, and updates the hash in the manifest.
void forge(const std::string& folder, const std::string& name, const std::vector<model::SafetensorsFile::Entry>& entries) {
  const std::string hash = model::write_safetensors(folder + "/" + name, entries), path = folder + "/manifest.json";
  Json manifest = Json::parse(model::read_text(path), "manifest"), body = *manifest.find("body"), files = Json::array();
  for (Json file : body.find("files")->items("files")) {
    if (file.find("name")->as_string("name") == name) {
      file.set("sha256", Json::string(hash));
      file.set("bytes", Json::integer(int64_t(fs::file_size(folder + "/" + name))));
    }
    files.push(std::move(file));
  }
  body.set("files", std::move(files));
  manifest.set("sha256", Json::string(model::sha256_hex(body.dump())));
  manifest.set("body", std::move(body));
  model::DurableFile out(path);
  out.write(manifest.dump());
  out.commit();
}

TEST(tensors_that_do_not_fit_are_found_before_anything_is_overwritten) {
  Sharded s;
  // the last file of the optimizer's v
  const std::string last = fs::path(s.files()[s.files().size() - 2]).filename().string();
  const model::SafetensorsFile source(s.folder / ("c/" + last));
  const auto read_with = [&](const std::function<void(model::SafetensorsFile::Entry&)>& change) {
    std::vector<model::SafetensorsFile::Entry> entries = source.entries();
    change(entries.back());
    forge(s.folder / "c", last, entries);
    s.read();
  };
  read_with([](auto&) {});
  EXPECT_THROWS(read_with([](auto& entry) { entry.name = "v.another"; }), Code::kFormat);
  EXPECT_THROWS(read_with([](auto& entry) { entry.dtype = DType::kI32; }), Code::kFormat);
  EXPECT_THROWS(read_with([](auto& entry) { entry.shape.push_back(1); }), Code::kFormat);
}

TEST(another_model_or_optimizer_is_refused) {
  const TemporaryFolder folder("other");
  model::ModelConfig config = test::tiny_config();
  Trainer saved(config, {}, nullptr);
  saved.save(folder / "c", "");
  config.norm_eps *= 2;
  Trainer other(config, {}, nullptr);
  EXPECT_THROWS(other.load(folder / "c"), Code::kConfig);
  Trainer muon(test::tiny_config(), options_of(OptimizerConfig::Kind::kMuon), nullptr);
  EXPECT_THROWS(muon.load(folder / "c"), Code::kConfig);
  EXPECT_THROWS(muon.load(folder / "absent"), Code::kFormat);
  EXPECT_THROWS(saved.save("/dev/null/c", ""), Code::kIo);
}

TEST(a_disk_that_fills_up_leaves_the_old_checkpoint) {
  Sharded s;
  const auto before = s.files();
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  s.parameters.initialize(50);
  for (rlim_t bytes : {rlim_t(0), rlim_t(100), rlim_t(3000)}) {
    const rlimit full{bytes, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    EXPECT_THROWS(s.save(), Code::kIo);
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_EQ(s.folder.count(), size_t(1));
    EXPECT_TRUE(s.files() == before);
  }
  s.parameters.initialize(1);
  s.read();
}

}  // namespace
}  // namespace trainer_checkpoint_test
