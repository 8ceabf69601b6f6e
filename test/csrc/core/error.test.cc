// Every code has a name; messages are formatted completely, whatever their length.
#include "core/error.h"

#include <set>

#include "check.h"

namespace core_error_test {

using namespace hone;
using namespace hone::test;

TEST(a_message_of_any_length_arrives) {
  const std::string word(5000, 'x');
  try {
    fail(Code::kIo, "%s: %d of %.1f", word.c_str(), 3, 4.5);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kIo);
    EXPECT_EQ(std::string(e.what()), word + ": 3 of 4.5");
  }
  EXPECT_THROWS(fail(Code::kState, "%s", ""), Code::kState);
}

TEST(every_code_has_its_own_name) {
  std::set<std::string> names;
  for (int code = 0; code <= int(Code::kInternal); ++code) names.insert(code_name(Code(code)));
  EXPECT_EQ(names.size(), size_t(Code::kInternal) + 1);
}

}  // namespace core_error_test
