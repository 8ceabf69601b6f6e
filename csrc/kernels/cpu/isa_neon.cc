#define HONE_ISA neon
#define HONE_NEON 1
#include "kernels/cpu/isa_list.inc"
