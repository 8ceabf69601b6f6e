// A custom objective written in JavaScript, which the trainer's thread calls.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/worker.h"
#include "trainer/step.h"

namespace hone::addon {

/// A reference to the function, held from read() to release(), both on the JavaScript thread; if JavaScript
/// is torn down first, Node drops the reference.
class SlopesFunction {
 public:
  /// Reads the function `slopes` from a step's options; returns null if there is none. Throws kConfig for any
  /// other value.
  static std::shared_ptr<SlopesFunction> read(const Napi::Value& options);

  /// Called on the trainer's thread: calls the function with copies of the request and waits for it. The
  /// function fills `out` and `losses` of its argument. Throws kState with the function's message if it
  /// throws, kState if JavaScript is torn down, kShape for a detached array.
  void ask(Worker& worker, const trainer::SlopesRequest& request) const;
  void release(Napi::Env env);

 private:
  napi_ref function_ = nullptr;
};

}  // namespace hone::addon
