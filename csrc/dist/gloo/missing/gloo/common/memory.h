// Gloo's headers of a connection include this one, and no installation of Gloo has it (2018 to 2025). Found only where that is
// so. Nothing here uses these types: they take the place, by size, of those that a connection is laid out with.
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
