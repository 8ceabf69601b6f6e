// HONE_HOST_DEVICE marks functions for both host and GPU: nvcc compiles them for both; g++ sees plain
// functions.
#pragma once

#ifdef __CUDACC__
#define HONE_HOST_DEVICE __host__ __device__
#else
#define HONE_HOST_DEVICE
#endif
