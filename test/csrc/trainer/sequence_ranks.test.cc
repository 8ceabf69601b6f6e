// The exchange of rows for heads and back compared with plain loops, and the network on ranks that divide a
// micro-batch's rows compared with one process that has all rows. Mutation tests:
// test/mutants/csrc-trainer.json.
#include "trainer/sequence_ranks.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

#include "device.h"
#include "dist/solo_communicator.h"
#include "model/layer.h"
#include "model/network.h"
#include "trainer/sharded_course.h"
#include "trainer/memory.h"

namespace trainer_sequence_ranks_test {
namespace {

using namespace hone;
using model::RowRange;
using trainer::SequenceRanks;

/// A value that identifies element (row, column) of the whole micro-batch.
float element(int64_t row, int64_t column) { return float(row * 1000 + column); }

/// The columns of each group that rank p of K has, in order.
std::vector<int64_t> columns_of(const std::vector<int64_t>& widths, int64_t p, int64_t K) {
  std::vector<int64_t> out;
  int64_t at = 0;
  for (const int64_t width : widths) {
    for (int64_t c = width / K * p; c < width / K * (p + 1); ++c) out.push_back(at + c);
    at += width;
  }
  return out;
}

void check_exchange(SequenceRanks& team, int64_t T, const std::vector<int64_t>& widths) {
  const int64_t W = widths[0] + (widths.size() > 1 ? widths[1] + widths[2] : 0), K = team.ranks();
  const RowRange own = model::part_of(T, team.rank(), K);
  std::vector<float> rows(size_t(own.count * W)), heads = test::poison(T * W / K), back = test::poison(own.count * (W + 3));
  for (int64_t r = 0; r < own.count; ++r) {
    for (int64_t c = 0; c < W; ++c) rows[size_t(r * W + c)] = element(own.first + r, c);
  }
  team.begin(T);
  const TensorView all = f32(heads.data(), {T, W / K});
  team.to_heads(Stream{}, f32(rows.data(), {own.count, W}), widths, all);
  const auto mine = columns_of(widths, team.rank(), K);
  for (int64_t t = 0; t < T; ++t) {
    for (size_t c = 0; c < mine.size(); ++c) EXPECT_EQ(all.row<float>(t)[c], element(t, mine[c]));
  }
  TensorView strided = f32(back.data(), {own.count, W});
  strided.row_stride = W + 3;
  team.to_rows(Stream{}, all, widths, strided);
  for (int64_t r = 0; r < own.count; ++r) {
    EXPECT_TRUE(std::memcmp(strided.row<float>(r), rows.data() + r * W, size_t(W) * sizeof(float)) == 0);
  }
}

TEST(rows_become_heads_and_heads_rows) {
  model::ModelConfig model = test::tiny_config();
  model.kv_heads = 4;
  for (const auto& [size, K] : {std::pair{2, 2}, {4, 2}, {4, 4}}) {
    const auto said = test::on_ranks(size, [&, K = K](dist::Communicator& ranks) {
      SequenceRanks team({}, model, ranks, K);
      EXPECT_EQ(team.rank(), ranks.rank() % K);
      team.reserve(13);
      for (const int64_t T : {13, 1, 4, 3, 8}) {  // includes fewer rows than ranks
        check_exchange(team, T, model::qkv_widths(model));
        check_exchange(team, T, {model.q_width()});
      }
      team.reserve(50);
      check_exchange(team, 50, model::qkv_widths(model));
    });
    for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
  }
}

TEST(what_each_found_out_about_its_rows_is_known_to_all) {
  const auto said = test::on_ranks(4, [&](dist::Communicator& ranks) {
    SequenceRanks team({}, test::tiny_config(), ranks, 2);
    team.reserve(12);
    team.begin(12);
    for (const std::vector<RowRange>& parts : {std::vector<RowRange>{{0, 5}, {5, 2}}, {{0, 0}, {0, 7}}, {{0, 0}, {0, 0}}}) {
      std::vector<float> a = test::poison(7), b = test::poison(7);
      const RowRange own = parts[size_t(team.rank())];
      const float tag = ranks.rank() < 2 ? 100.0f : 200.0f;  // differs by team, so that mixing teams shows
      for (int64_t r = own.first; r < own.first + own.count; ++r) a[size_t(r)] = tag + float(r), b[size_t(r)] = tag - float(r);
      team.share(Stream{}, parts, {a.data(), b.data()});
      for (int64_t r = 0; r < parts[0].count + parts[1].count; ++r) {
        EXPECT_TRUE(a[size_t(r)] == tag + float(r) && b[size_t(r)] == tag - float(r));
      }
    }
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

TEST(what_is_exchanged_takes_the_bytes_it_was_said_to_take_in_the_streams_memory) {
  dist::SoloCommunicator solo;
  const model::ModelConfig model = test::tiny_config();
  std::vector<Stream> streams(1);
  if (test::has_device()) streams.push_back(test::device_stream());
  for (const Stream& stream : streams) {
    const Memory where = tensor_memory(stream);
    for (const int64_t tokens : {1, 40, 41}) {
      const int64_t before = Arena::live_bytes(where);
      SequenceRanks team(stream, model, solo, 2);
      team.reserve(tokens);
      EXPECT_EQ(Arena::live_bytes(where) - before, trainer::sequence_ranks_bytes(stream, model, tokens, 2));
    }
    const int64_t row = 2 * model.qkv_width() * dtype_bytes(activation_dtype(stream));  // for both directions
    EXPECT_EQ(trainer::sequence_ranks_bytes(stream, model, 1024, 2), 512 * row);
  }
}

TEST(what_does_not_divide_is_refused_by_name) {
  const model::ModelConfig model = test::tiny_config();  // 4 query heads, 2 key/value heads
  trainer::check_sequence(model, 2, 4);
  trainer::check_sequence(model, 2, 1);
  const auto message = [&](int sequence, int ranks) { return test::outcome([&] { trainer::check_sequence(model, sequence, ranks); }); };
  EXPECT_EQ(message(0, 1), std::string("CONFIG trainer: sharding.sequence is 0; it must be at least 1."));
  EXPECT_TRUE(test::has(message(3, 3), "CONFIG trainer: sharding.sequence is 3, which does not divide the 4 query heads"));
  EXPECT_TRUE(test::has(message(4, 4), "does not divide the 2 key/value heads"));
  EXPECT_TRUE(test::has(message(2, 3), "does not divide the 3 ranks"));
}

/// A packed micro-batch of three sequences, of which some rows are loss rows, and its forward and backward.
struct Passage {
  const model::ModelConfig& config;
  std::shared_ptr<const model::WeightSnapshot> weights;
  bool recompute;
  int64_t tokens, sequences = 3;
  std::vector<int32_t> ids{}, positions{}, starts{}, loss_rows{};
  std::vector<float> dhidden{};

  void draw(uint64_t seed) {
    std::mt19937_64 random(seed);
    // the first sequence spans ranks, the last has one token
    const int64_t ends[] = {0, tokens / 2, tokens - 1, tokens};
    for (const int64_t end : ends) starts.push_back(int32_t(end));
    for (int64_t s = 0; s < sequences; ++s) {
      for (int64_t t = ends[s]; t < ends[s + 1]; ++t) positions.push_back(int32_t(t - ends[s]));
    }
    for (int32_t t = 0; t < tokens; ++t) {
      ids.push_back(int32_t(random() % uint64_t(config.vocabulary)));
      // with enough ranks, the last rank has no loss row
      if (t % 3 && t < tokens - 3) loss_rows.push_back(t);
    }
    dhidden = test::random_floats(int64_t(loss_rows.size()) * config.width);
  }
  model::RowBlock block(int64_t p, int64_t K) const {
    return model::row_blocks(tokens, loss_rows.data(), int64_t(loss_rows.size()), K)[size_t(p)];
  }
  /// Runs forward and backward for the rows of `own`; returns the hidden states of its loss rows.
  std::vector<float> run(const model::RowBlock& own, model::HeadExchange* exchange,
                         const std::function<std::vector<model::BlockGradients>(const model::PackedRows&)>& blocks) const {
    std::vector<int32_t> outputs(loss_rows.begin() + own.outputs.first, loss_rows.begin() + own.outputs.first + own.outputs.count);
    for (int32_t& row : outputs) row -= int32_t(own.tokens.first);
    const auto R = int64_t(outputs.size()), T = own.tokens.count;
    outputs.reserve(1);  // the data pointer of an empty list must not be null
    const model::PackedRows rows{.ids = i32(ids.data() + own.tokens.first, {T}), .positions = i32(positions.data() + own.tokens.first, {T}),
                                 .cu_seqlens = i32(starts.data(), {sequences + 1}), .loss_rows = i32(outputs.data(), {R}), .exchange = exchange};
    const int64_t most = exchange ? (tokens + exchange->ranks() - 1) / exchange->ranks() : T;
    Arena arena(model::training_bytes({}, config, most, recompute, exchange != nullptr).total() + 64, "test");
    const model::Activations saved = model::forward_training({}, *weights, rows, arena, recompute);
    const float* const hidden = saved.hidden.as<float>();
    std::vector<float> out(hidden, hidden + saved.hidden.numel());
    std::vector<float> d(dhidden.begin() + own.outputs.first * config.width, dhidden.begin() + (own.outputs.first + R) * config.width);
    d.reserve(1);
    model::backward({}, *weights, rows, saved, f32(d.data(), {R, config.width}), blocks(rows), arena);
    return out;
  }
};

std::vector<float> flat_of(const model::Parameters& parameters) {
  const auto* from = parameters.flat().as<float>();
  return {from, from + parameters.flat().numel()};
}

/// Compares K ranks, each with its rows, with one process that has all rows in K blocks; and that process
/// with one that has one block.
void check_passage(const model::ModelConfig& config, int K, int64_t T, DType storage, bool recompute) {
  model::Parameters parameters(config);
  test::roughen(parameters, 5);
  const auto weights = model::WeightSnapshot::make(Stream{}, parameters, 0, storage);
  Passage passage{config, weights, recompute, T};
  passage.draw(uint64_t(T));
  const model::RowBlock all{{0, T}, {0, int64_t(passage.loss_rows.size())}};
  std::vector<std::unique_ptr<model::Parameters>> parts;
  model::Parameters whole(config);
  const auto plain = passage.run(all, nullptr, [&](const model::PackedRows& rows) { return model::one_block(rows, {.parameters = &whole}); });
  const auto hidden = passage.run(all, nullptr, [&](const model::PackedRows&) {
    std::vector<model::BlockGradients> blocks;
    for (int p = 0; p < K; ++p) blocks.push_back({passage.block(p, K), {.parameters = parts.emplace_back(std::make_unique<model::Parameters>(config)).get()}});
    return blocks;
  });
  EXPECT_TRUE(plain == hidden);
  std::vector<float> sum = flat_of(*parts[0]);
  for (int p = 1; p < K; ++p) {
    const std::vector<float> part = flat_of(*parts[size_t(p)]);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  EXPECT_TRUE(test::relative(sum, flat_of(whole)) <= 1e-5);
  const auto said = test::on_ranks(K, [&](dist::Communicator& ranks) {
    SequenceRanks team({}, config, ranks, K);
    team.reserve(T);
    team.begin(T);
    model::Parameters own(config);
    const model::RowBlock block = passage.block(team.rank(), K);
    const auto part = passage.run(block, &team, [&](const model::PackedRows& rows) { return model::one_block(rows, {.parameters = &own}); });
    const auto first = hidden.begin() + block.outputs.first * config.width;
    EXPECT_TRUE(part == std::vector<float>(first, first + block.outputs.count * config.width));
    EXPECT_TRUE(flat_of(own) == flat_of(*parts[size_t(team.rank())]));
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

TEST(every_architecture_has_the_bits_of_a_process_with_all_rows) {
  for (auto& [name, config] : test::switch_configs()) {
    if (config.kv_heads % 2) config.kv_heads = 2;
    // Refused: a sink's gradient sums over all rows of all heads; and heads of two sizes.
    if (config.sinks || config.full_head_dim > 0) {
      trainer::TrainerConfig divided;
      divided.sharding.sequence = 2;
      EXPECT_THROWS(trainer::check_hybrid(config, divided), Code::kUnsupported);
      continue;
    }
    check_passage(config, 2, 23, DType::kF32, false);
    check_passage(config, 2, 23, DType::kF32, true);
  }
}

TEST(with_four_ranks_and_fewer_rows_than_ranks_too) {
  model::ModelConfig config = test::switch_configs()[3].second;  // four key/value heads
  for (const bool recompute : {false, true}) {
    check_passage(config, 4, 31, DType::kF32, recompute);
    check_passage(config, 4, 30, DType::kBF16, recompute);
    check_passage(config, 4, 5, DType::kF32, recompute);  // two of the rows are loss rows
  }
}

}  // namespace

}  // namespace trainer_sequence_ranks_test
