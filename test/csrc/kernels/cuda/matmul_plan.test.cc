// How products are divided into pieces and tiles, and the byte layouts of Hopper's operands, compared with
// the PTX ISA, CuTe and Triton. Faults put into the layouts, each detected: offsets exchanged or halved;
// swizzle mode 2; an address not cut to 18 bits; steps of 8 or 32 k.
#include "kernels/cuda/matmul_plan.h"

#include <set>

#include "check.h"

namespace kernels_cuda_matmul_plan_test {

using namespace hone;
using namespace hone::kernels::cuda;
using namespace hone::test;

namespace {

/// Byte of a wgmma operand as the PTX ISA describes it for the 128-byte swizzle, in 16-byte units: k
/// contiguous ((8, m), (1, 2)) : ((8, SBO), (-, 1)); lines contiguous ((8, m), (8, 2)) : ((1, LBO), (8,
/// SBO)). The address is then swizzled. k counts within one instruction, [0, 16).
uint32_t hardware_byte(uint64_t descriptor, bool lines_inside, uint32_t line, uint32_t k) {
  const auto field = [&](int bit) { return uint32_t(descriptor >> bit & 0x3fff) << 4; };
  const uint32_t start = field(0), leading = field(16), stride = field(32);
  EXPECT_EQ(descriptor >> 62, uint64_t(1));       // 128-byte swizzle
  // patterns start at multiples of 1024 bytes, so there is no base offset
  EXPECT_EQ(descriptor >> 49 & 7, uint64_t(0));
  const uint32_t byte = lines_inside ? start + line / 64 * leading + line % 64 * 2 + k / 8 * stride + k % 8 * 128
                                     : start + line / 8 * stride + line % 8 * 128 + k * 2;
  return swizzle128(byte);
}

/// Where the copy engine (TMA) writes element (line, k) of an operand of `lines` lines at `base`: box after
/// box, rows of 128 bytes, 16-byte chunk c of row r at c ^ (r % 8).
uint32_t copied_byte(uint32_t base, bool lines_inside, uint32_t line, uint32_t k) {
  const uint32_t box = lines_inside ? line / 64 : 0, row = lines_inside ? k : line, inner = lines_inside ? line % 64 : k;
  return base + box * 64 * 128 + row * 128 + ((inner / 8) ^ (row % 8)) * 16 + inner % 8 * 2;
}

}  // namespace

TEST(wgmma_reads_every_element_where_the_copy_engine_put_it) {
  for (const bool lines_inside : {false, true}) {
    for (const uint32_t base : {0u, 1024u, 49152u, 196608u}) {
      for (uint32_t group = 0; group < 4; ++group) {  // A has an offset of 64 rows per group; B has none
        const uint32_t first = group * 64, origin = base + hopper_byte(lines_inside, first, 0);
        int wrong = 0;
        for (uint32_t k = 0; k < kHopperDepth; ++k) {
          const uint64_t descriptor = hopper_descriptor(lines_inside, origin + k / 16 * hopper_step(lines_inside));
          for (uint32_t line = 0; line < 256 - first; ++line) {
            wrong += hardware_byte(descriptor, lines_inside, line, k % 16) !=
                     copied_byte(base, lines_inside, first + line, k);
          }
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  }
}

// Facts from two implementations that have run on Hopper: CuTe's canonical layouts ((8, m), (8, 2)) : ((8,
// SBO), (1, -)) and ((8, m), (8, k)) : ((1, LBO), (8, SBO)) of 16 bytes, with its value 1 where the leading
// offset is unused, and what Triton 3.8 writes in the PTX of tl.dot for sm_90 with operands copied by tensor
// descriptors (it writes 0 where that is unused).
TEST(descriptors_and_their_steps_are_those_of_cute_and_triton) {
  const uint64_t unused = uint64_t(1) << 16;
  EXPECT_EQ(hopper_descriptor(false, 0), 0x4000004000000000 | unused);
  EXPECT_EQ(hopper_descriptor(true, 0), uint64_t(0x4000004002000000));
  for (int i = 0; i < 4; ++i) {  // steps of 16 k within a stage, in units of 16 bytes: 0, 2, 4, 6 and 0, 128, 256, 384
    EXPECT_EQ(hopper_descriptor(false, i * hopper_step(false)), 0x4000004000000000 + unused + 2 * uint64_t(i));
    EXPECT_EQ(hopper_descriptor(true, i * hopper_step(true)), 0x4000004002000000 + 128 * uint64_t(i));
  }
  EXPECT_EQ(hopper_byte(true, 64, 0), 16u * 512);  // Triton's boxes of 64 columns
  // only the lowest 18 bits of an address are used
  EXPECT_EQ(hopper_descriptor(false, 0x7fff0) & 0xffff, uint64_t(0x3fff));
  EXPECT_EQ(hopper_descriptor(true, 0x12340) & 0xffff, uint64_t(0x1234));
}

TEST(eight_rows_of_a_fragment_lie_in_different_banks) {
  for (const int chunks : {4, 8, 16}) {
    std::set<int> all;
    for (int row = 0; row < 64; ++row) {
      for (int chunk = 0; chunk < chunks; ++chunk) all.insert(swizzled(row, chunk, chunks));
    }
    EXPECT_EQ(int(all.size()), 64 * chunks);
    EXPECT_EQ(*all.rbegin(), 64 * chunks - 1);
    for (int first = 0; first < 64; first += 8) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        std::set<int> banks;  // of four 4-byte words each
        for (int row = first; row < first + 8; ++row) banks.insert(swizzled(row, chunk, chunks) % 8);
        EXPECT_EQ(int(banks.size()), 8);
      }
    }
  }
}

TEST(pieces_cover_k_once_in_order_and_end_at_stages) {
  for (int i = 0; i < 2000; ++i) {
    const int64_t n = random_int(1, 40000), k = random_int(0, 20000);
    const int pieces = fixed_split_k(n, k);
    int64_t at = 0;
    for (int p = 0; p < pieces; ++p) {
      const Range piece = piece_of(k, pieces, p);
      EXPECT_EQ(piece.begin, at);
      EXPECT_TRUE(pieces == 1 || piece.end > piece.begin);
      EXPECT_TRUE(p + 1 == pieces || piece.end % kPieceGrain == 0);
      at = piece.end;
    }
    EXPECT_EQ(at, k);
  }
}

TEST(decode_shapes_fill_the_processors) {
  struct Row { int64_t n, k; int pieces; };
  for (const Row& r : {Row{6144, 5120, 4}, {5120, 4096, 4}, {28672, 5120, 1}, {5120, 14336, 4}, {4096, 1024, 2},
                       {1024, 3072, 4}, {96, 288, 1}, {40, 8192, 8}, {40, 1023, 1}, {40, 1024, 2}}) {
    EXPECT_EQ(fixed_split_k(r.n, r.k), r.pieces);
  }
}

TEST(every_tile_of_every_piece_has_one_block) {
  for (int i = 0; i < 300; ++i) {
    const int64_t rows = random_int(1, 3000), columns = random_int(1, 2000);
    const int pieces = int(random_int(1, 4));
    const bool spread = random_int(0, 1) == 1;
    const int64_t blocks = blocks_of(rows, columns, pieces, spread, 128, 64);
    std::set<std::pair<int64_t, int>> seen;
    for (int64_t b = 0; b < blocks; ++b) {
      const BlockWork work = work_of(b, rows, columns, pieces, spread, 128, 64);
      EXPECT_TRUE(work.row >= 0 && work.row < rows && work.column >= 0 && work.column < columns);
      EXPECT_TRUE(work.row % 128 == 0 && work.column % 64 == 0);
      const Range depth = depth_of(5000, pieces, work), first = piece_of(5000, pieces, work.first_piece);
      EXPECT_EQ(depth.begin, spread ? first.begin : 0);
      EXPECT_EQ(depth.end, spread ? first.end : 5000);
      seen.insert({work.row * columns + work.column, work.first_piece});
    }
    EXPECT_EQ(int64_t(seen.size()), blocks);
    EXPECT_EQ(blocks, ceil_div(rows, 128) * ceil_div(columns, 64) * (spread ? pieces : 1));
  }
}

TEST(neighbouring_blocks_share_a_band_of_rows) {
  EXPECT_EQ(tile_place(0, 20, 5).row, 0);
  EXPECT_EQ(tile_place(7, 20, 5).row, 7);
  EXPECT_EQ(tile_place(8, 20, 5).column, 1);
  EXPECT_EQ(tile_place(40, 20, 5).row, 8);   // the second band
  EXPECT_EQ(tile_place(84, 20, 5).column, 1);  // the last band has four rows of tiles
}

}  // namespace kernels_cuda_matmul_plan_test
