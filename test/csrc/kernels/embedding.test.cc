// Embedding lookup, and the scatter-add of its gradient, exactly equal to plain loops.
//
// Faults put into the code, each detected: scatter that overwrites (adds_in_order); two threads sharing
// tokens instead of columns (adds_in_order, by bits); last partial vector skipped (both).
#include "kernels/embedding.h"

#include "each_isa.h"

namespace kernels_embedding_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct Table {
  int64_t tokens, vocabulary, width;
  std::vector<int32_t> ids;
  std::vector<float> table, dx;
  Table(int64_t t, int64_t v, int64_t c) : tokens(t), vocabulary(v), width(c), table(random_floats(v * c)), dx(random_floats(t * c)) {
    for (int64_t i = 0; i < t; ++i) ids.push_back(int32_t(random_int(0, v - 1)));
    ids.reserve(1);
  }
  TensorView id_view() const { return i32(ids.data(), {tokens}); }
};

const int64_t kShapes[][3] = {{1, 1, 1}, {5, 3, 16}, {300, 7, 33}, {2000, 226, 96}, {40, 1000, 130}};

}  // namespace

TEST(embedding_gathers_rows) {
  for (const auto& s : kShapes) {
    Table m(s[0], s[1], s[2]);
    for (const Stream& stream : {Stream{}, two_threads()}) {
      std::vector<float> x = poison(m.tokens * m.width);
      embedding(stream, {m.id_view(), f32(m.table.data(), {m.vocabulary, m.width}), f32(x.data(), {m.tokens, m.width})});
      for (int64_t t = 0; t < m.tokens; ++t) {
        EXPECT_TRUE(same_bits(x.data() + t * m.width, m.table.data() + m.ids[size_t(t)] * m.width, m.width));
      }
    }
  }
}

TEST(rows_of_a_packed_table_are_the_table_s) {
  for (const auto& s : kShapes) {
    Table m(s[0], s[1], s[2]);
    Arena arena(packed_bytes({}, m.vocabulary, m.width, DType::kF32), "test");
    const PackedMatrix w{m.vocabulary, m.width, DType::kF32, arena.take(arena.capacity())};
    pack_matrix({}, {.w = f32(m.table.data(), {m.vocabulary, m.width}), .transpose = false, .out = w});
    for (const Stream& stream : {Stream{}, two_threads()}) {
      std::vector<float> x = poison(m.tokens * m.width);
      packed_embedding(stream, {m.id_view(), w, f32(x.data(), {m.tokens, m.width})});
      for (int64_t t = 0; t < m.tokens; ++t) {
        EXPECT_TRUE(same_bits(x.data() + t * m.width, m.table.data() + m.ids[size_t(t)] * m.width, m.width));
      }
    }
    const int32_t outside = int32_t(m.vocabulary);
    std::vector<float> x(size_t(m.width));
    EXPECT_THROWS(packed_embedding({}, {i32(&outside, {1}), w, f32(x.data(), {1, m.width})}), Code::kShape);
  }
}

TEST(embedding_grad_adds_in_order_of_tokens) {
  each_isa([] {
    for (const auto& s : kShapes) {
      Table m(s[0], s[1], s[2]);
      std::vector<float> expected = m.table;
      for (int64_t t = 0; t < m.tokens; ++t) {
        for (int64_t i = 0; i < m.width; ++i) expected[size_t(m.ids[size_t(t)] * m.width + i)] += m.dx[size_t(t * m.width + i)];
      }
      for (const Stream& stream : {Stream{}, two_threads()}) {
        std::vector<float> dtable = m.table;
        embedding_grad(stream, {m.id_view(), f32(m.dx.data(), {m.tokens, m.width}), f32(dtable.data(), {m.vocabulary, m.width})});
        EXPECT_TRUE(same_bits(dtable.data(), expected.data(), int64_t(expected.size())));
      }
    }
  });
}

TEST(an_id_outside_the_vocabulary_is_named) {
  Table m(4, 3, 2);
  std::vector<float> x(8);
  for (int32_t bad : {3, -1}) {
    m.ids[2] = bad;
    EXPECT_THROWS(embedding({}, {m.id_view(), f32(m.table.data(), {3, 2}), f32(x.data(), {4, 2})}), Code::kShape);
    EXPECT_THROWS(embedding_grad({}, {m.id_view(), f32(m.dx.data(), {4, 2}), f32(m.table.data(), {3, 2})}), Code::kShape);
  }
  m.ids[2] = 0;
  EXPECT_THROWS(embedding({}, {m.id_view(), f32(m.table.data(), {3, 2}), f32(x.data(), {4, 1})}), Code::kShape);
}

}  // namespace kernels_embedding_test
