// Forks a process for each run from the one that is already there, so that a start costs a copy of page tables.
#pragma once

#include <cstdint>
#include <span>

namespace hone::sandbox {

/// Makes this process a server of runs, until its standard input ends, which ends it. Returns in the process of each run
/// only: a copy of the caller with the job on descriptor 0, the run's output on 1 and 2 and its report on 3, with every
/// other descriptor replaced by /dev/null, limits on processor time and memory, and `filter` for its system calls. Returns
/// the ceiling of memory in bytes that the request names. The caller does the job and ends with `_exit`.
///
/// On descriptor 0 come requests, on 1 go results, little-endian, as lib/sandbox/zygote.ts writes and reads them.
/// A run is killed when its time is over (without that in which it waited for a processor, up to `starved_times` its
/// limit on the clock), when it writes more than it may, when it is called off, and when the server ends.
///
/// Nothing of one run is ever in the memory of another: what the server holds of it is in memory that is not copied.
/// The other threads of this process must have nothing left to do but sleep; that is waited for.
/// filter: array of at least one `sock_filter`; no run goes without · starved_times: see python-sandbox.ts
/// Prints to descriptor 2 and ends the process where the system refuses something, and before the first run where the
/// filter is empty or is not made of whole steps.
uint64_t serve_programs(std::span<const uint8_t> filter, uint32_t starved_times);

}  // namespace hone::sandbox
