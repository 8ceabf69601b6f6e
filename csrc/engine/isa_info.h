// Names the instruction set that the CPU kernels use, for modules above the engine, which do not include
// kernel headers.
#pragma once

namespace hone::engine {

/// kernels::cpu::isa_name of the instruction set in use. Throws kConfig if HONE_ISA names one that this CPU
/// lacks.
const char* isa_in_use();

}  // namespace hone::engine
