import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { AppendFile, wholeLines } from "../metrics/index.ts";

/** Names a request by all that its answer depends on. */
export const requestKey = (...parts: readonly (string | number)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/**
 * Answers by request, in an append-only file of lines. An answer is stored before it is used; a killed process leaves
 * at most one torn line, which the next one cuts off. Ignores foreign lines: their requests are sent again.
 */
export class AnswerCache implements Disposable {
  readonly #answers = new Map<string, unknown>();
  readonly #file: AppendFile;

  /** Throws HONE_ERR_IO naming the file. */
  constructor(path: string) {
    if (existsSync(path)) for (const line of wholeLines(path)) this.#take(line);
    this.#file = new AppendFile(path);
  }

  get(key: string): unknown {
    return this.#answers.get(key);
  }

  /** Throws HONE_ERR_IO. */
  add(key: string, answer: unknown): void {
    this.#file.append(`${JSON.stringify({ key, answer })}\n`);
    this.#answers.set(key, answer);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  #take(line: string): void {
    try {
      const entry: unknown = JSON.parse(line);
      if (typeof entry !== "object" || entry === null || !("key" in entry) || !("answer" in entry)) return;
      if (typeof entry.key === "string") this.#answers.set(entry.key, entry.answer);
    } catch {
      // a damaged line: its request is sent again
    }
  }
}
