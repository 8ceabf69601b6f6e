import { setImmediate } from "node:timers/promises";
import type { FilePart } from "./file-parts.ts";
import type { PartMarks } from "./row-marks.ts";

/** A thread that reads parts of files while this one does too. */
export interface RowThread {
  /** Rejects if the part cannot be read. @param reach see PartReader.marks */
  marks(part: FilePart, reach: number): Promise<PartMarks>;
  close(): void;
}

/** Creates the threads that read parts of files; an empty list if no core is free for a thread. */
export type OpenRowThreads = () => readonly RowThread[];

/** Parts queued per thread, so that it does not wait while the main thread reads a part itself. */
const AHEAD = 4;

type Outcome = { readonly marks: PartMarks } | { readonly error: unknown };

export interface PartReaders {
  readonly threads: readonly RowThread[];
  /** Reads a part in this thread. */
  here(part: FilePart): Promise<PartMarks>;
  /** The current `reach` of the rule for held-out rows. */
  reach(): number;
}

/**
 * The marks of all parts, in their order, read by the threads and by this one. A part that a thread could not read is read
 * here, so that its error is the same as without threads.
 */
export async function* marksInOrder(
  parts: readonly FilePart[],
  { threads, here, reach }: PartReaders,
): AsyncGenerator<PartMarks> {
  const read = new Map<number, Outcome>();
  let next = 0;
  let wake = () => {};
  const keep = (at: number, outcome: Outcome) => {
    read.set(at, outcome);
    wake();
  };
  const readHere = (at: number) =>
    here(parts[at]!).then(
      (marks) => keep(at, { marks }),
      (error: unknown) => keep(at, { error }),
    );
  const follow = async (thread: RowThread) => {
    for (let isWell = true; isWell && next < parts.length; ) {
      const at = next++;
      const marks = await thread.marks(parts[at]!, reach()).catch(() => undefined);
      isWell = marks !== undefined;
      if (marks !== undefined) keep(at, { marks });
      else await readHere(at);
    }
  };
  for (const thread of threads) for (let i = 0; i < AHEAD; i++) void follow(thread);
  for (let at = 0; at < parts.length; at++) {
    while (!read.has(at)) {
      const arrival = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (next < parts.length) await readHere(next++).then(() => setImmediate());
      else await arrival;
    }
    const outcome = read.get(at)!;
    read.delete(at);
    if ("error" in outcome) throw outcome.error;
    yield outcome.marks;
  }
}
