// State of a communicator.
#pragma once

#include <cstdint>
#include <string>

namespace hone::dist {

/// uninitialised -> initialising -> ready -> closed. A fault or a time-out leads to failed, abort() to aborted; both
/// have released everything already, and close() is all they still take.
enum class State : uint8_t { kUninitialised, kInitialising, kReady, kFailed, kAborted, kClosed };
const char* state_name(State state);

/// Throws kAborted (for an aborted one) or kState unless `state` is the wanted one. `why`: cause of a failed or aborted
/// state.
void require_state(State state, State wanted, const char* what, const std::string& why);

}  // namespace hone::dist
