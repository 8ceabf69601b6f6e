// Checkpoints that four ranks save are read by any number of ranks and by a single trainer, and the other way
// round; damaged folders; a process that is killed between any two collectives of a save. Mutation tests:
// test/mutants/csrc-trainer.json.
#include "trainer/checkpoint_shards.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "model/durable_file.h"
#include "model/goldens.h"
#include "model/hf_loader.h"
#include "trainer/reference_loss.h"
#include "trainer/on_ranks.h"

namespace trainer_checkpoint_shards_test {
namespace {

using namespace hone;
using test::has;
namespace fs = std::filesystem;
using test::TemporaryFolder;
using trainer::Sharding;
using trainer::Trainer;
using trainer::TrainerConfig;

model::ModelConfig model_config() {
  model::ModelConfig c = test::switch_configs()[2].second;
  c.vocabulary = 1200;
  return c;
}

TrainerConfig config_of(bool sharded, DType moments = DType::kF32) {
  TrainerConfig config;
  config.packed_tokens = 24;
  config.optimizer.moments = moments;
  config.optimizer.seed = 3;
  if (sharded) config.sharding = {Sharding::Stage::kOptimizer, true};
  return config;
}

void train(Trainer& trainer, int first, int last) {
  for (int s = first; s < last; ++s) {
    std::mt19937_64 random(static_cast<uint64_t>(s));
    test::Batch batch;
    for (int i = 0; i < 6; ++i) {
      std::vector<int32_t> ids(4 + random() % 12);
      for (int32_t& id : ids) id = int32_t(random() % 1200);
      batch.add(ids, 2, 1.0f);
    }
    trainer::StepOptions o;
    o.objective = kernels::Objective::kSupervised;
    o.lr = o.muon_lr = 1e-2f;
    trainer.step(batch.view(), o);
  }
}

std::vector<float> weights_of(Trainer& trainer) {
  const TensorView flat = trainer.trained().flat();
  return {flat.as<float>(), flat.as<float>() + flat.numel()};
}

using Body = std::function<void(Trainer&, int rank)>;

/// Runs `body` on `size` ranks or, if `size` is 0, with one unsharded trainer.
std::vector<std::string> with_trainers(int size, const TrainerConfig& config, const Body& body) {
  if (size == 0) {
    TrainerConfig alone = config;
    alone.sharding = {};
    Trainer trainer(model_config(), alone, nullptr);
    body(trainer, 0);
    return {"ok"};
  }
  return test::on_ranks(size, [&](dist::Communicator& ranks) {
    Trainer trainer(model_config(), config, nullptr, &ranks);
    body(trainer, ranks.rank());
  });
}

void expect_ok(const std::vector<std::string>& said) {
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

void begin(Trainer& trainer) {
  trainer.parameters().initialize(1);
  trainer.parameters_changed();
  train(trainer, 0, 3);
  trainer.set_version(17);
}

/// Weights after six steps without interruption, in the exact mode; every resumed run must have their bits.
std::vector<float> undisturbed(const TrainerConfig& config) {
  std::vector<float> weights;
  expect_ok(with_trainers(1, config, [&](Trainer& trainer, int) {
    begin(trainer);
    train(trainer, 3, 6);
    weights = weights_of(trainer);
  }));
  return weights;
}

void save(int size, const TrainerConfig& config, const std::string& folder) {
  expect_ok(with_trainers(size, config, [&](Trainer& trainer, int rank) {
    begin(trainer);
    trainer.save(folder, rank == 0 ? "{\"sampler\": 1}" : "");
  }));
}

void check_resumed(int size, const TrainerConfig& config, const std::string& folder, const std::vector<float>& wanted) {
  expect_ok(with_trainers(size, config, [&](Trainer& trainer, int) {
    EXPECT_EQ(trainer.load(folder), std::string("{\"sampler\": 1}"));
    EXPECT_EQ(trainer.version(), 17u);
    train(trainer, 3, 6);
    EXPECT_EQ(trainer.version(), 20u);
    EXPECT_TRUE(weights_of(trainer) == wanted);
  }));
}

TEST(saved_by_four_and_continued_by_any_number_to_the_bit) {
  for (const DType moments : {DType::kF32, DType::kBF16}) {
    const TemporaryFolder folder("reshard");
    const TrainerConfig config = config_of(true, moments);
    const std::vector<float> wanted = undisturbed(config);
    save(4, config, folder / "four");
    for (const int size : {1, 2, 3, 4, 8}) check_resumed(size, config, folder / "four", wanted);
    TrainerConfig divided = config;
    divided.sharding.stage = Sharding::Stage::kParameters;
    check_resumed(3, divided, folder / "four", wanted);
    save(3, divided, folder / "three");
    check_resumed(4, config, folder / "three", wanted);
  }
}

TEST(muon_is_saved_by_one_rank_and_goes_on_with_any_number_to_the_bit) {
  const TemporaryFolder folder("muon");
  TrainerConfig config = config_of(true);
  config.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  const std::vector<float> wanted = undisturbed(config);
  save(3, config, folder / "x");
  EXPECT_TRUE(fs::exists(folder / "x/optimizer.safetensors"));
  for (const int size : {1, 2}) check_resumed(size, config, folder / "x", wanted);
  fs::resize_file(folder / "x/optimizer.safetensors", 100);
  for (const std::string& text : with_trainers(2, config, [&](Trainer& trainer, int) { trainer.load(folder / "x"); })) {
    EXPECT_TRUE(has(text, "optimizer.safetensors"));
  }
}

TEST(adapters_are_saved_by_ranks_too) {
  const TemporaryFolder folder("adapters");
  TrainerConfig config = config_of(true);
  config.adapters = {.rank = 4, .alpha = 8.0f, .targets = {"all-linear"}, .seed = 3};
  const std::vector<float> wanted = undisturbed(config);
  save(3, config, folder / "x");
  EXPECT_TRUE(fs::exists(folder / "x/adapter_config.json") && !fs::exists(folder / "x/model.safetensors"));
  // The folder does not contain the base, which the resuming process already has.
  expect_ok(with_trainers(2, config, [&](Trainer& trainer, int) {
    trainer.parameters().initialize(1);
    trainer.parameters_changed();
    trainer.load(folder / "x");
    train(trainer, 3, 6);
    EXPECT_TRUE(weights_of(trainer) == wanted);
  }));
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Like save(), but copies the state, continues to train, and only then writes the checkpoint.
void save_later(int size, const TrainerConfig& config, const std::string& folder) {
  const auto body = [&](Trainer& trainer, dist::Communicator* ranks) {
    trainer::StagedCheckpoint staged;
    trainer.parameters().initialize(7);
    trainer.parameters_changed();
    trainer.stage("earlier", staged);
    const int64_t bytes = staged.bytes();
    begin(trainer);
    trainer.stage(!ranks || ranks->rank() == 0 ? "{\"sampler\": 1}" : "", staged);
    EXPECT_EQ(staged.bytes(), bytes);
    train(trainer, 3, 6);
    staged.write(folder, ranks);
    EXPECT_EQ(trainer.version(), 20u);
  };
  if (size < 2) return expect_ok(with_trainers(size, config, [&](Trainer& trainer, int) { body(trainer, nullptr); }));
  expect_ok(test::on_ranks(size, [&](dist::Communicator& ranks) {
    Trainer trainer(model_config(), config, nullptr, &ranks);
    body(trainer, &ranks);
  }));
}

TEST(what_was_staged_is_written_whatever_came_next) {
  const TemporaryFolder folder("staged");
  TrainerConfig config = config_of(true);
  for (const auto stage : {Sharding::Stage::kOptimizer, Sharding::Stage::kParameters}) {
    config.sharding.stage = stage;
    const std::vector<float> wanted = undisturbed(config);
    for (const int size : {1, 3}) {
      save_later(size, config, folder / "x");
      check_resumed(2, config, folder / "x", wanted);
      save(size, config, folder / "y");
      for (const std::string& name : files_in(folder / "y")) {
        EXPECT_EQ(model::read_text((folder / "x/") + name), model::read_text((folder / "y/") + name));
      }
    }
  }
  config = config_of(true);
  config.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  save_later(3, config, folder / "muon");
  check_resumed(2, config, folder / "muon", undisturbed(config));
  config = config_of(false, DType::kBF16);
  save_later(0, config, folder / "alone");
  save(0, config, folder / "now");
  for (const std::string& name : files_in(folder / "now")) {
    EXPECT_EQ(model::read_text((folder / "alone/") + name), model::read_text((folder / "now/") + name));
  }
}

TEST(a_rank_that_cannot_write_what_it_staged_ends_the_write_for_all) {
  const TemporaryFolder folder("stagedrefused");
  std::ofstream(folder / "file") << "no folder";
  const auto said = test::on_ranks(2, [&](dist::Communicator& ranks) {
    TrainerConfig config = config_of(true);
    Trainer trainer(model_config(), config, nullptr, &ranks);
    trainer::StagedCheckpoint staged;
    trainer.stage("", staged);
    staged.write(folder / "file/x", &ranks);
  });
  EXPECT_TRUE(has(said[0], "IO") && has(said[0], "file/x"));
  EXPECT_TRUE(has(said[1], "COLLECTIVE save: rank 0 failed"));
}

/// Everything in a checkpoint, as a single trainer reads it: weights, then moments.
std::vector<float> contents(const std::string& folder) {
  const model::Parameters specs(model_config());
  const trainer::CheckpointReader reader(folder, specs, {}, {});
  std::vector<float> all;
  for (const char* prefix : {"", "m.", "v."}) {
    for (const auto& spec : specs.specs()) {
      std::vector<float> values(static_cast<size_t>(spec.numel()));
      reader.tensors().read(prefix + spec.name, 0, spec.numel(), values.data());
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  return all;
}

TEST(a_trainer_alone_reads_what_ranks_wrote_and_they_read_what_it_wrote) {
  const TemporaryFolder folder("mixed");
  save(4, config_of(true), folder / "ranks");
  expect_ok(with_trainers(0, config_of(true), [&](Trainer& trainer, int) {
    EXPECT_EQ(trainer.load(folder / "ranks"), std::string("{\"sampler\": 1}"));
    EXPECT_EQ(trainer.version(), 17u);
    trainer.save(folder / "alone", "{\"sampler\": 1}");
  }));
  EXPECT_TRUE(fs::exists(folder / "alone/optimizer.safetensors"));
  EXPECT_TRUE(contents(folder / "alone") == contents(folder / "ranks"));
  check_resumed(3, config_of(true), folder / "alone", undisturbed(config_of(true)));
}

TEST(the_folder_is_a_model_that_others_can_load) {
  const TemporaryFolder folder("hf");
  std::vector<float> wanted;
  save(3, config_of(true), folder / "x");
  expect_ok(with_trainers(0, config_of(true), [&](Trainer& trainer, int) {
    trainer.load(folder / "x");
    wanted = weights_of(trainer);
  }));
  model::Parameters loaded(model::load_hf_config(folder / "x"));
  const model::LoadReport report = model::load_hf_weights(folder / "x", loaded);
  EXPECT_EQ(report.loaded, int64_t(loaded.specs().size()));
  EXPECT_EQ(report.skipped, 0);
  EXPECT_TRUE(test::same_bits(loaded.flat().as<float>(), wanted.data(), loaded.flat().numel()));
}

TEST(every_damaged_file_is_named_by_all_ranks) {
  const TemporaryFolder folder("damaged");
  save(3, config_of(true), folder / "x");
  const std::vector<std::string> names = files_in(folder / "x");
  EXPECT_TRUE(std::count_if(names.begin(), names.end(), [](const std::string& name) { return has(name, "optimizer.rank-"); }) == 3);
  EXPECT_TRUE(std::count_if(names.begin(), names.end(), [](const std::string& name) { return has(name, "model-0000"); }) >= 2);
  const std::function<void(const std::string&)> damages[] = {
      [](const std::string& path) { fs::remove(path); },
      [](const std::string& path) { fs::resize_file(path, fs::file_size(path) - 1); },
      [](const std::string& path) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(-1, std::ios::end);
        const char last = char(file.get());
        file.seekp(-1, std::ios::end);
        file.put(char(last ^ 1));
      }};
  for (const std::string& name : names) {
    for (const auto& damage : damages) {
      fs::remove_all(folder / "y");
      fs::copy(folder / "x", folder / "y");
      damage((folder / "y/") + name);
      const auto said = with_trainers(2, config_of(true), [&](Trainer& trainer, int) {
        const std::vector<float> before = weights_of(trainer);
        try {
          trainer.load(folder / "y");
        } catch (...) {
          EXPECT_TRUE(weights_of(trainer) == before);
          throw;
        }
      });
      for (const std::string& text : said) EXPECT_TRUE(has(text, "FORMAT") && has(text, "y/" + name));
    }
  }
}

TEST(a_rank_that_cannot_write_ends_the_save_for_all_and_leaves_the_old_folder) {
  const TemporaryFolder folder("refused");
  save(2, config_of(true), folder / "x");
  const std::vector<float> before = contents(folder / "x");
  std::ofstream(folder / "file") << "no folder";
  const auto said = with_trainers(3, config_of(true), [&](Trainer& trainer, int) { trainer.save(folder / "file/x", ""); });
  EXPECT_TRUE(has(said[0], "IO") && has(said[0], "file/x"));
  for (const size_t rank : {1, 2}) EXPECT_TRUE(has(said[rank], "COLLECTIVE save: rank 0 failed"));
  EXPECT_TRUE(contents(folder / "x") == before);
}

/// Kills the process by SIGKILL when its rank 1 calls the n-th collective.
class Mortal final : public dist::Communicator {
 public:
  Mortal(dist::Communicator& group, int last) : group_(group), left_(last) {}
  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void broadcast(const Stream& s, const TensorView& b, int root) override { count(), group_.broadcast(s, b, root); }
  void all_reduce(const Stream& s, const TensorView& b, dist::ReduceOp op) override { count(), group_.all_reduce(s, b, op); }
  void reduce_scatter(const Stream& s, const TensorView& a, const TensorView& b, dist::ReduceOp op) override { count(), group_.reduce_scatter(s, a, b, op); }
  void all_gather(const Stream& s, const TensorView& a, const TensorView& b) override { count(), group_.all_gather(s, a, b); }
  void all_to_all(const Stream& s, const TensorView& a, const TensorView& b) override { count(), group_.all_to_all(s, a, b); }
  void team_all_to_all(const Stream& s, const TensorView& a, const TensorView& b, int team) override { count(), group_.team_all_to_all(s, a, b, team); }
  void wait(const Stream& s) override { group_.wait(s); }
  void close() override { group_.close(); }
  void abort(const std::string& reason) override { group_.abort(reason); }

 private:
  void count() {
    if (rank() == 1 && --left_ == 0) ::raise(SIGKILL);
  }
  dist::Communicator& group_;
  int left_;
};

/// Saves over `folder` in a child process, which is killed at the n-th collective. Returns whether it was
/// killed.
bool save_and_die(const std::string& folder, int collective) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    test::on_ranks(3, [&](dist::Communicator& group) {
      Mortal ranks(group, collective);
      Trainer trainer(model_config(), config_of(true), nullptr, &ranks);
      trainer.parameters().initialize(2);
      trainer.set_version(99);
      trainer.save(folder, "new");
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST(a_process_killed_anywhere_in_a_save_leaves_the_old_checkpoint_or_the_new_one) {
  const TemporaryFolder folder("killed");
  save(2, config_of(true), folder / "x");
  const std::vector<float> before = contents(folder / "x");
  int crashes = 0;
  for (int collective = 1; save_and_die(folder / "x", collective); ++collective, ++crashes) {
    EXPECT_TRUE(crashes < 30);
    expect_ok(with_trainers(2, config_of(true), [&](Trainer& trainer, int) {
      const bool old = trainer.load(folder / "x") != "new";
      EXPECT_EQ(trainer.version(), old ? 17u : 99u);
    }));
    // Rank 0 moves the new folder into place just before the last collective; until then it is the old one.
    if (contents(folder / "x") != before) EXPECT_TRUE(!save_and_die(folder / "x", collective + 1));
  }
  EXPECT_TRUE(crashes >= 5);
  EXPECT_TRUE(contents(folder / "x") != before);
}

}  // namespace

}  // namespace trainer_checkpoint_shards_test
