// Splitting columns into parts and joining them, against plain loops. Mutation tests:
// test/mutants/csrc-kernels.json.
#include "kernels/columns.h"

#include <cstring>

#include "columns_cases.h"
#include "each_isa.h"

namespace kernels_columns_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(columns_become_parts_and_parts_columns_for_any_shape) {
  for (const ColumnCase& c : column_cases()) {
    for (const bool joins : {false, true}) {
      const ColumnImages images = column_images(c, joins);
      for (const Stream& stream : {Stream{}, two_threads()}) {
        std::vector<std::byte> whole = images.whole, parts = images.parts;
        const ColumnPartsArgs args{.whole = c.whole(whole.data()), .widths = c.widths, .parts = c.view_of_parts(parts.data())};
        joins ? join_columns(stream, args) : split_columns(stream, args);
        EXPECT_TRUE(whole == images.whole_after && parts == images.parts_after);
      }
    }
  }
}

TEST(columns_that_do_not_fit_their_parts_are_refused) {
  std::vector<float> x(64);
  std::vector<double> wide(64);
  const auto refused = [&](const TensorView& whole, const std::vector<int64_t>& widths, const TensorView& parts) {
    EXPECT_THROWS(split_columns({}, {.whole = whole, .widths = widths, .parts = parts}), Code::kShape);
    EXPECT_THROWS(join_columns({}, {.whole = whole, .widths = widths, .parts = parts}), Code::kShape);
  };
  const TensorView whole = f32(x.data(), {4, 8}), parts = f32(x.data(), {2, 16});
  split_columns({}, {.whole = whole, .widths = {4, 2, 2}, .parts = parts});
  refused(whole, {4, 2}, parts);                                            // two columns belong to no group
  // groups of odd width cannot be halved
  refused(whole, {5, 3}, parts);
  refused(whole, {8, 0}, parts);                                            // a group without columns
  refused(whole, {}, parts);
  // more groups than a kernel supports
  refused(whole, {2, 2, 2, 2}, parts);
  // parts have memory for fewer rows
  refused(whole, {8}, f32(x.data(), {2, 12}));
  refused(whole, {8}, f32(x.data(), {0, 16}));
  refused(whole, {8}, {x.data(), DType::kBF16, {2, 16}});
  refused({wide.data(), DType::kF64, {4, 8}}, {8}, {wide.data(), DType::kF64, {2, 16}});
  // an empty matrix
  split_columns({}, {.whole = f32(x.data(), {0, 8}), .widths = {8}, .parts = f32(x.data(), {2, 0})});
}

}  // namespace kernels_columns_test
