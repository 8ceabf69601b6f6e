#include "dist/state.h"

#include "core/error.h"

namespace hone::dist {

const char* state_name(State state) {
  switch (state) {
    case State::kUninitialised: return "uninitialised";
    case State::kInitialising: return "initialising";
    case State::kReady: return "ready";
    case State::kFailed: return "failed";
    case State::kAborted: return "aborted";
    case State::kClosed: return "closed";
  }
  return "?";
}

void require_state(State state, State wanted, const char* what, const std::string& why) {
  if (state == wanted) return;
  const Code code = state == State::kAborted ? Code::kAborted : Code::kState;
  fail(code, "%s: the communicator is %s, not %s%s%s.", what, state_name(state), state_name(wanted), why.empty() ? "" : ": ",
       why.c_str());
}

}  // namespace hone::dist
