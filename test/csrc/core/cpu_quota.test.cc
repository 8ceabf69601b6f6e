// CPU limits of control groups of versions 1 and 2, from files in the kernel's format. Faults put into the
// code: rounded down; parents ignored; version 1's controllers confused ("cpuset" taken for "cpu"); the
// largest limit instead of the smallest. Each is detected.
#include "core/cpu_quota.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "check.h"

namespace core_cpu_quota_test {

using namespace hone;

namespace {

namespace fs = std::filesystem;

/// Temporary files in place of /proc/self/cgroup and /sys/fs/cgroup.
struct Machine {
  const fs::path root = fs::temp_directory_path() / ("hone-quota-" + std::to_string(::getpid()));
  explicit Machine(const std::string& groups) { put("groups", groups); }
  ~Machine() { fs::remove_all(root); }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  int quota() const { return cpu_quota((root / "groups").string(), (root / "mount").string()); }
};

}  // namespace

TEST(version_two_counts_quota_over_period_rounded_up) {
  const Machine machine("0::/\n");
  EXPECT_EQ(machine.quota(), 0);  // there is no file
  const struct { const char* text; int cpus; } cases[] = {
      {"max 100000\n", 0}, {"100000 100000\n", 1}, {"150000 100000\n", 2}, {"20000 100000\n", 1}, {"800000 50000\n", 16}, {"", 0}};
  for (const auto& c : cases) {
    machine.put("mount/cpu.max", c.text);
    EXPECT_EQ(machine.quota(), c.cpus);
  }
}

TEST(the_tightest_of_a_group_and_its_parents_holds) {
  const Machine machine("0::/pod/container\n");
  machine.put("mount/pod/container/cpu.max", "400000 100000\n");
  EXPECT_EQ(machine.quota(), 4);
  machine.put("mount/pod/cpu.max", "200000 100000\n");
  EXPECT_EQ(machine.quota(), 2);
  machine.put("mount/cpu.max", "300000 100000\n");
  EXPECT_EQ(machine.quota(), 2);
}

TEST(version_one_is_read_where_the_cpu_controller_is) {
  const Machine machine("5:cpuset:/wrong\n4:cpu,cpuacct:/docker/1\n0::/\n");
  machine.put("mount/cpu/wrong/cpu.cfs_quota_us", "100000\n");
  machine.put("mount/cpu/wrong/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.quota(), 0);
  machine.put("mount/cpu/cpu.cfs_quota_us", "-1\n");
  machine.put("mount/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.quota(), 0);
  machine.put("mount/cpu/docker/1/cpu.cfs_quota_us", "250000\n");
  machine.put("mount/cpu/docker/1/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.quota(), 3);
}

TEST(what_cannot_be_read_limits_nothing) {
  EXPECT_EQ(cpu_quota("/nowhere", "/nowhere"), 0);
  EXPECT_EQ(Machine("nonsense\n0:\n").quota(), 0);
}

}  // namespace core_cpu_quota_test
