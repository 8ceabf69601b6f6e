// Copies of 16-bit elements between two orders of columns, one element per thread.
#pragma once

#include <cstdint>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {

/// The two places of one element.
struct Move {
  uint16_t *one, *other;
};

/// Map: `width` elements per row, and at(row, column), which returns an element's places. Writes the first place of each if
/// kBack, otherwise the second.
template <class Map, bool kBack>
__global__ void __launch_bounds__(256) move_elements_kernel(Map map, int64_t items) {
  const Item item(map.width);
  if (item.index >= items) return;
  const Move at = map.at(int64_t(item.row), int(item.piece));
  if constexpr (kBack) *at.one = *at.other;
  else *at.other = *at.one;
}

template <bool kBack, class Map>
void move_elements(const Stream& stream, const Map& map, int64_t rows) {
  const int64_t items = rows * map.width;
  HONE_LAUNCH((move_elements_kernel<Map, kBack>), blocks_for(items, 256), 256, 0, stream, map, items);
}

}  // namespace hone::kernels::cuda
