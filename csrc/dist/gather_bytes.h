// Messages of any length, from everybody to everybody.
#pragma once

#include <string>
#include <vector>

#include "dist/communicator.h"

namespace hone::dist {

/// What every rank hands in, rank after rank. A collective, in the host's memory; takes P times the longest.
std::vector<std::string> gather_bytes(Communicator& ranks, const std::string& own);

}  // namespace hone::dist
