#include "core/cpu_quota.h"

#include <algorithm>
#include <cmath>
#include <fstream>

namespace hone {
namespace {

/// CPUs that one control group's directory allows; infinity if it sets no limit or does not exist.
double allowed(const std::string& directory, bool unified) {
  double quota = 0, period = 0;  // both stay 0 if the file says "max" or -1
  if (unified) {
    std::ifstream(directory + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(directory + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(directory + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : HUGE_VAL;
}

}  // namespace

int cpu_quota(const std::string& groups, const std::string& mount) {
  std::ifstream list(groups);
  double least = HUGE_VAL;
  // each line is number:controllers:path; version 2 has no controllers
  for (std::string line; std::getline(list, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    std::string controllers(1, ',');  // GCC 12 warns of an overlap that is not there if operator+ is used
    controllers.append(line, first + 1, second - first - 1).push_back(',');
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",cpu,") == controllers.npos) continue;
    // The limits of parent groups also apply; inside a container only the mount itself may be visible.
    std::string path = line.substr(second + 1);
    for (;; path.resize(path.rfind('/'))) {
      least = std::min(least, allowed(mount + (unified ? "" : "/cpu") + path, unified));
      if (path.find('/') == path.npos) break;
    }
  }
  return least < 1e6 ? int(std::ceil(least)) : 0;
}

}  // namespace hone
