import { readFileSync } from "node:fs";

/** Ticks a second in which Linux counts processor time for programs, on every machine. */
const TICKS = 100;

/** Processor time of a run's process and of those it has started, from one look to the next. */
export class ProcessorTime {
  /** Seconds by process, as of the last look. */
  #before = new Map<number, number>();

  constructor() {
    this.#before.set(process.pid, ownSeconds());
  }

  /**
   * Processor seconds since the last look of this process and of those among `others` that are its children, with what
   * their own children took that have ended. One that is new begins to count; one that is gone no more. Undefined where
   * the system tells of none of them (it is not Linux).
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

/** Undefined too for a process that another has started: the number may be of another machine. */
function secondsOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // the name may hold anything; after it come the state (field 3), the parent and numbers, of which 14 to 17 are times
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (Number(fields[1]) !== process.pid) return undefined;
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
  } catch {
    return undefined; // it has ended, or there is no /proc
  }
}
