#include "core/error.h"

#include <cstdarg>
#include <cstdio>

namespace hone {

const char* code_name(Code code) {
  switch (code) {
    case Code::kShape: return "SHAPE";
    case Code::kConfig: return "CONFIG";
    case Code::kOutOfMemory: return "OUT_OF_MEMORY";
    case Code::kIo: return "IO";
    case Code::kFormat: return "FORMAT";
    case Code::kState: return "STATE";
    case Code::kAborted: return "ABORTED";
    case Code::kData: return "DATA";
    case Code::kNonFinite: return "NON_FINITE";
    case Code::kCuda: return "CUDA";
    case Code::kCollective: return "COLLECTIVE";
    case Code::kUnsupported: return "UNSUPPORTED";
    case Code::kInternal: return "INTERNAL";
  }
  return "INTERNAL";
}

void fail(Code code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  const int size = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  std::string message(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  std::vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  throw Error(code, std::move(message));
}

}  // namespace hone
