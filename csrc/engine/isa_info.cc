#include "engine/isa_info.h"

#include "kernels/cpu/dispatch.h"

namespace hone::engine {

const char* isa_in_use() { return kernels::cpu::isa_name(kernels::cpu::isa()); }

}  // namespace hone::engine
