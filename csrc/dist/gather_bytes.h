// Messages of any length from every rank to every rank.
#pragma once

#include <string>
#include <vector>

#include "dist/communicator.h"

namespace hone::dist {

/// Gathers one string per rank, in rank order. A collective in host memory; allocates P times the longest.
std::vector<std::string> gather_bytes(Communicator& ranks, const std::string& own);

}  // namespace hone::dist
