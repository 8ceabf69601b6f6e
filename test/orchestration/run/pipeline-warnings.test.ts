import { expect, test } from "vitest";
import type { DatasetReport } from "../../../lib/data/index.ts";
import { HoneError } from "../../../lib/errors.ts";
import { pipelineWarnings, zeroScoreWarning } from "../../../lib/orchestration/run/pipeline-warnings.ts";
import type { ScoredRollout } from "../../../lib/records.ts";
import type { PromptFormat } from "../../../lib/text/index.ts";
import { problemOf, rolloutOf, settledOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";

const answer = (text: string, score: number): ScoredRollout => {
  const one = rolloutOf([1], [2], 0);
  const verdict = { status: score === 1 ? "correct" : "wrong", score, reason: "not 4" } as const;
  return { ...one, rollout: { ...one.rollout, text }, verdict };
};

function warningsOf(groups: number, ...scores: number[]): string[] {
  const warnings: string[] = [];
  const listen = zeroScoreWarning(groups, (message) => warnings.push(message));
  for (const [i, score] of scores.entries()) listen(settledOf(i, [answer(`say\u001b[2J ${i}`, score)]));
  return warnings;
}

test("groups that score nothing at all are told once, with three answers, quoted", () => {
  const [warning, ...more] = warningsOf(4, 0, 0, 0, 0, 0, 0, 0, 0);
  expect(more).toEqual([]);
  expect(warning).toContain("every answer of the first 4 groups scored 0; 3 of them:");
  expect(warning).toContain('answered "say\\u001b[2J 2"\n    v: wrong, "not 4"');
  expect(warning).not.toContain("\u001b");
});

test("one point is enough", () => {
  expect(warningsOf(4, 0, 0, 0.1, 0, 0, 0, 0, 0)).toEqual([]);
  expect(warningsOf(4, 0, 0, 0)).toEqual([]);
});

test("a run that is all warm-up, and the first prompt of a domain that is too long, are told", () => {
  const warnings: string[] = [];
  const recipe = smallRecipe();
  const slow = { ...recipe, optimizer: { ...recipe.optimizer, warmupSteps: recipe.training.steps } };
  const report = {
    rows: 30,
    bad: [{ reason: "not JSON", rows: 4, first: ["a.jsonl:7"] }],
  } as unknown as DatasetReport;
  const sources = new Map([["math", { report }]]);
  const model = { format: { lacksTemplate: true } as PromptFormat };
  const { onLeftOut } = pipelineWarnings(slow, { sources, model, memory: {} }, (message) =>
    warnings.push(message),
  );
  for (const domain of ["math", "math", "code"])
    onLeftOut(problemOf(domain), new HoneError("HONE_ERR_DATA", `${domain} is long`));
  expect(warnings).toEqual([
    expect.stringContaining("it is all warm-up"),
    expect.stringContaining("has no chat template: prompts are plain text"),
    "math: 4 of 30 rows cannot be used (not JSON: 4, first a.jsonl:7); `hone data check` lists them",
    "math is long; another is drawn instead, and problems/left-out/math counts them",
    "code is long; another is drawn instead, and problems/left-out/code counts them",
  ]);
});
