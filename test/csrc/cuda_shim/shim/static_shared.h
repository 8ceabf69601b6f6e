// Finds the __shared__ variables of a program among its static variables.
#pragma once

#include <cstddef>
#include <vector>

namespace hone::cuda_shim {

/// Fills every __shared__ variable with `value`; does nothing without AddressSanitizer.
void poison_static_shared(unsigned char value);
/// Save the contents of all __shared__ variables, and load them: each block of a cluster has its own.
void save_static_shared(std::vector<unsigned char>& to);
void load_static_shared(const std::vector<unsigned char>& from);
/// Whether [p, p + bytes) lies in a __shared__ variable; without AddressSanitizer, whether it lies outside
/// global memory.
bool in_static_shared(const void* p, size_t bytes);

}  // namespace hone::cuda_shim
