#define HONE_ISA avx2
#include "kernels/cpu/isa_list.inc"
