#define HONE_ISA baseline
#include "kernels/cpu/isa_list.inc"
