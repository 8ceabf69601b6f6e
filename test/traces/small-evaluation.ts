import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Problem } from "../../lib/records.ts";
import { contentHash } from "../../lib/shared/files/content-hash.ts";
import { EvaluationLog, expectManifest } from "../../lib/suites/record.ts";
import { problemKey } from "../../lib/suites/suite.ts";

export interface SmallDraw {
  readonly question: string;
  readonly text: string;
  readonly tokens?: number;
  readonly seed?: number;
  readonly correct?: boolean;
}

export const freshDir = (): string => mkdtempSync(join(tmpdir(), "hone-traces-"));

/** Writes an evaluation's folder with these completions, as `hone eval` does. @returns the folder */
export function smallEvaluation(model: string, draws: readonly SmallDraw[], dir = freshDir()): string {
  expectManifest(dir, model, { model });
  using log = new EvaluationLog(dir);
  const problems = new Map(draws.map(({ question }) => [question, problemOf(question)]));
  const seeds = [...new Set(draws.map(({ seed = 0 }) => seed))];
  const keys = [...problems.values()].map(problemKey);
  const how = {
    metric: "correct",
    levels: [],
    unasked: {},
    attempts: 1,
    tellsAnswers: false,
    modules: {},
  } as const;
  log.add([{ suite: "small", problems: keys, seeds, ...how }]);
  for (const as of problems.values()) log.add([{ problem: problemKey(as), as }]);
  for (const { question, text, tokens = 100, seed = 0, correct = true } of draws) {
    const of = problemKey(problems.get(question)!);
    const completion = contentHash(of, text);
    const verdict = { status: correct ? "correct" : "wrong", score: correct ? 1 : 0, reason: "r" } as const;
    log.add([
      { completion, of, text, finish: "eos", tokens },
      { drawn: completion, of, attempt: 0, seed },
      { verdict, on: completion, version: 1 },
    ]);
  }
  return dir;
}

const problemOf = (question: string): Problem => ({
  id: 1,
  domain: "math",
  family: "small",
  level: 0,
  question,
  verifier: "math",
  reference: "1",
});

/** A thought with these paragraphs, followed by an answer. */
export const thought = (...paragraphs: readonly string[]): string =>
  `<think>\n${paragraphs.join("\n\n")}\n</think>\n\nThe answer is 7.`;
