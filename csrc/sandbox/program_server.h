// Runs each program in a process forked from one that is already initialised, so that a start only copies
// page tables.
#pragma once

#include <cstdint>
#include <span>

namespace hone::sandbox {

/// Turns this process into a server that forks a process for each run. When standard input ends, the server
/// ends its process. The function returns only in the process of a run: a copy of the caller with the job on
/// descriptor 0, output on 1 and 2 and report on 3, every other descriptor replaced by /dev/null, limits on
/// processor time and memory, and `filter` applied to its system calls. It returns the memory limit in bytes
/// that the request names. The caller then runs the job and ends with `_exit`.
///
/// Requests arrive on descriptor 0 and results go to descriptor 1, little-endian, in the format of
/// lib/sandbox/zygote.ts. The server kills a run when its time limit has passed (waiting for a processor does
/// not count), when `starved_times` times its limit has passed in wall time (its result is then "lost", which
/// is no verdict), when it writes more than its limit, when the host calls it off, and when the server ends.
///
/// No run finds the data of another run in its memory, because the server keeps all data in memory that a
/// fork does not copy. The server first waits until all other threads of its process sleep. filter: array of
/// at least one `sock_filter`, applied to every run · starved_times: see python-sandbox.ts. If the system
/// refuses an operation, or the filter is empty or not a whole number of instructions, the server prints to
/// descriptor 2 and ends the process.
uint64_t serve_programs(std::span<const uint8_t> filter, uint32_t starved_times);

}  // namespace hone::sandbox
