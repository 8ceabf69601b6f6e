// Recurrent states on the CPU and in the slots of a device: copies, handing over, and saving where slots are short.
#include "engine/recurrent_states.h"

#include <array>

#include "core/device.h"
#include "device.h"

namespace engine_recurrent_states_test {

using namespace hone;
using namespace hone::engine;
using namespace hone::test;

namespace {

using Floats = std::vector<float>;

Floats values(const Stream& stream, const RecurrentState& state) {
  if (!state.data) return state.host;
  Floats out(3);
  download(stream, out.data(), state.data, 12);
  return out;
}

void fill(const Stream& stream, const RecurrentState& state, const Floats& floats) {
  upload(stream, state.data, floats.data(), 12);
  synchronize(stream);
}

void hand_states_around(const Stream& stream) {
  RecurrentStates states(3, 2, stream);
  RecurrentState prompt, first, last;
  states.begin(prompt);
  EXPECT_TRUE(values(stream, prompt) == (Floats{0, 0, 0}));
  fill(stream, prompt, {1, 2, 3});
  states.rest(prompt);
  states.copy(prompt, first);
  fill(stream, first, {4, 5, 6});
  states.move(prompt, last);
  EXPECT_TRUE(prompt.empty() && !prompt.computes && first.computes && last.computes);
  EXPECT_TRUE(values(stream, first) == (Floats{4, 5, 6}));
  EXPECT_TRUE(values(stream, last) == (Floats{1, 2, 3}));
  states.discard(first);
  EXPECT_TRUE(first.empty());
  states.begin(prompt);
  EXPECT_TRUE(values(stream, prompt) == (Floats{0, 0, 0}));
  EXPECT_EQ(states.saves(), int64_t(0));
}

}  // namespace

TEST(states_begin_as_zeros_or_copies_and_are_handed_over) {
  hand_states_around({});
  NEEDS_DEVICE;
  hand_states_around(device_stream());
}

TEST(without_a_free_slot_a_state_that_does_not_compute_is_saved_until_it_does) {
  NEEDS_DEVICE;
  const Stream stream = device_stream();
  RecurrentStates states(3, 2, stream);
  std::array<RecurrentState, 4> s;
  for (size_t i = 0; i < 3; ++i) {
    states.begin(s[i]);
    fill(stream, s[i], {float(i), 1, 2});
    states.rest(s[i]);
  }
  EXPECT_TRUE(!s[0].data && s[1].data && s[2].data);
  states.copy(s[0], s[3]);  // a copy of a saved state saves another
  EXPECT_TRUE(values(stream, s[3]) == (Floats{0, 1, 2}));
  states.resume(s[0]);
  EXPECT_THROWS(states.resume(s[1]), Code::kInternal);  // both slots compute
  states.rest(s[3]);
  states.resume(s[1]);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(values(stream, s[i]) == (Floats{float(i), 1, 2}));
  EXPECT_TRUE(values(stream, s[3]) == (Floats{0, 1, 2}));
  EXPECT_EQ(states.saves(), int64_t(4));
}

TEST(models_without_recurrent_states_have_none) {
  RecurrentStates states(0, 2, {});
  RecurrentState a, b;
  states.begin(a), states.copy(a, b), states.resume(b);
  EXPECT_TRUE(a.empty() && b.empty());
}

}  // namespace engine_recurrent_states_test
