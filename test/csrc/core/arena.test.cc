// The bump allocator: alignment, limits, marks, moves.
#include "core/arena.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "check.h"

namespace core_arena_test {

using namespace hone;
using namespace hone::test;

TEST(pieces_are_aligned_disjoint_and_inside) {
  Arena arena(4096, "test");
  char* previous_end = nullptr;
  while (arena.used() < arena.capacity()) {
    const int64_t bytes = std::min(random_int(1, 300), arena.capacity() - arena.used());
    char* piece = static_cast<char*>(arena.take(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0u);
    EXPECT_TRUE(piece >= previous_end);
    std::memset(piece, 1, size_t(bytes));  // the address sanitizer detects writes beyond the end of the block
    previous_end = piece + bytes;
  }
}

TEST(what_does_not_fit_is_refused_with_numbers) {
  Arena arena(128, "logits");
  arena.take(64);
  std::string message;
  try {
    arena.take(65);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kOutOfMemory);
    message = e.what();
  }
  EXPECT_EQ(message, "logits arena: 65 bytes wanted, 64 of 128 free.");
  arena.take(64);
  EXPECT_THROWS(arena.take(1), Code::kOutOfMemory);
  arena.take(0);
  EXPECT_THROWS(arena.take(-1), Code::kInternal);
  EXPECT_THROWS(arena.take(INT64_MAX), Code::kOutOfMemory);
  EXPECT_THROWS(arena.take_array<double>(INT64_MAX / 4), Code::kOutOfMemory);
  EXPECT_THROWS(Arena(-1, "negative"), Code::kInternal);
  EXPECT_THROWS(Arena(int64_t(1) << 60, "too large"), Code::kOutOfMemory);
}

TEST(release_gives_back_what_came_after_the_mark) {
  Arena arena(1024, "test");
  arena.take(100);
  const int64_t mark = arena.mark();
  void* first = arena.take(200);
  arena.release(mark);
  EXPECT_TRUE(arena.take(200) == first);
  EXPECT_EQ(arena.used(), 128 + 256);
  EXPECT_EQ(arena.peak(), 128 + 256);
  arena.release(mark);
  arena.take(1);
  EXPECT_EQ(arena.peak(), 128 + 256);
}

TEST(a_moved_arena_keeps_its_block) {
  Arena a(256, "test");
  float* data = a.take_array<float>(4);
  data[3] = 5.0f;
  Arena b(std::move(a));
  EXPECT_EQ(b.used(), 64);
  Arena c;
  c = std::move(b);
  EXPECT_EQ(c.capacity(), 256);
  EXPECT_EQ(data[3], 5.0f);
  EXPECT_EQ(Arena().capacity(), 0);
}

TEST(a_discarded_block_reads_as_zeros_to_its_last_byte_and_can_be_written) {
  const int64_t bytes = (int64_t(7) << 20) + 64 * 5;
  Arena arena(bytes, "test");
  auto* const data = static_cast<unsigned char*>(arena.take(bytes));
  std::memset(data, 0xff, size_t(bytes));
#if defined(__linux__)
  EXPECT_TRUE(arena.discard());
  EXPECT_EQ(std::count(data, data + bytes, 0), bytes);
  data[bytes - 1] = 7;
  EXPECT_EQ(int(data[bytes - 1]), 7);
#else
  EXPECT_TRUE(!arena.discard());
#endif
}

TEST(a_small_block_is_left_as_it_is) {
  Arena arena(256, "test");
  float* const data = arena.take_array<float>(4);
  data[0] = 5.0f;
  EXPECT_TRUE(!arena.discard());
  EXPECT_EQ(data[0], 5.0f);
  EXPECT_TRUE(!Arena().discard());
}

TEST(views_carry_their_shape) {
  Arena arena(1024, "test");
  const TensorView v = arena.take_view(DType::kBF16, {3, 5});
  EXPECT_EQ(arena.used(), 64);
  EXPECT_EQ(v.dim(1), 5);
  EXPECT_EQ(v.row_stride, 5);
  EXPECT_TRUE(v.dtype == DType::kBF16);
}

TEST(a_discarded_piece_is_zeros_and_nothing_beside_it_is) {
  for (const int64_t bytes : {100, 40'000, 9'000'000}) {
    for (const auto& [begin, count] : {std::pair<int64_t, int64_t>{0, bytes}, {17, 0}, {17, 50}, {31, bytes - 60}}) {
      Arena arena(bytes, "test");
      auto* const data = arena.take_array<uint8_t>(bytes);
      std::memset(data, 7, size_t(bytes));
      arena.discard(data + begin, count);
      int64_t wrong = 0;
      for (int64_t i = 0; i < bytes; ++i) wrong += data[i] != (i >= begin && i < begin + count ? 0 : 7);
      EXPECT_EQ(wrong, 0);
    }
  }
}

}  // namespace core_arena_test
