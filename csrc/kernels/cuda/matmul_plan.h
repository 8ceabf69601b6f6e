// How a matrix product is divided into pieces on CUDA, and the layout of shared memory: pure functions of shapes, the
// same on host and device, so that they can be tested without a device.
#pragma once

#include <cstdint>

#include "core/host_device.h"

namespace hone::kernels::cuda {

HONE_HOST_DEVICE constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Pieces of K end at multiples of this, so that every tile depth (32, 64) divides all but the last.
inline constexpr int64_t kPieceGrain = 64;

/// Number of pieces into which the sum over K of a weight [n, k] is divided: each piece is one chain of the tensor
/// core's f32 accumulator, and the pieces are added in ascending order, starting from 0. Enough of them that a decode
/// step, in tiles of 64 columns, has two blocks for each of about 130 multiprocessors; none shorter than 512. Only the
/// weight's shape decides, never the number of rows: otherwise a row's bits would depend on its batch.
HONE_HOST_DEVICE constexpr int fixed_split_k(int64_t n, int64_t k) {
  int pieces = 1;
  while (pieces < 8 && ceil_div(n, 64) * pieces < 256 && k >= 1024 * int64_t(pieces)) pieces *= 2;
  return pieces;
}

/// Up to this many rows a forward product is limited by reading the weights: it has small tiles, and separate
/// blocks for the pieces of k. The choice of tile never changes the bits of an element.
inline constexpr int64_t kFewRows = 256;

struct Range { int64_t begin, end; };

/// Limit of the rows, columns, depth and blocks of a product: a device divides 32-bit numbers in a few
/// instructions, but calls a function for 64 bits.
inline constexpr int64_t kMostLines = (int64_t(1) << 31) - 1;

/// Piece i of `pieces` of [0, k), k <= kMostLines: equal but for the last, which may be shorter.
HONE_HOST_DEVICE constexpr Range piece_of(int64_t k, int pieces, int i) {
  const int64_t length = ceil_div(int64_t((uint32_t(k) + uint32_t(pieces) - 1) / uint32_t(pieces)), kPieceGrain) * kPieceGrain;
  const int64_t begin = i * length < k ? i * length : k, end = begin + length < k ? begin + length : k;
  return {begin, end};
}

struct TilePlace { uint32_t row, column; };

/// Place of tile `index` of a grid of tiles: down bands of 8 rows of tiles, so that blocks that run at the same time
/// share operands in the second-level cache.
HONE_HOST_DEVICE constexpr TilePlace tile_place(uint32_t index, uint32_t tile_rows, uint32_t tile_columns) {
  constexpr uint32_t kBand = 8;
  const uint32_t band = index / (kBand * tile_columns), first = band * kBand, rest = index % (kBand * tile_columns);
  const uint32_t height = tile_rows - first < kBand ? tile_rows - first : kBand;
  return {first + rest % height, rest / height};
}

/// First element and pieces of one block of a product [rows, columns] in tiles of tile_rows x tile_columns. When the
/// pieces are spread, each has blocks of its own; otherwise every block has all of them.
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

/// The k that a block walks.
HONE_HOST_DEVICE constexpr Range depth_of(int64_t k, int pieces, const BlockWork& work) {
  return {piece_of(k, pieces, work.first_piece).begin, piece_of(k, pieces, work.last_piece - 1).end};
}

/// Index of the 16-byte chunk (row, chunk) of a tile whose rows have `chunks` of them (4 or a multiple of 8):
/// exclusive-or of the chunk with the row, so that the eight rows ldmatrix reads at once lie in different banks.
HONE_HOST_DEVICE constexpr int swizzled(int row, int chunk, int chunks) {
  return row * chunks + (chunks == 4 ? chunk ^ (row / 2 % 4) : chunk ^ (row % 8));
}

// ---- Hopper: tiles as the copy engine writes them with the 128-byte swizzle, and as wgmma reads them ----

/// Depth of a stage, and elements of one 128-byte row in shared memory.
inline constexpr int kHopperDepth = 64;

/// The 128-byte swizzle: 16-byte chunk index (bits 4-6) exclusive-or row index (bits 7-9). Patterns start at 1024 bytes.
/// Source: PTX ISA, tensor swizzling modes.
HONE_HOST_DEVICE constexpr uint32_t swizzle128(uint32_t byte) { return byte ^ (byte >> 3 & 0x70); }

/// Byte in a stage's operand of element (line, k), before the swizzle. Depth inside: rows of 64 k, one per line.
/// Lines inside: boxes of 64 k-rows, each 64 lines wide.
HONE_HOST_DEVICE constexpr uint32_t hopper_byte(bool lines_inside, uint32_t line, uint32_t k) {
  return lines_inside ? line / 64 * 8192 + k * 128 + line % 64 * 2 : line * 128 + k * 2;
}

/// Shared-memory matrix descriptor of wgmma with the 128-byte swizzle for 16 k of an operand that starts at `address`.
/// Depth inside: the leading offset is unused, 8 lines to the next 8 are 1024 bytes. Lines inside: 64 lines to the
/// next 64 are 8192 bytes (leading), 8 k to the next 8 are 1024 (stride).
/// Source: PTX ISA, wgmma matrix descriptor format; strides of the canonical layouts.
HONE_HOST_DEVICE constexpr uint64_t hopper_descriptor(bool lines_inside, uint32_t address) {
  const uint64_t leading = lines_inside ? 8192 : 16, stride = 1024, mode128 = 1;
  return uint64_t(address & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode128 << 62;
}

/// Bytes between the addresses in the descriptors of one group of 16 k and the next.
HONE_HOST_DEVICE constexpr uint32_t hopper_step(bool lines_inside) { return hopper_byte(lines_inside, 0, 16); }

}  // namespace hone::kernels::cuda
