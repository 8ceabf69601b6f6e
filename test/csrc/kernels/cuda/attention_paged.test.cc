// Paged attention on the device: every row has the bits of packed attention, whatever the pages, the batch
// and the division of a prompt. attention.test.cc compares packed attention with the CPU op.
//
// Faults put into the code, each detected by the test named: rows joined across positions or sequences
// (neighbours); tiles of any number of rows, heads and rows of a tile exchanged, all warps on one block of
// rows (paged_rows); a split that extends into the next, or has 1024 keys, the last split left out, splits
// added without weights (decoded, without_room); a split that reads below its window (pages_below); padding
// rows computed (paged_rows) or written (what_is_written); more partial states than fit (without_room);
// either barrier of the scan missing (paged_rows); no barrier between two items of a block, or only one item
// per block (take_turns); rows read that were not written (paged_rows), rows below the window (pages_below).
// One half of a wide head's columns merged before the other is there (decoded_rows_of_wide_heads).
// Two are not detected: splits counted from position 0 despite a window, which only adds empty splits, and
// splits merged in descending order, whose difference rounding hides.
#include "attention_cache.h"
#include "core/device.h"

namespace kernels_cuda_attention_paged_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

/// The rows of a sequence up to and including `row`.
std::vector<Row> prompt(const Row& row) {
  std::vector<Row> out;
  for (int i = 0; i <= row.position; ++i) out.push_back({row.sequence, i});
  return out;
}

/// Runs every row once: each step has pieces of some sequences, of one or many rows, with padding between
/// them.
void run_in_pieces(const PackedBatch& batch, PagedRun& run) {
  std::vector<int> done(batch.shape.lengths.size(), 0);
  for (;;) {
    std::vector<Row> rows;
    for (size_t s = 0; s < done.size(); ++s) {
      constexpr int kPieces[] = {0, 1, 1, 2, 20, 65, 200, 300};
      const int piece = std::min(kPieces[random_int(0, 7)], batch.shape.lengths[s] - done[s]);
      for (int i = 0; i < piece; ++i) rows.push_back({int(s), done[s]++});
      if (random_int(0, 3) == 0) rows.push_back({-1, int(random_int(-1, 9))});
    }
    run.write(rows);
    run.attend(rows);
    if (done == batch.shape.lengths) return;
  }
}

struct PagedCase {
  AttentionShape shape;
  int64_t page_tokens;
};
const PagedCase kCases[] = {
    {{{1, 15, 16, 17}, 4, 2, 16}, 16},
    {{{63, 64, 65}, 2, 1, 32}, 48},
    {{{40, 9}, 8, 1, 128}, 16},
    {{{2, 3}, 64, 1, 8}, 16},
    {{{530}, 1, 1, 24, 15}, 128},
    {{{100, 30}, 3, 1, 64, 40}, 32},
    {{{33, 9}, 8, 2, 256}, 16},
    {{{70}, 2, 1, 160, 40}, 32},
};

}  // namespace

TEST(paged_rows_have_the_packed_rows_bits_however_they_come) {
  NEEDS_DEVICE;
  for (const PagedCase& c : kCases) {
    const PackedBatch batch(c.shape);
    PagedRun run(batch, c.page_tokens);
    run_in_pieces(batch, run);
    run.expect_rows_equal(batch.device_forward().out);
  }
}

/// A sequence of two splits, with two query heads per key head, and packed attention's result for it.
struct Long {
  PackedBatch batch{{{530}, 2, 1, 64}};
  std::vector<float> packed = batch.device_forward().out;
};
const Long& two_splits() {
  static const Long value;
  return value;
}

TEST(a_long_prompt_in_pieces_has_the_packed_rows_bits) {
  NEEDS_DEVICE;
  PagedRun run(two_splits().batch, 64);
  run_in_pieces(two_splits().batch, run);
  run.expect_rows_equal(two_splits().packed);
}

TEST(a_decoded_row_has_the_same_bits_alone_and_in_a_batch) {
  NEEDS_DEVICE;
  PagedRun run(two_splits().batch, 64);
  const Row last{0, 529}, before{0, 511}, at{0, 512}, padding{-1, -1};
  run.write(prompt(last));
  for (const Row& row : {last, before, at}) {
    run.attend({row});
    EXPECT_TRUE(run.row_equals(row, two_splits().packed));
  }
  run.forget();
  run.attend({at, padding, before, last, {-1, 7}});
  for (const Row& row : {last, before, at}) EXPECT_TRUE(run.row_equals(row, two_splits().packed));
}

TEST(decoded_rows_of_wide_heads_have_the_packed_rows_bits_in_two_splits) {
  NEEDS_DEVICE;
  for (const int64_t head_dim : {192, 256}) {
    const PackedBatch batch({{530}, 2, 1, head_dim, 525});
    const std::vector<float> packed = batch.device_forward().out;
    PagedRun run(batch, 64);
    run.write(prompt({0, 529}));
    const std::vector<Row> rows{{0, 529}, {-1, -1}, {0, 511}, {0, 512}};
    run.attend(rows);
    for (const Row& row : rows) {
      if (row.sequence >= 0) EXPECT_TRUE(run.row_equals(row, packed));
    }
  }
}

TEST(rows_that_only_look_like_neighbours_are_not_taken_together) {
  NEEDS_DEVICE;
  const PackedBatch batch({{14, 14}, 2, 1, 16});
  const std::vector<float> packed = batch.device_forward().out;
  PagedRun run(batch, 16);
  for (const int s : {0, 1}) run.write(prompt({s, 13}));
  const std::vector<Row> rows{{0, 9}, {1, 10}, {1, 12}, {0, 13}, {0, 12}, {0, 11}, {-1, 12}, {1, 13}};
  run.attend(rows);
  for (const Row& row : rows) {
    if (row.sequence >= 0) EXPECT_TRUE(run.row_equals(row, packed));
  }
}

TEST(pages_below_the_window_may_be_gone) {
  NEEDS_DEVICE;
  struct Gone {
    AttentionShape shape;
    int first;  // the first row for which attention is computed
  };
  // A piece of a prompt, a decode row, and rows whose window starts in their first, or their second, split.
  for (const Gone& c : {Gone{{{130}, 2, 1, 32, 50}, 100}, {{{130}, 2, 1, 32, 50}, 129}, {{{530}, 1, 1, 8, 400}, 529},
                        {{{1030}, 1, 1, 8, 300}, 1029}}) {
    const PackedBatch batch(c.shape);
    const std::vector<float> packed = batch.device_forward().out;
    const int last = c.shape.lengths[0] - 1;
    PagedRun run(batch, 16);
    run.write(prompt({0, last}));
    std::vector<Row> rows;
    for (int i = c.first; i <= last; ++i) rows.push_back({0, i});
    for (const int32_t id : {-1, run.cache.spare()}) {
      run.cache.forget_below(0, c.first - c.shape.window + 1, id);
      run.forget();
      run.attend(rows);
      for (const Row& row : rows) EXPECT_TRUE(run.row_equals(row, packed));
    }
  }
}

TEST(rows_without_room_for_partial_states_walk_their_splits_themselves) {
  NEEDS_DEVICE;
  PagedRun run(two_splits().batch, 64);
  run.write(prompt({0, 529}));
  const std::vector<Row> rows{{0, 529}, {0, 513}, {0, 520}, {0, 100}, {0, 515}};
  run.scratch_tokens = 512;  // enough for five states, where four rows of two splits each would need eight
  run.attend(rows);
  for (const Row& row : rows) EXPECT_TRUE(run.row_equals(row, two_splits().packed));
}

TEST(more_rows_than_blocks_take_turns) {
  NEEDS_DEVICE;
  const PackedBatch batch({{290}, 1, 1, 8, 2});
  PagedRun run(batch, 16);
  run.write(prompt({0, 289}));
  std::vector<Row> rows;  // in descending order, so that no row joins the previous one's tile
  for (int i = 289; i >= 0; --i) rows.push_back({0, i});
  run.attend(rows);
  run.expect_rows_equal(batch.device_forward().out);
}

TEST(what_is_written_lies_where_the_table_says_and_nowhere_else) {
  NEEDS_DEVICE;
  const AttentionShape shape{{37, 20}, 2, 2, 16};
  const PackedBatch batch(shape);
  PagedRun run(batch, 16);
  const std::vector<Row> rows{{0, 36}, {-1, -1}, {1, 3}};
  run.write(rows);
  const std::vector<uint16_t> keys = run.cache.keys(), values = run.cache.values();
  const auto written = [](uint16_t x) { return x != 0xffff; };
  EXPECT_EQ(std::count_if(keys.begin(), keys.end(), written), 2 * shape.kv_width());
  EXPECT_EQ(std::count_if(values.begin(), values.end(), written), 2 * shape.kv_width());
  for (const Row& row : {rows[0], rows[2]}) {
    for (int64_t i = 0; i < shape.kv_width(); ++i) {
      const size_t at = run.cache.place(row.sequence, row.position, i / 16) + size_t(i % 16);
      const size_t from = size_t((batch.starts[size_t(row.sequence)] + row.position) * shape.kv_width() + i);
      EXPECT_EQ(bf16_to_f32(keys[at]), batch.k[from]);
      EXPECT_EQ(bf16_to_f32(values[at]), batch.v[from]);
    }
  }
}

TEST(a_recorded_step_of_two_layers_serves_other_rows_of_the_same_number) {
  NEEDS_DEVICE;
  const AttentionShape& shape = two_splits().batch.shape;
  const int64_t R = 3, H = shape.heads, D = shape.head_dim;
  PagedRun run(two_splits().batch, 64);
  run.write(prompt({0, 529}));
  const DeviceRows q(R, H, D, 0), first(R, H, D, 0), out(R, H, D, 0);
  const DeviceArray<int32_t> sequence(R), position(R), tables = run.cache.tables();
  const Stream stream = device_stream();
  Arena scratch(attention_paged_scratch_bytes(stream, R, H, shape.kv_heads, D, run.scratch_tokens), "test", Memory::kDevice);
  Graph graph;
  EXPECT_TRUE(graph.record(stream, [&] {
    AttentionPagedArgs args{q.view(), sequence.view(DType::kI32, {R}), position.view(DType::kI32, {R}),
                            tables.view(DType::kI32, {1, run.cache.columns()}), run.cache.view(), first.view(),
                            shape.scale()};
    args.list = list_attention_paged(stream, args, scratch);
    attention_paged(stream, args);
    args.out = out.view();  // one list serves all layers
    attention_paged(stream, args);
  }));
  const std::vector<Row> steps[] = {
      {{0, 529}, {0, 100}, {-1, -1}}, {{0, 511}, {0, 512}, {0, 513}}, {{-1, 0}, {-1, 0}, {0, 0}}};
  for (const std::vector<Row>& rows : steps) {
    const std::vector<uint16_t> queries = to_bf16(run.gather(rows, two_splits().batch.q, H * D));
    upload(stream, q.memory.data(), queries.data(), R * H * D * 2);
    for (size_t r = 0; r < rows.size(); ++r) {
      upload(stream, sequence.data() + r, &rows[r].sequence, 4);
      upload(stream, position.data() + r, &rows[r].position, 4);
    }
    graph.launch(stream);
    const std::vector<float> got = out.values();
    for (size_t r = 0; r < rows.size(); ++r) {
      if (rows[r].sequence < 0) continue;
      const float* const want = two_splits().packed.data() + rows[r].position * H * D;
      EXPECT_TRUE(same_bits(got.data() + int64_t(r) * H * D, want, H * D));
    }
  }
}

TEST(pages_and_scratch_that_the_device_kernels_cannot_use_are_refused) {
  NEEDS_DEVICE;
  const DeviceRows q(1, 2, 16, 0), kv(1, 1, 16, 0);
  const DeviceArray<int32_t> one(std::vector<int32_t>{0});
  const TensorView row = one.view(DType::kI32, {1}), table = one.view(DType::kI32, {1, 1});
  const auto run = [&](DType dtype, int64_t page_tokens, bool with_list, Memory where = Memory::kDevice) {
    const DeviceArray<uint16_t> memory(page_tokens * 16 * 2);
    const TensorView page = memory.view(dtype, {1, page_tokens * 16});
    const KvPages pages{page, page, 1, page_tokens, 16};
    Arena scratch(attention_paged_scratch_bytes(device_stream(), 1, 2, 1, 16, 512), "test", where);
    kv_write(device_stream(), {kv.view(), kv.view(), row, row, table, pages});
    AttentionPagedArgs args{q.view(), row, row, table, pages, q.view()};
    if (with_list) args.list = list_attention_paged(device_stream(), args, scratch);
    attention_paged(device_stream(), args);
    synchronize();
  };
  run(DType::kBF16, 16, true);
  EXPECT_THROWS(run(DType::kF32, 16, true), Code::kShape);
  EXPECT_THROWS(run(DType::kBF16, 24, true), Code::kShape);
  EXPECT_THROWS(run(DType::kBF16, 16, false), Code::kInternal);
  EXPECT_THROWS(run(DType::kBF16, 16, true, Memory::kHost), Code::kInternal);
}

TEST(no_rows_are_no_launch) {
  NEEDS_DEVICE;
  const PackedBatch batch({{5}, 1, 1, 16});
  PagedRun run(batch, 16);
  run.write({});
  run.attend({});
}

#else
TEST(cuda_paged_attention) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_attention_paged_test
