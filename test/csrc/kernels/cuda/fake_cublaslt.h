// What the stand-in for libcublasLt noted, and how it is told to fail.
#pragma once

#include <cstdint>

struct FakeCublasLt {
  int heuristics = 0, products = 0, alive = 0;  // alive: descriptions, layouts and preferences not given back
  uint32_t reduction_mask = 7;                  // of the last heuristic call
  uint64_t workspace_bytes = 0;
  int algorithms_found = 1, matmul_status = 0, create_status = 0;  // set by tests
};
extern "C" __attribute__((visibility("default"))) FakeCublasLt* fake_cublaslt();
