import { AppendFile } from "../metrics/index.ts";
import type { FinishReason, Problem, Verdict } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";
import type { AskedProblem, JudgedAnswer } from "./evaluate.ts";

/** Identifies an evaluation in a run: the weights that it evaluated. */
export interface HeldOutMoment {
  readonly when: "before" | "validation" | "after";
  /** Number of training steps done. */
  readonly step: number;
  readonly version: number;
}

/**
 * One object per line of held-out-completions.jsonl: a problem or an answer to it, each once and named by the hash of
 * its content; and at the end of an evaluation the answers of all attempts. An evaluation without that line was
 * interrupted.
 */
export type HeldOutLine =
  | ({ readonly problem: string; readonly set?: string } & Pick<
      Problem,
      "id" | "domain" | "question" | "reference"
    >)
  | {
      readonly completion: string;
      readonly of: string;
      readonly finish: FinishReason;
      readonly tokens: number;
      readonly text: string;
    }
  | { readonly evaluation: HeldOutMoment; readonly answers: readonly HeldOutAttempt[] };

/** Hashes of problem and completion, attempt, verdict; without a score for an unscored one. */
export type HeldOutAttempt = readonly [
  problem: string,
  completion: string,
  attempt: number,
  status: Verdict["status"],
  score?: number,
];

/**
 * Every answer of a run's evaluations under the first sampling setting, appended to one file of its folder.
 */
export class HeldOutRecord implements Disposable {
  readonly #path: string;
  readonly #known = new Set<string>();
  #file: AppendFile | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Begins an evaluation; `note` records its answers and `end` completes it.
   * @param fresh discards the file's contents, which belong to another run. Throws HONE_ERR_IO naming the file.
   */
  begin(evaluation: HeldOutMoment, { fresh = false } = {}) {
    this.#file ??= new AppendFile(this.#path, { fresh });
    const answers: HeldOutAttempt[] = [];
    return {
      note: (asked: AskedProblem, judged: readonly JudgedAnswer[]): void => {
        answers.push(...this.#note(asked, judged));
      },
      end: (): void => this.#append([{ evaluation, answers }]),
    };
  }

  [Symbol.dispose](): void {
    this.#file?.close();
  }

  #note({ problem, set }: AskedProblem, judged: readonly JudgedAnswer[]): HeldOutAttempt[] {
    const { id, domain, question, reference } = problem;
    const key = contentHash(set ?? "", domain, String(id), question, JSON.stringify(reference) ?? "");
    const lines: HeldOutLine[] = this.#isNew(key)
      ? [{ problem: key, ...(set !== undefined && { set }), id, domain, question, reference }]
      : [];
    const attempts = judged.map(({ attempt, text, finish, tokens, verdict }): HeldOutAttempt => {
      const completion = contentHash(key, finish, text);
      if (this.#isNew(completion)) lines.push({ completion, of: key, finish, tokens, text });
      const told = [key, completion, attempt, verdict.status] as const;
      return verdict.status === "unscored" ? told : [...told, verdict.score];
    });
    this.#append(lines);
    return attempts;
  }

  #isNew(key: string): boolean {
    const { size } = this.#known;
    return this.#known.add(key).size > size;
  }

  #append(lines: readonly HeldOutLine[]): void {
    if (lines.length > 0) this.#file!.append(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
}
