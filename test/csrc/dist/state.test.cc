// The names of states, and the error code of a call in the wrong state.
#include "dist/state.h"

#include <set>

#include "outcomes.h"

namespace dist_state_test {

using namespace hone;
using namespace hone::dist;
using namespace hone::test;

TEST(every_state_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (int k = 0; k <= int(State::kClosed); ++k) names.insert(state_name(State(k)));
  EXPECT_EQ(names.size(), size_t(State::kClosed) + 1);
  EXPECT_EQ(names.count("?"), size_t(0));
}

TEST(a_wrong_state_is_named_with_what_led_to_it) {
  require_state(State::kReady, State::kReady, "wait", "nothing");
  EXPECT_EQ(outcome([] { require_state(State::kAborted, State::kReady, "wait", "a signal"); }),
            std::string("ABORTED wait: the communicator is aborted, not ready: a signal."));
  EXPECT_EQ(outcome([] { require_state(State::kClosed, State::kReady, "wait", ""); }),
            std::string("STATE wait: the communicator is closed, not ready."));
}

}  // namespace dist_state_test
