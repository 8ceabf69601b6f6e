#include "kernels/cpu/columns.h"

#include <cstddef>
#include <cstring>

namespace hone::kernels::cpu {
namespace {

constexpr int64_t kShareGrain = 256;  // smallest number of rows that one thread copies

std::byte* row_bytes_at(const TensorView& view, int64_t row) {
  return view.as<std::byte>() + row * view.row_stride * dtype_bytes(view.dtype);
}

/// Calls move(address in the whole, address in the part, bytes) for each row and group, part by part.
template <class Move>
void for_shares(const Stream& stream, const ColumnPartsArgs& args, const Move& move) {
  const int64_t P = args.parts.dim(0), element = dtype_bytes(args.whole.dtype), part_row = args.whole.dim(1) / P * element;
  for (int64_t p = 0; p < P; ++p) {
    std::byte* const part = row_bytes_at(args.parts, p);
    stream.parallel_for(args.whole.dim(0), kShareGrain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        std::byte *in_whole = row_bytes_at(args.whole, row), *in_part = part + row * part_row;
        for (const int64_t group : args.widths) {
          const int64_t bytes = group / P * element;
          move(in_whole + p * bytes, in_part, size_t(bytes));
          in_whole += group * element, in_part += bytes;
        }
      }
    });
  }
}

}  // namespace

void split_columns(const Stream& stream, const ColumnPartsArgs& args) {
  for_shares(stream, args, [](const std::byte* whole, std::byte* part, size_t bytes) { std::memcpy(part, whole, bytes); });
}

void join_columns(const Stream& stream, const ColumnPartsArgs& args) {
  for_shares(stream, args, [](std::byte* whole, const std::byte* part, size_t bytes) { std::memcpy(whole, part, bytes); });
}

}  // namespace hone::kernels::cpu
