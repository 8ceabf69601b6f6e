#define HONE_ISA avx512
#include "kernels/cpu/isa_list.inc"
