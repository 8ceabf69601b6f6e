// A piece of a step: consecutive rows of one sequence or prompt.
#pragma once

#include <cstdint>

namespace hone::engine {

struct Group;
struct Sequence;

/// The single row of a decoding sequence, or a chunk of a prompt.
struct Piece {
  Group* group = nullptr;
  Sequence* sequence = nullptr;  // null for a chunk of the prompt
  const int32_t* ids = nullptr;
  int32_t rows = 1, position = 0, table_row = 0;
  int32_t samples = 1;  // tokens sampled from the last row; at the end of a prompt one per unfinished attempt
};

}  // namespace hone::engine
