#pragma once

#include <ctime>

namespace hone::test {

/// Of this process so far: what else the machine does is no part of it.
inline double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace hone::test
