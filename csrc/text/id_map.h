// A hash map from 64-bit keys to small values for inner loops: one flat array, no erasing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::text {

template <class Value>
class IdMap {
 public:
  IdMap() : slots_(16) {}

  /// Inserts a value unless the key has one; returns whether the key was new. `key` may be anything except
  /// kEmpty.
  bool insert(uint64_t key, Value value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.key == key) return false;
    slot = {key, value};
    ++size_;
    return true;
  }
  /// The key's value, or nullptr if it is absent; valid until the next insert.
  const Value* find(uint64_t key) const {
    const Slot& slot = slots_[place(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  size_t size() const { return size_; }

  static constexpr uint64_t kEmpty = ~uint64_t(0);

 private:
  struct Slot {
    uint64_t key = kEmpty;
    Value value{};
  };
  /// Index of the slot that holds the key, or of the free slot where it would be inserted.
  size_t place(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    uint64_t h = key * 0x9E3779B97F4A7C15ull;
    size_t at = size_t(h ^ h >> 32) & mask;
    while (slots_[at].key != key && slots_[at].key != kEmpty) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != kEmpty) slots_[place(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

/// One 64-bit key for a pair of ids.
inline uint64_t pair_key(int32_t first, int32_t second) { return uint64_t(uint32_t(first)) << 32 | uint32_t(second); }

}  // namespace hone::text
