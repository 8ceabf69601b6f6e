// Runs trainers that work together as threads of one process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dist/local_ranks.h"

namespace hone::test {

/// Runs `body` on one thread per rank. Returns what each rank threw: its message, or "ok".
inline std::vector<std::string> on_ranks(int size, const std::function<void(dist::Communicator&)>& body, LocalFault fault = {}) {
  return local_ranks(size, milliseconds(60'000), fault, [&](dist::Communicator& ranks, int) { body(ranks); });
}

}  // namespace hone::test
