// Divides a matrix product into tiles and pieces on CUDA, and lays out shared memory: functions of shapes
// only, which are the same on host and device and can be tested without a GPU.
#pragma once

#include <cstdint>

#include "core/host_device.h"

namespace hone::kernels::cuda {

HONE_HOST_DEVICE constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Pieces of K end at multiples of this, which every tile depth (32, 64) divides; only the last piece may end
/// elsewhere.
inline constexpr int64_t kPieceGrain = 64;

/// Number of pieces into which the sum over K of a weight [n, k] is divided: each piece is one chain of the
/// tensor core's f32 accumulator, and the pieces are added in ascending order, starting from 0. There are
/// enough pieces that a decode step, in tiles of 64 columns, has two blocks for each of about 130
/// multiprocessors, but none is shorter than 512. Only the weight's shape decides, never the number of rows:
/// otherwise a row's bits would depend on its batch.
HONE_HOST_DEVICE constexpr int fixed_split_k(int64_t n, int64_t k) {
  int pieces = 1;
  while (pieces < 8 && ceil_div(n, 64) * pieces < 256 && k >= 1024 * int64_t(pieces)) pieces *= 2;
  return pieces;
}

/// Up to this many rows, reading the weights limits the speed of a forward product, which then uses small
/// tiles, and separate blocks for the pieces of k. The choice of tile never changes the bits of an element.
inline constexpr int64_t kFewRows = 256;

struct Range { int64_t begin, end; };

/// Limit of the rows, columns, depth and blocks of a product: a GPU divides 32-bit numbers in a few
/// instructions, but calls a function to divide 64-bit numbers.
inline constexpr int64_t kMostLines = (int64_t(1) << 31) - 1;

/// Piece i when [0, k), k <= kMostLines, is divided into `pieces` equal pieces, of which the last may be
/// shorter.
HONE_HOST_DEVICE constexpr Range piece_of(int64_t k, int pieces, int i) {
  const int64_t length = ceil_div(int64_t((uint32_t(k) + uint32_t(pieces) - 1) / uint32_t(pieces)), kPieceGrain) * kPieceGrain;
  const int64_t begin = i * length < k ? i * length : k, end = begin + length < k ? begin + length : k;
  return {begin, end};
}

struct TilePlace { uint32_t row, column; };

/// Row and column of tile `index` in a grid of tiles. Tiles are numbered down bands of 8 rows of tiles, so
/// that blocks that run at the same time share operands in the L2 cache.
HONE_HOST_DEVICE constexpr TilePlace tile_place(uint32_t index, uint32_t tile_rows, uint32_t tile_columns) {
  constexpr uint32_t kBand = 8;
  const uint32_t band = index / (kBand * tile_columns), first = band * kBand, rest = index % (kBand * tile_columns);
  const uint32_t height = tile_rows - first < kBand ? tile_rows - first : kBand;
  return {first + rest % height, rest / height};
}

/// First element and pieces of one block of a product [rows, columns] in tiles of tile_rows x tile_columns.
/// If the pieces are spread, each piece has its own blocks; otherwise every block computes all pieces.
struct BlockWork {
  int64_t row, column;
  int first_piece, last_piece;
};

HONE_HOST_DEVICE constexpr int64_t blocks_of(int64_t rows, int64_t columns, int pieces, bool spread, int tile_rows,
                                             int tile_columns) {
  return ceil_div(rows, tile_rows) * ceil_div(columns, tile_columns) * (spread ? pieces : 1);
}

HONE_HOST_DEVICE constexpr BlockWork work_of(int64_t index, int64_t rows, int64_t columns, int pieces, bool spread,
                                             int tile_rows, int tile_columns) {
  const auto down = uint32_t(ceil_div(rows, tile_rows)), across = uint32_t(ceil_div(columns, tile_columns));
  const TilePlace place = tile_place(uint32_t(index) % (down * across), down, across);
  const int piece = int(uint32_t(index) / (down * across));
  return {int64_t(place.row) * tile_rows, int64_t(place.column) * tile_columns, spread ? piece : 0, spread ? piece + 1 : pieces};
}

/// The range of k that a block multiplies.
HONE_HOST_DEVICE constexpr Range depth_of(int64_t k, int pieces, const BlockWork& work) {
  return {piece_of(k, pieces, work.first_piece).begin, piece_of(k, pieces, work.last_piece - 1).end};
}

/// Index of the 16-byte chunk (row, chunk) of a tile whose rows have `chunks` chunks (4 or a multiple of 8):
/// the chunk is XORed with the row, so that the eight rows that ldmatrix reads at once lie in different
/// banks.
HONE_HOST_DEVICE constexpr int swizzled(int row, int chunk, int chunks) {
  return row * chunks + (chunks == 4 ? chunk ^ (row / 2 % 4) : chunk ^ (row % 8));
}

// ---- Hopper: tiles as the copy engine (TMA) writes them with the 128-byte swizzle, and as wgmma reads them ----

/// Depth of a stage: the bf16 elements of one 128-byte row in shared memory.
inline constexpr int kHopperDepth = 64;

/// The 128-byte swizzle: 16-byte chunk index (bits 4-6) XOR row index (bits 7-9). Tiles must be 1024-byte
/// aligned. Source: PTX ISA, tensor swizzling modes.
HONE_HOST_DEVICE constexpr uint32_t swizzle128(uint32_t byte) { return byte ^ (byte >> 3 & 0x70); }

/// Byte offset, in a stage's operand, of element (line, k) before the swizzle. With k contiguous: rows of 64
/// k, one per line. With lines contiguous (lines_inside): boxes of 64 rows of k, each 64 lines wide.
HONE_HOST_DEVICE constexpr uint32_t hopper_byte(bool lines_inside, uint32_t line, uint32_t k) {
  return lines_inside ? line / 64 * 8192 + k * 128 + line % 64 * 2 : line * 128 + k * 2;
}

/// wgmma's shared-memory matrix descriptor, with the 128-byte swizzle, for 16 k of an operand that starts at
/// `address`. With k contiguous the leading offset is unused, and the stride, from 8 lines to the next 8, is
/// 1024 bytes. With lines contiguous the leading offset, from 64 lines to the next 64, is 8192 bytes, and the
/// stride, from 8 k to the next 8, is 1024 bytes. Source: PTX ISA, wgmma matrix descriptor format; strides of
/// the canonical layouts.
HONE_HOST_DEVICE constexpr uint64_t hopper_descriptor(bool lines_inside, uint32_t address) {
  const uint64_t leading = lines_inside ? 8192 : 16, stride = 1024, mode128 = 1;
  return uint64_t(address & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode128 << 62;
}

/// Bytes between the descriptor addresses of consecutive groups of 16 k.
HONE_HOST_DEVICE constexpr uint32_t hopper_step(bool lines_inside) { return hopper_byte(lines_inside, 0, 16); }

}  // namespace hone::kernels::cuda
