// Splitting columns into parts and joining them on a device, against plain loops. Mutation tests:
// test/mutants/csrc-kernels.json.
#include "kernels/columns.h"

#include "device.h"
#include "kernels/columns_cases.h"

namespace kernels_cuda_columns_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(columns_become_parts_and_parts_columns_for_any_shape) {
  NEEDS_DEVICE;
  for (const ColumnCase& c : column_cases()) {
    for (const bool joins : {false, true}) {
      const ColumnImages images = column_images(c, joins);
      const DeviceArray<std::byte> whole(images.whole), parts(images.parts);
      const ColumnPartsArgs args{.whole = c.whole(whole.data()), .widths = c.widths, .parts = c.view_of_parts(parts.data())};
      joins ? join_columns(device_stream(), args) : split_columns(device_stream(), args);
      EXPECT_TRUE(whole.download() == images.whole_after && parts.download() == images.parts_after);
    }
  }
}

/// Rows or parts are not aligned to vectors, though their columns are whole vectors.
TEST(columns_that_begin_off_a_vector_are_moved_too) {
  NEEDS_DEVICE;
  const ColumnCase c{DType::kBF16, 5, 2, {32, 16, 16}, 0, 5};
  for (const bool of_whole : {true, false}) {
    ColumnImages images = column_images(c, false);
    auto shifted = [&](std::vector<std::byte> bytes, bool moves) { return bytes.insert(bytes.begin(), moves ? 2 : 0, std::byte(7)), bytes; };
    const DeviceArray<std::byte> whole(shifted(images.whole, of_whole)), parts(shifted(images.parts, !of_whole));
    const int64_t first = of_whole ? 2 : 0;  // byte offset of the whole matrix
    split_columns(device_stream(), {.whole = c.whole(whole.data() + first), .widths = c.widths, .parts = c.view_of_parts(parts.data() + 2 - first)});
    EXPECT_TRUE(parts.download() == shifted(images.parts_after, !of_whole));
  }
}

}  // namespace kernels_cuda_columns_test
