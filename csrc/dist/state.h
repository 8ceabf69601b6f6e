// State of a communicator.
#pragma once

#include <cstdint>
#include <string>

namespace hone::dist {

/// uninitialised -> initialising -> ready -> closed. An error or a time-out leads to failed, abort() to
/// aborted; in both states all resources are already released and only close() is allowed.
enum class State : uint8_t { kUninitialised, kInitialising, kReady, kFailed, kAborted, kClosed };
const char* state_name(State state);

/// Throws unless `state` is `wanted`: kAborted if it is kAborted, otherwise kState. `why`: cause of a failed
/// or aborted state, for the message.
void require_state(State state, State wanted, const char* what, const std::string& why);

}  // namespace hone::dist
