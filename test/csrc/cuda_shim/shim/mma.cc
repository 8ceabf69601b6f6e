// Matrix products of one warp, which take a third of the time of emulated kernels.
#include <kernels/cuda/mma.cuh>

namespace hone::cuda_shim {
namespace {

struct WarpTile {
  double a[16][16], b[16][8], d[16][8];
};

double bf16_half(uint32_t pair, int half) { return double(bf16_to_f32(uint16_t(pair >> (16 * half)))); }

// Each sum adds in ascending k; eight sums are computed at a time, which changes no result.
__attribute__((optimize("O3"))) void multiply_tile(WarpTile& t) {
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) {
      for (int j = 0; j < 8; ++j) t.d[i][j] += t.a[i][k] * t.b[k][j];
    }
  }
}

void read_fragments(const MatrixMultiply& m, int g, int t, WarpTile& tile) {
  for (int i = 0; i < 4; ++i) {
    for (int half = 0; half < 2; ++half) {
      tile.a[g + i % 2 * 8][2 * t + half + i / 2 * 8] = bf16_half(m.a[i], half);
      if (i < 2) tile.b[2 * t + half + i * 8][g] = bf16_half(m.b[i], half);
      tile.d[g + i / 2 * 8][2 * t + half] = double(m.d[i / 2 * 2 + half]);
    }
  }
}

}  // namespace

void multiply_16816(void* const* lanes, unsigned) {
  WarpTile tile;
  for (int lane = 0; lane < 32; ++lane) read_fragments(*static_cast<MatrixMultiply*>(lanes[lane]), lane / 4, lane % 4, tile);
  multiply_tile(tile);
  for (int lane = 0; lane < 32; ++lane) {
    float* const d = static_cast<MatrixMultiply*>(lanes[lane])->d;
    for (int i = 0; i < 4; ++i) d[i] = float(tile.d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
  }
}

}  // namespace hone::cuda_shim
