// Replaces the CUDA toolkit's header on machines without a GPU: the same .cu sources, compiled by the host's compiler,
// run with one fiber per CUDA thread (docs/explanation/cuda-kernels.md). Only for tests.
#pragma once

#include "shim/types.h"
// in this order
#include "shim/machine.h"
// in this order
#include "shim/intrinsics.h"
#include "shim/runtime.h"
