// IdMap compared with std::unordered_map on random keys and on keys that collide.
#include "text/id_map.h"

#include <unordered_map>

#include "check.h"

namespace text_id_map_test {

using namespace hone::test;
using hone::text::IdMap;
using hone::text::pair_key;

TEST(it_holds_what_a_standard_map_holds) {
  for (const int64_t span : {int64_t(50), int64_t(5000), INT64_MAX - 1}) {
    IdMap<int32_t> map;
    std::unordered_map<uint64_t, int32_t> reference;
    for (int32_t i = 0; i < 3000; ++i) {
      const uint64_t key = uint64_t(random_int(0, span));
      EXPECT_EQ(map.insert(key, i), reference.emplace(key, i).second);
      const uint64_t other = uint64_t(random_int(0, span));
      const auto wanted = reference.find(other);
      const int32_t* found = map.find(other);
      EXPECT_EQ(found == nullptr, wanted == reference.end());
      if (found && wanted != reference.end()) EXPECT_EQ(*found, wanted->second);
    }
    EXPECT_EQ(map.size(), reference.size());
    for (const auto& [key, value] : reference) EXPECT_TRUE(map.find(key) && *map.find(key) == value);
  }
}

TEST(keys_of_pairs_are_distinct) {
  EXPECT_TRUE(pair_key(1, 2) != pair_key(2, 1));
  EXPECT_TRUE(pair_key(0, INT32_MAX) != pair_key(1, 0));
  EXPECT_TRUE(pair_key(INT32_MAX, INT32_MAX) != IdMap<int>::kEmpty);
}

}  // namespace text_id_map_test
