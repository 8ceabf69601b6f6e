// Gloo's connection headers include this file, but no installation of Gloo has it (2018 to 2025). Used only if it is
// missing. Its types are not used: they only have the sizes needed for a connection's memory layout.
#pragma once

#include <memory>

namespace gloo {

template <class T>
class NonOwningPtr {
  std::shared_ptr<T> pointer_;
};

template <class T>
class WeakNonOwningPtr {
  std::weak_ptr<T> pointer_;
};

}  // namespace gloo
