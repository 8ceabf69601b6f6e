// Stands in for the CUDA toolkit's header where there is no GPU: the same .cu sources, compiled by the host's
// compiler, run one fiber per CUDA thread (docs/how-to/cuda.md). Test only.
#pragma once

#include "shim/types.h"
// in this order
#include "shim/machine.h"
// in this order
#include "shim/intrinsics.h"
#include "shim/runtime.h"
