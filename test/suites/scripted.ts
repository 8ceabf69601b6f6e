// An answerer with scripted answers, and folders that are removed with the test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Problem } from "../../lib/records.ts";
import type { Answer, Answerer, Drawn } from "../../lib/suites/answerer.ts";

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hone-suites-"));
  made.push(folder);
  return folder;
}

export const said = (text: string, tokens = text.length): Answer => ({ text, finish: "eos", tokens });

export interface Scripted extends Answerer {
  /** Every draw that the answerer was asked for, as "question attempt seed". */
  readonly asked: string[];
}

export function scripted(
  say: (problem: Problem, seed: number, attempt: number) => Drawn | Promise<Drawn>,
  change: Partial<Answerer> = {},
): Scripted {
  const asked: string[] = [];
  return {
    asked,
    identity: { who: "scripted" },
    width: 4,
    prepare: async (problems) => {
      for (const _ of problems);
      return new Map();
    },
    async ask({ problem, attempt, seeds }, told) {
      for (const seed of seeds) {
        asked.push(`${problem.question} ${attempt} ${seed}`);
        told(seed, await say(problem, seed, attempt));
      }
    },
    [Symbol.asyncDispose]: async () => {},
    ...change,
  };
}

/** The right answer to a sum. */
export const right = ({ reference }: Problem): Answer =>
  said(`I add.\n\\boxed{${(reference as { answer: string }).answer}}`);

export { judgeHere, sums } from "./judge-here.ts";
