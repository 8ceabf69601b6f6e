// What the stand-in for libcublasLt recorded, and which failures it shall produce.
#pragma once

#include <cstdint>

struct FakeCublasLt {
  // alive: number of descriptors, layouts and preferences that were not destroyed
  int heuristics = 0, products = 0, alive = 0;
  uint32_t reduction_mask = 7;                  // of the last heuristic call
  uint64_t workspace_bytes = 0;
  int algorithms_found = 1, matmul_status = 0, create_status = 0;  // set by tests
};
extern "C" __attribute__((visibility("default"))) FakeCublasLt* fake_cublaslt();
