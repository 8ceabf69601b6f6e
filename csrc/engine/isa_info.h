// Names the instruction set that the kernels run with; modules above the engine do not see the kernels.
#pragma once

namespace hone::engine {

/// kernels::cpu::isa_name of the set in use. Throws kConfig if HONE_ISA asks for a set this CPU lacks.
const char* isa_in_use();

}  // namespace hone::engine
