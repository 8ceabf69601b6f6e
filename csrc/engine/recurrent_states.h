// Memory of recurrent states: each sequence's own on the CPU, a fixed number of slots on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"

namespace hone::engine {

/// The recurrent states of one sequence, or of a group's prompt, of all layers.
struct RecurrentState {
  float* data = nullptr;    // in the engine's memory; null: there are none, or they are saved
  std::vector<float> host;  // on the CPU what `data` points to, on a GPU the saved numbers
  bool computes = false;    // the next step may read and write it; on a GPU it then keeps its slot

  bool empty() const { return data == nullptr && host.empty(); }
};

/// Gives states their memory. On a GPU there are `slots` slots; where a state needs one and none is free, one that does not
/// compute is saved to host memory, bit for bit, until it computes again. A state must not move in memory, except by move().
class RecurrentStates {
 public:
  /// floats: numbers of a state (ModelConfig::state_floats); 0: states stay empty. slots: at least as many as states compute at
  /// once. `stream` performs the copies. Throws kOutOfMemory.
  RecurrentStates(int64_t floats, int32_t slots, const Stream& stream);

  /// Makes the state zeros, and computing.
  void begin(RecurrentState& state);
  /// Makes `to`, which is empty, a copy of `from`, and computing.
  void copy(const RecurrentState& from, RecurrentState& to);
  /// Hands `from` over to `to`, which is empty, and makes it computing.
  void move(RecurrentState& from, RecurrentState& to);
  /// Makes the state computing, from where it was saved.
  void resume(RecurrentState& state);
  /// Ends that the state computes; it may now be saved.
  void rest(RecurrentState& state) { state.computes = false; }
  void discard(RecurrentState& state);

  /// How often a state was saved for want of a slot.
  int64_t saves() const { return saves_; }

 private:
  void make_room(RecurrentState& state);
  int32_t free_slot();
  int64_t bytes() const { return floats_ * int64_t(sizeof(float)); }

  int64_t floats_;
  Stream stream_;
  Arena memory_;  // on a GPU: slots, floats_ each
  float* base_ = nullptr;
  std::vector<RecurrentState*> owners_;  // of slots; null: free
  int64_t saves_ = 0;
};

/// Bytes of the slots on a GPU, and of as many states on the CPU.
int64_t recurrent_bytes(int64_t floats, int64_t slots);

}  // namespace hone::engine
