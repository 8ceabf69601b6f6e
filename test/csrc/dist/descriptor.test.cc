// Descriptor: which object owns a file descriptor, and when it is closed.
#include "dist/descriptor.h"

#include <fcntl.h>

#include "check.h"

namespace dist_descriptor_test {

using hone::dist::Descriptor;

namespace {

int open_one() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int value) { return fcntl(value, F_GETFD) != -1; }

}  // namespace

TEST(it_is_closed_once_by_whoever_had_it_last) {
  const int value = open_one();
  {
    Descriptor first(value), second;
    second = std::move(first);
    EXPECT_TRUE(!first && second);
    const Descriptor third(std::move(second));
    EXPECT_TRUE(!second && third && is_open(value));
    EXPECT_EQ(third.get(), value);
  }
  EXPECT_TRUE(!is_open(value));
}

TEST(another_takes_its_place_and_what_is_given_away_stays_open) {
  const int first = open_one(), second = open_one();
  Descriptor one(first);
  one.reset(second);
  EXPECT_TRUE(!is_open(first) && is_open(second));
  EXPECT_EQ(one.release(), second);
  EXPECT_TRUE(!one && is_open(second));
  one = Descriptor(second);
  one.reset();
  EXPECT_TRUE(!is_open(second));
}

}  // namespace dist_descriptor_test
