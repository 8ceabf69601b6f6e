import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import type { FilePart, PartMarks, RowsTask, RowThread } from "../../data/index.ts";
import { HoneError } from "../../errors.ts";
import { ownThread } from "../../own-module.ts";
import type { RunLimits } from "./admission.ts";
import type { PromptPlace } from "./prompt-format.ts";

/** Input of a thread that judges rows. */
export interface RowThreadTask {
  readonly rows: RowsTask;
  readonly limits: RunLimits;
  readonly prompts: PromptPlace;
  /** Verifier that reads the references, if it is not that of the rows. */
  readonly verifier?: string | undefined;
}

export interface PartQuestion {
  readonly id: number;
  readonly part: FilePart;
  readonly reach: number;
}

export type PartAnswer = { readonly id: number } & (
  | { readonly marks: PartMarks }
  | { readonly failure: string }
);

/** Each thread takes 30 MiB, and a few suffice to saturate the disk. */
const MOST_THREADS = 3;

/** One thread per core other than this thread's, up to three. */
export const openRowThreads = (task: RowThreadTask): RowThread[] =>
  Array.from({ length: Math.min(MOST_THREADS, availableParallelism() - 1) }, () => openRowThread(task));

/** A part's objects become garbage immediately, so a larger young generation would only waste memory. */
const YOUNG_MB = 6;

interface Asked {
  resolve(marks: PartMarks): void;
  reject(error: Error): void;
}

export function openRowThread(task: RowThreadTask): RowThread {
  const thread: Worker = ownThread("row-thread", import.meta.url, {
    workerData: task,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const asked = new Map<number, Asked>();
  let next = 0;
  let gone: Error | undefined;
  const end = (cause?: Error) => {
    gone ??= new HoneError("HONE_ERR_INTERNAL", "a thread that reads rows has ended", { cause });
    for (const { reject } of asked.values()) reject(gone);
    asked.clear();
  };
  thread.on("error", end).on("exit", () => end());
  thread.on("message", (answer: PartAnswer) => {
    const { resolve, reject } = asked.get(answer.id)!;
    asked.delete(answer.id);
    if ("marks" in answer) resolve(answer.marks);
    else reject(new Error(answer.failure));
  });
  return {
    marks: (part, reach) =>
      new Promise((resolve, reject) => {
        if (gone !== undefined) return reject(gone);
        const question: PartQuestion = { id: next++, part, reach };
        asked.set(question.id, { resolve, reject });
        thread.postMessage(question);
      }),
    close: () => void thread.terminate(),
  };
}
