// Forks a process for each run from one that is already initialised, so that a start costs a copy of page tables.
#pragma once

#include <cstdint>
#include <span>

namespace hone::sandbox {

/// Makes this process a server of runs until its standard input ends, which ends the process. Returns only in
/// the process of a run: a copy of the caller with the job on descriptor 0, the run's output on 1 and 2 and
/// its report on 3, every other descriptor replaced by /dev/null, limits on processor time and memory, and
/// `filter` for its system calls. Returns the limit of memory in bytes that the request names. The caller
/// runs the job and ends with `_exit`.
///
/// Requests come on descriptor 0 and results go to 1, little-endian, in the format of lib/sandbox/zygote.ts.
/// A run is killed when its time is over (time in which it waited for a processor does not count), when
/// `starved_times` times its limit has passed on the clock (its end is then "lost", which is no verdict),
/// when it writes more than it may, when it is called off, and when the server ends.
///
/// No run finds data of another in its memory, because the server keeps them in memory that a fork does not
/// copy. Waits until all other threads of this process sleep. filter: array of at least one `sock_filter`,
/// which every run gets · starved_times: see python-sandbox.ts. Prints to descriptor 2 and ends the process
/// if the system refuses something, and before the first run if the filter is empty or not of whole steps.
uint64_t serve_programs(std::span<const uint8_t> filter, uint32_t starved_times);

}  // namespace hone::sandbox
