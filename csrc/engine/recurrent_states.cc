#include "engine/recurrent_states.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/device.h"
#include "core/error.h"

namespace hone::engine {
namespace {

void resize_state(std::vector<float>& state, int64_t floats) {
  try {
    state.resize(size_t(floats));
  } catch (const std::bad_alloc&) {
    fail(Code::kOutOfMemory, "engine: no memory for a recurrent state of %.3g MB. Lower engine.maxRunning.", double(floats) * 4e-6);
  }
}

}  // namespace

int64_t recurrent_bytes(int64_t floats, int64_t slots) { return slots * floats * int64_t(sizeof(float)); }

RecurrentStates::RecurrentStates(int64_t floats, int32_t slots, const Stream& stream) : floats_(floats), stream_(stream) {
  if (!stream.is_cuda() || floats == 0) return;
  memory_ = Arena(recurrent_bytes(floats, slots), "recurrent states (lower engine.maxRunning)", Memory::kDevice);
  base_ = memory_.take_array<float>(floats * slots);
  owners_.resize(size_t(slots));
}

void RecurrentStates::begin(RecurrentState& state) {
  if (floats_ == 0) return;
  make_room(state);
  zero(stream_, state.data, bytes());
}

void RecurrentStates::copy(const RecurrentState& from, RecurrentState& to) {
  if (floats_ == 0) return;
  make_room(to);  // which may save `from`
  if (from.data) hone::copy(stream_, to.data, from.data, bytes());
  else upload(stream_, to.data, from.host.data(), bytes());
}

void RecurrentStates::move(RecurrentState& from, RecurrentState& to) {
  std::swap(from, to);
  for (RecurrentState*& owner : owners_) owner = owner == &from ? &to : owner;
  from.computes = false;
  resume(to);
}

void RecurrentStates::resume(RecurrentState& state) {
  if (floats_ == 0) return;
  if (!state.data) {
    make_room(state);
    upload(stream_, state.data, state.host.data(), bytes());
    state.host = {};
  }
  state.computes = true;
}

void RecurrentStates::discard(RecurrentState& state) {
  std::replace(owners_.begin(), owners_.end(), &state, static_cast<RecurrentState*>(nullptr));
  state = {};
}

void RecurrentStates::make_room(RecurrentState& state) {
  if (!stream_.is_cuda()) {
    resize_state(state.host, floats_);
    state.data = state.host.data();
  } else if (!state.data) {
    const int32_t slot = free_slot();
    owners_[size_t(slot)] = &state;
    state.data = base_ + slot * floats_;
  }
  state.computes = true;
}

int32_t RecurrentStates::free_slot() {
  auto slot = std::find(owners_.begin(), owners_.end(), nullptr);
  if (slot == owners_.end()) {
    slot = std::find_if(owners_.begin(), owners_.end(), [](const RecurrentState* state) { return !state->computes; });
    if (slot == owners_.end()) fail(Code::kInternal, "recurrent states: all %zu compute, and another is needed", owners_.size());
    RecurrentState& saved = **slot;
    resize_state(saved.host, floats_);
    download(stream_, saved.host.data(), saved.data, bytes());
    saved.data = nullptr;
    ++saves_;
  }
  return int32_t(slot - owners_.begin());
}

}  // namespace hone::engine
