// Replaces the CUDA toolkit's header on machines without a GPU, for tests: the host's compiler compiles the
// same .cu sources, and every CUDA thread runs as a fiber (docs/explanation/cuda-kernels.md).
#pragma once

#include "shim/types.h"
// must be included before the next header
#include "shim/machine.h"
// must be included before the next header
#include "shim/intrinsics.h"
#include "shim/runtime.h"
