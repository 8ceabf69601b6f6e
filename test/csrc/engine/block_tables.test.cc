// BlockTables: which rows it assigns, and their contents. Faults put into the code, each detected: a row's
// pages written at the start of the table; a closed row not assigned again; a row closed twice.
#include "engine/block_tables.h"

#include <set>

#include "check.h"

namespace engine_block_tables_test {

using namespace hone;
using namespace hone::engine;

TEST(a_row_begins_with_its_pages_and_other_rows_stay_as_they_are) {
  BlockTables tables(4, 3);
  const int32_t a = tables.open({5, 6}), b = tables.open({7}), c = tables.open({1, 2, 3});
  EXPECT_EQ(tables.view().shape[0], int64_t(4));
  EXPECT_EQ(tables.view().shape[1], int64_t(3));
  tables.set(b, 1, 8);
  tables.set(b, 2, 9);
  const TensorView view = tables.view();
  const int32_t wanted[3][3] = {{5, 6, 0}, {7, 8, 9}, {1, 2, 3}}, rows[3] = {a, b, c};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) EXPECT_EQ(view.row<int32_t>(rows[i])[k], wanted[i][k]);
  }
}

TEST(every_row_is_given_out_once_until_it_is_closed) {
  BlockTables tables(5, 1);
  std::vector<int32_t> rows;
  for (int32_t i = 0; i < 5; ++i) rows.push_back(tables.open({i}));
  EXPECT_TRUE(std::set<int32_t>(rows.begin(), rows.end()) == (std::set<int32_t>{0, 1, 2, 3, 4}));
  const int32_t second = rows[1], fourth = rows[3];
  tables.close(rows[1]);
  EXPECT_EQ(rows[1], -1);
  tables.close(rows[1]);  // closing a row twice has no effect
  tables.close(rows[3]);
  rows[1] = tables.open({10});
  rows[3] = tables.open({11});
  EXPECT_TRUE((std::set<int32_t>{rows[1], rows[3]}) == (std::set<int32_t>{second, fourth}));
  EXPECT_EQ(tables.view().row<int32_t>(rows[3])[0], 11);
}

}  // namespace engine_block_tables_test
