// A custom objective's function in JavaScript, asked from the trainer's thread.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/worker.h"
#include "trainer/step.h"

namespace hone::addon {

/// Kept alive from read() to release(), both on the JavaScript thread; where that is torn down first, Node drops it.
class SlopesFunction {
 public:
  /// The function `slopes` among a step's options; null where there is none. Throws kConfig for anything else.
  static std::shared_ptr<SlopesFunction> read(const Napi::Value& options);

  /// Trainer's thread: calls it with copies of what is asked and waits for its answer. It fills `out` and `losses` of its
  /// argument. Throws kState with its message if it throws, and if JavaScript is torn down; kShape for an array that is
  /// no longer there.
  void ask(Worker& worker, const trainer::SlopesRequest& request) const;
  void release(Napi::Env env);

 private:
  napi_ref function_ = nullptr;
};

}  // namespace hone::addon
