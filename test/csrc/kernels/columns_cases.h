// Cases for splitting and joining columns, with the expected memory contents computed by plain loops.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "check.h"
#include "core/tensor.h"

namespace hone::test {

struct ColumnCase {
  DType dtype;
  int64_t rows, parts;
  std::vector<int64_t> widths;
  // gap: elements between rows of the whole; a part has memory for rows_of_part rows
  int64_t gap, rows_of_part;

  int64_t width() const {
    int64_t sum = 0;
    for (const int64_t group : widths) sum += group;
    return sum;
  }
  int64_t stride() const { return width() + gap; }
  int64_t part_stride() const { return rows_of_part * width() / parts; }
  TensorView whole(void* memory) const { return strided({memory, dtype, {rows, width()}}, stride()); }
  TensorView view_of_parts(void* memory) const { return strided({memory, dtype, {parts, rows * width() / parts}}, part_stride()); }

 private:
  static TensorView strided(TensorView view, int64_t stride) {
    view.row_stride = stride;
    return view;
  }
};

/// Cases with 2-byte and 4-byte elements; with column groups of whole vectors, of unaligned vectors, and of
/// single elements; with parts that have memory for more rows; with one row, one part and one group.
inline std::vector<ColumnCase> column_cases() {
  std::vector<ColumnCase> out;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const int64_t rows : {1, 3, 300}) {
      out.push_back({dtype, rows, 2, {64, 32, 32}, 0, rows});
      out.push_back({dtype, rows, 4, {128, 32, 32}, 8, rows + 1});
      out.push_back({dtype, rows, 2, {16, 8}, 5, rows});
      out.push_back({dtype, rows, 3, {9, 3, 6}, 0, rows + 2});
      out.push_back({dtype, rows, 4, {64}, 0, rows});
      out.push_back({dtype, rows, 1, {7}, 1, rows});
    }
  }
  return out;
}

/// The bytes of whole and parts before (random) and after. Bytes that are not copied stay unchanged.
struct ColumnImages {
  std::vector<std::byte> whole, parts, whole_after, parts_after;
};
inline ColumnImages column_images(const ColumnCase& c, bool joins) {
  const int64_t element = dtype_bytes(c.dtype);
  const auto drawn = [](int64_t bytes) {
    std::vector<std::byte> out(static_cast<size_t>(bytes));
    for (std::byte& x : out) x = std::byte(random_int(0, 255));
    return out;
  };
  ColumnImages out{drawn(c.rows * c.stride() * element), drawn(c.parts * c.part_stride() * element), {}, {}};
  out.whole_after = out.whole, out.parts_after = out.parts;
  for (int64_t row = 0; row < c.rows; ++row) {
    int64_t first = 0, before = 0;  // first column of the group in the whole matrix, and in a part
    for (const int64_t group : c.widths) {
      for (int64_t column = 0; column < group; ++column) {
        const int64_t share = group / c.parts, p = column / share;
        const int64_t in_whole = (row * c.stride() + first + column) * element;
        const int64_t in_part = (p * c.part_stride() + row * (c.width() / c.parts) + before + column % share) * element;
        if (joins) std::memcpy(&out.whole_after[size_t(in_whole)], &out.parts[size_t(in_part)], size_t(element));
        else std::memcpy(&out.parts_after[size_t(in_part)], &out.whole[size_t(in_whole)], size_t(element));
      }
      first += group, before += group / c.parts;
    }
  }
  return out;
}

}  // namespace hone::test
