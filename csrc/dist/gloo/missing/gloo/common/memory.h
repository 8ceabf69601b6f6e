// Stands in for a header that Gloo's connection headers include but no installation of Gloo has (2018 to
// 2025). Used only if it is missing. Its classes have only the sizes that the memory layout of a connection
// needs; nothing uses them.
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
