// CPU time that a container may use.
#pragma once

#include <string>

namespace hone {

/// CPU limit of this process's control groups, in CPUs, rounded up; 0 if none sets a limit. The kernel would
/// throttle a process with more threads for the rest of every scheduling period.
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max), scheduler/sched-bwc.rst (cpu.cfs_quota_us).
int cpu_quota(const std::string& groups = "/proc/self/cgroup", const std::string& mount = "/sys/fs/cgroup");

}  // namespace hone
