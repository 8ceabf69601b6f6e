const CLOSING = 0;
const FIRST_SLOT = 1;
/** Marks a slot whose process is being started. */
const STARTING = -1;
const LOOK_MS = 2;
const PATIENCE_MS = 5000;

/**
 * The processes of a group of workers, in memory shared by its threads. Closing the table kills all processes and
 * waits until the threads that started them have reaped them: otherwise they would remain as zombies.
 */
export class ProcessTable {
  readonly buffer: SharedArrayBuffer;
  readonly #slots: Int32Array;

  constructor(buffer: SharedArrayBuffer | number) {
    this.buffer =
      typeof buffer === "number"
        ? new SharedArrayBuffer((FIRST_SLOT + buffer) * Int32Array.BYTES_PER_ELEMENT)
        : buffer;
    this.#slots = new Int32Array(this.buffer);
  }

  /** Starts a process and lists it; undefined once the table is closing. `start` gets a function that removes it again. */
  add<P extends { readonly pid: number }>(start: (leave: () => void) => P): P | undefined {
    const slot = this.#reserve();
    if (Atomics.load(this.#slots, CLOSING) !== 0) {
      Atomics.store(this.#slots, slot, 0);
      return undefined;
    }
    let left = false;
    const leave = () => {
      left = true;
      Atomics.store(this.#slots, slot, 0);
    };
    try {
      const started = start(leave);
      if (!left && started.pid > 0) Atomics.store(this.#slots, slot, started.pid);
      if (Atomics.load(this.#slots, CLOSING) !== 0) kill(started.pid);
      return started;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Kills every process and waits until the threads have reaped them, for 5 s at most. */
  async close(): Promise<void> {
    Atomics.store(this.#slots, CLOSING, 1);
    const start = performance.now();
    while (this.#listed.length > 0 && performance.now() - start < PATIENCE_MS) {
      for (const pid of this.#listed) kill(pid);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Ids of the started processes. */
  get pids(): number[] {
    return this.#listed.filter((pid) => pid > 0);
  }

  get #listed(): number[] {
    return [...this.#slots.subarray(FIRST_SLOT)].filter((pid) => pid !== 0);
  }

  #reserve(): number {
    for (let slot = FIRST_SLOT; slot < this.#slots.length; slot++)
      if (Atomics.compareExchange(this.#slots, slot, 0, STARTING) === 0) return slot;
    throw new RangeError("more verifier processes than the table has room for");
  }
}

/** Kills a process and all that it started. */
function kill(pid: number): void {
  if (pid <= 0) return;
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // the process has ended, or is not a group leader yet
    }
  }
}
