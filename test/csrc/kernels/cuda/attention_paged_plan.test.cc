// Rows that share pages have the same bits as if each row had its own pages (which attention_paged.test.cc
// compares with packed attention); and shared pages are read only through the first row's table.
//
// Faults put into the code, each detected: a row's own tiles read by all rows, through the first row's table,
// from a tile too early, or treated as shared ones; warps that skip them; more tiles read together than are
// shared, or the last one incomplete; the split that contains the prefix's end listed twice; whole splits up
// to the first row's position; the number of rows in that split's item by the first row's position, or always
// one; a chunk that extends into the next group; rows without memory for states treated like others; keys of
// an item by its first row; state indices read a barrier too early. Two are not detected, because they only
// change the length of the list: a row whose window has left the first key counted in a run, and rows without
// memory for states counted in it.
#include "attention_cache.h"

namespace kernels_cuda_attention_paged_plan_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

/// A step of decode rows, one per sequence. The sequences of a prefix share the pages of its tokens.
struct Step {
  std::string name;
  int64_t heads, kv_heads, page_tokens;
  std::vector<int> positions;  // -1: padding
  std::vector<Prefix> prefixes;
  int window = 0;
  int64_t scratch_tokens = 0;  // 0: as many as the cache has tokens
  int64_t head_dim = 16;
};

/// A step whose sequences are in a KV cache: row s decodes sequence s.
struct Decode {
  explicit Decode(const Step& step) : step(step), batch(shape_of(step)), run(batch, step.page_tokens) {
    if (step.scratch_tokens) run.scratch_tokens = step.scratch_tokens;
    std::vector<int> own(step.positions.size(), 0);  // each sequence's first position in its own pages
    for (const Prefix& p : step.prefixes) {
      const auto from = step.positions.begin() + p.first;
      const auto longest = int(std::max_element(from, from + p.rows) - step.positions.begin());
      for (int r = p.first; r < p.first + p.rows; ++r) {
        run.cache.share(size_t(r), size_t(longest), p.tokens);
        if (r != longest) own[size_t(r)] = p.tokens;
      }
    }
    std::vector<Row> all;
    for (int r = 0; r < int(step.positions.size()); ++r) {
      rows.push_back({step.positions[size_t(r)] < 0 ? -1 : r, step.positions[size_t(r)]});
      for (int i = own[size_t(r)]; i <= step.positions[size_t(r)]; ++i) all.push_back({r, i});
    }
    run.write(all);
  }
  std::vector<float> attend(const std::vector<Prefix>& prefixes) {
    run.forget();
    run.attend(rows, prefixes);
    return run.results();
  }
  static AttentionShape shape_of(const Step& step) {
    AttentionShape shape{{}, step.heads, step.kv_heads, step.head_dim, step.window};
    for (const int position : step.positions) shape.lengths.push_back(std::max(position, 0) + 1);
    return shape;
  }

  const Step& step;
  PackedBatch batch;
  PagedRun run;
  std::vector<Row> rows;
};

const Step kSteps[] = {
    {"a prefix of one split exactly", 4, 2, 16, {515, 612, 530}, {{0, 3, 512}}},
    {"between rows alone and another group", 2, 1, 64, {70, 600, 640, 577, -1, 40, 90, 65}, {{1, 3, 576}, {6, 2, 64}}},
    {"a prefix whose last page fills no tile", 2, 1, 16, {601, 590, 603}, {{0, 3, 592}}},
    {"a prefix shorter than a tile", 2, 1, 16, {100, 90}, {{0, 2, 48}}},
    {"rows that stand inside their prefix, in either split", 4, 1, 32, {100, 640, 300, 511, 520}, {{0, 5, 608}}},
    {"tails of one tile, so that four rows fit an item", 4, 1, 64, {260, 300, 319, 270, 256, 290}, {{0, 6, 256}}},
    {"rows that end in later splits than others", 2, 1, 64, {1030, 460, 520}, {{0, 3, 448}}},
    {"more rows than an item holds", 16, 1, 64, {140, 150, 160, 170, 180, 190}, {{0, 6, 128}}},
    {"heads that leave no room for a second row", 64, 1, 64, {140, 150}, {{0, 2, 128}}},
    {"two groups side by side", 2, 1, 64, {200, 210, 130, 140, 190}, {{0, 2, 192}, {2, 3, 128}}},
    {"a window that some rows have left the start of", 2, 1, 32, {180, 240, 199, 200, 90}, {{0, 5, 96}}, 200},
    {"a first row that ends before its prefix", 1, 1, 64, {200, 1030}, {{0, 2, 1024}}},
    {"no room for the states of some", 2, 1, 64, {530, 140, 600, 700, 150, 560}, {{0, 6, 128}}, 0, 512},
    {"no room, and the prefix is long", 2, 1, 64, {640, 600, 1030, 577}, {{0, 4, 576}}, 0, 512},
    {"wide heads", 2, 1, 64, {530, 540}, {{0, 2, 512}}, 0, 0, 256},
};

bool all_finite(const std::vector<float>& x, const Decode& decode) {
  const int64_t width = decode.batch.shape.q_width();
  for (const Row& row : decode.rows) {
    if (row.sequence < 0) continue;
    const float* const of = x.data() + (decode.batch.starts[size_t(row.sequence)] + row.position) * width;
    if (!std::all_of(of, of + width, [](float v) { return std::isfinite(v); })) return false;
  }
  return true;
}

}  // namespace

TEST(shared_pages_read_once_give_the_bits_of_pages_read_by_each_row) {
  NEEDS_DEVICE;
  for (const Step& step : kSteps) {
    Decode decode(step);
    const std::vector<float> alone = decode.attend({}), shared = decode.attend(step.prefixes);
    EXPECT_TRUE(all_finite(alone, decode));
    if (!same_bits(alone.data(), shared.data(), int64_t(alone.size()))) report(__FILE__, __LINE__, step.name);
  }
}

TEST(a_rows_bits_do_not_depend_on_who_shares_with_it) {
  NEEDS_DEVICE;
  const Step step{"", 2, 1, 64, {600, 640, 577, 530}, {{0, 4, 512}}};
  Decode decode(step);
  const std::vector<float> all = decode.attend(step.prefixes);
  for (const std::vector<Prefix>& some :
       {std::vector<Prefix>{{0, 2, 512}, {2, 2, 512}}, {{1, 3, 512}}, {{0, 4, 448}}, {{0, 3, 64}}}) {
    EXPECT_TRUE(same_bits(all.data(), decode.attend(some).data(), int64_t(all.size())));
  }
}

/// The tables of other rows have no pages, so that a kernel that reads them reads far outside the cache.
TEST(whole_splits_and_the_head_of_the_next_are_read_through_the_first_rows_table) {
  NEEDS_DEVICE;
  for (const int prefix : {256, 512, 576}) {
    const Step step{"", 2, 1, 64, {prefix + 5, prefix + 3, prefix + 60}, {{0, 3, prefix}}};
    Decode decode(step);
    const std::vector<float> alone = decode.attend({});
    for (const size_t row : {1, 2}) decode.run.cache.forget_below(row, prefix, -1);
    EXPECT_TRUE(same_bits(alone.data(), decode.attend(step.prefixes).data(), int64_t(alone.size())));
  }
}

/// With as many rows and key heads as there are blocks, an item at the end of a prefix may be twice as long
/// as a split: 6 shared tiles and 2 of each row's own make 5 rows per item instead of one.
TEST(many_rows_share_the_head_of_a_split_whose_rest_is_their_own) {
  NEEDS_DEVICE;
  const int prefix = 384;
  Step step{"", 2, 1, 64, {}, {{0, 5, prefix}}};
  for (const int more : {70, 100, 64, 127, 90}) step.positions.push_back(prefix + more);
  step.positions.resize(264, -1);  // padding rows count as well
  Decode decode(step);
  const std::vector<float> alone = decode.attend({});
  for (const size_t row : {1, 2, 3, 4}) decode.run.cache.forget_below(row, prefix, -1);
  EXPECT_TRUE(same_bits(alone.data(), decode.attend(step.prefixes).data(), int64_t(alone.size())));
}

TEST(rows_of_a_prompt_beside_a_group_are_still_taken_together) {
  NEEDS_DEVICE;
  const PackedBatch batch({{141, 150, 90}, 2, 1, 16});
  PagedRun run(batch, 64);
  run.cache.share(1, 0, 128);
  std::vector<Row> rows{{0, 140}, {1, 149}};
  for (int i = 0; i < 90; ++i) rows.push_back({2, i});
  for (int s = 0; s < 2; ++s) {
    std::vector<Row> all;
    for (int i = 0; i <= rows[size_t(s)].position; ++i) all.push_back({s, i});
    run.write(all);
  }
  run.write({rows.begin() + 2, rows.end()});
  run.attend(rows);
  const std::vector<float> alone = run.results();
  run.forget();
  for (const int tokens : {128, 64}) {
    run.attend(rows, {{0, 2, tokens}});
    EXPECT_TRUE(same_bits(alone.data(), run.results().data(), int64_t(alone.size())));
  }
}

TEST(shared_prefixes_have_a_number_for_every_row) {
  NEEDS_DEVICE;
  const DeviceRows q(2, 2, 16, 0), kv(1, 1, 16, 0);
  const DeviceArray<int32_t> two(std::vector<int32_t>{0, 0});
  const TensorView rows = two.view(DType::kI32, {2}), one = two.view(DType::kI32, {1});
  const DeviceArray<uint16_t> memory(64 * 16);
  const TensorView page = memory.view(DType::kBF16, {1, 64 * 16});
  Arena scratch(attention_paged_scratch_bytes(device_stream(), 2, 2, 1, 16, 64), "test", Memory::kDevice);
  const auto run = [&](const TensorView& row, const TensorView& tokens) {
    AttentionPagedArgs args{q.view(), rows, rows, two.view(DType::kI32, {2, 1}), {page, page, 1, 64, 16},
                            q.view(), 1.0f, 0, {}, row, tokens};
    args.list = list_attention_paged(device_stream(), args, scratch);
    attention_paged(device_stream(), args);
  };
  EXPECT_THROWS(run(one, rows), Code::kShape);
  EXPECT_THROWS(run(rows, TensorView{}), Code::kShape);
  run(rows, rows);
  synchronize();
}

#else
TEST(cuda_paged_plan) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_attention_paged_plan_test
