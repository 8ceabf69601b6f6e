#pragma once

#include <ctime>

namespace hone::test {

/// The processor time of this process so far, whatever else the machine does.
inline double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace hone::test
