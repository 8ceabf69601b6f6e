// The log of kernel launches and copies, in order.
#include <algorithm>

#include "shim/machine_state.h"

namespace hone::cuda_shim {

LaunchLog::LaunchLog(bool run) : run(run) { machine().log = this; }
LaunchLog::~LaunchLog() { machine().log = nullptr; }

bool note_launch(const char* name, bool early) {
  LaunchLog* const log = machine().log;
  if (!log) return true;
  std::string plain(name[0] == '(' ? name + 1 : name);
  plain.resize(std::min(plain.size(), plain.find_first_of("<)")));
  log->names.push_back(plain + (early ? "+" : ""));
  return log->run;
}

}  // namespace hone::cuda_shim
