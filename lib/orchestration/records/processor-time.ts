import { readFileSync } from "node:fs";

/** Linux reports processor time to programs in ticks; every machine has this many per second. */
const TICKS = 100;

/** Processor time of a run's process and its child processes between two readings. */
export class ProcessorTime {
  /** Seconds by process, as of the last look. */
  #before = new Map<number, number>();

  constructor() {
    this.#before.set(process.pid, ownSeconds());
  }

  /**
   * Processor seconds since the last reading of this process, of those among `others` that are its children, and of
   * their finished child processes. A new process counts from now on. Undefined if the system reports none of them
   * (it is not Linux).
   */
  since(others: readonly number[]): number | undefined {
    const now = new Map([[process.pid, ownSeconds()]]);
    for (const pid of others) {
      const seconds = secondsOf(pid);
      if (seconds !== undefined) now.set(pid, seconds);
    }
    const before = this.#before;
    this.#before = now;
    if (others.length > 0 && now.size === 1) return undefined;
    let sum = 0;
    for (const [pid, seconds] of now) sum += seconds - (before.get(pid) ?? seconds);
    return sum;
  }
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Returns undefined also for a process that is not a child of this one, because its id may belong to another machine. */
function secondsOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // the name may contain any character; after it come the state (field 3), the parent and numbers, of which 14 to 17
    // are times
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (Number(fields[1]) !== process.pid) return undefined;
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
  } catch {
    return undefined; // the process has ended, or the system has no /proc
  }
}
