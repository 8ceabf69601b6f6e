// Gathers byte strings of any length from all ranks.
#pragma once

#include <string>
#include <vector>

#include "dist/communicator.h"

namespace hone::dist {

/// Gathers one string per rank, in rank order, on every rank. A collective in host memory; allocates P
/// (number of ranks) times the longest string's length.
std::vector<std::string> gather_bytes(Communicator& ranks, const std::string& own);

}  // namespace hone::dist
