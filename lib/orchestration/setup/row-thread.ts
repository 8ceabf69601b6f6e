/** A thread that reads and judges parts of files of rows. */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { type Admission, PartReader } from "../../data/index.ts";
import { judgeOf } from "../../domains/index.ts";
import { admissionOf } from "./admission.ts";
import { openPrompts } from "./prompt-format.ts";
import type { PartAnswer, PartQuestion, RowThreadTask } from "./row-threads.ts";

type Asked = Parameters<Admission>[0];

/** Answers each question with the marks of its part. */
export function readParts({ rows, limits, prompts, verifier }: RowThreadTask): void {
  const admit = admissionOf(limits, openPrompts(prompts).format);
  const judges = verifier === undefined ? admit : (problem: Asked) => admit({ ...problem, verifier });
  const reader = new PartReader(judgeOf(rows, judges));
  parentPort!.on("message", async ({ id, part, reach }: PartQuestion) => {
    try {
      const marks = await reader.marks(part, reach);
      parentPort!.postMessage({ id, marks } satisfies PartAnswer, [marks.numbers.buffer as ArrayBuffer]);
    } catch (error) {
      parentPort!.postMessage({ id, failure: String(error) } satisfies PartAnswer);
    }
  });
}

if (!isMainThread) readParts(workerData as RowThreadTask);
