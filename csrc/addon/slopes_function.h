// A custom objective's function in JavaScript, asked from the trainer's thread.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/worker.h"
#include "trainer/step.h"

namespace hone::addon {

/// Kept alive from read() to release(), both on the JavaScript thread; if that is torn down first, Node drops it.
class SlopesFunction {
 public:
  /// Reads the function `slopes` from a step's options; null if there is none. Throws kConfig for anything else.
  static std::shared_ptr<SlopesFunction> read(const Napi::Value& options);

  /// Trainer's thread: calls the function with copies of the request and waits for its answer. The function fills `out`
  /// and `losses` of its argument. Throws kState with its message if it throws, and if JavaScript is torn down; kShape
  /// for a detached array.
  void ask(Worker& worker, const trainer::SlopesRequest& request) const;
  void release(Napi::Env env);

 private:
  napi_ref function_ = nullptr;
};

}  // namespace hone::addon
