import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkpointOf } from "../../lib/cli/run-model.ts";
import { trainAndEvaluate } from "../../lib/cli/session.ts";
import { readValidations, writeValidations } from "../../lib/evaluation/index.ts";
import type { RunSummary } from "../../lib/report/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";

let dir: string;
let printed: string;
const terminal = {
  write: (text: string) => {
    printed += text;
  },
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-session-"));
  printed = "";
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const recipe = (steps: number, checkpoint: object = { keepLast: 1, keepBest: 1 }) =>
  smallRecipe(
    { steps },
    {
      evaluation: { problemsPerDomain: 4, everySteps: 2, fromStep: 2 },
      checkpoint: { everySteps: 3, ...checkpoint },
    },
  );
const session = (steps: number, more: object = {}, checkpoint?: object) =>
  trainAndEvaluate(recipe(steps, checkpoint), { dir, terminal, verifiers, core: standInCore(), ...more });
const path = () => join(dir, "validation.json");
const steps = () =>
  readdirSync(join(dir, "checkpoints"))
    .filter((name) => name.startsWith("step-"))
    .map((name) => Number(name.slice(5)))
    .sort((a, b) => a - b);

/** The summary that the page in report.html displays. */
function shownSummary(report: string): RunSummary {
  const data = /id="frozen">(.*?)<\/script>/s.exec(readFileSync(report, "utf8"))![1]!;
  return JSON.parse(data).answers["summary?run=0"];
}

test("chosen steps are evaluated on their own weights while training goes on, and the best checkpoint stays", async () => {
  const { summary, report } = await session(7);
  const { best, runnerUp, candidates } = summary.selection!;
  expect(candidates.map(({ step }) => step)).toEqual([2, 4, 6, 7]);
  expect(readValidations(path()).map(({ version }) => version)).toEqual([2, 4, 6, 7]);
  const scores = candidates.map(({ score }) => score);
  expect(best.score).toBe(Math.max(...scores));
  expect(runnerUp!.score).toBeLessThanOrEqual(best.score);
  expect(steps()).toEqual(expect.arrayContaining([best.step, 7]));
  expect(checkpointOf(dir, "best")).toMatch(new RegExp(`step-00000${best.step}$`));
  expect(printed).toMatch(/step 4: held-out mean \d\.\d{3}/);
  expect(printed).toContain(`step ${best.step}, held-out mean`);
  expect(shownSummary(report!).selection).toEqual(summary.selection);
  expect(candidates.every(({ cost }) => cost.tokens > 0)).toBe(true);
});

test("what a killed session did not get to is evaluated from its checkpoint, with the same result", async () => {
  await session(5, {}, { keepEvery: 2 });
  const whole = readValidations(path());
  expect(whole.map(({ step }) => step)).toEqual([2, 4, 5]);
  writeValidations(
    path(),
    whole.filter(({ step }) => step !== 2),
  );
  const { summary } = await session(8, { resume: "auto" }, { keepEvery: 2 });
  expect(summary.selection!.candidates.map(({ step }) => step)).toEqual([2, 4, 5, 6, 8]);
  const again = readValidations(path())[0]!;
  expect([again.boards, again.problems]).toEqual([whole[0]!.boards, whole[0]!.problems]);
  expect(printed).toContain("evaluating step-000002, which the last session did not reach");
});

test("validation sets are measured beside the domains, at their own budget, and are in no mean; the cost is a metric", async () => {
  const sets = { extra: { source: "procedural/code", problems: 3, attempts: 2, maxTokens: 5 } };
  const { evaluation, checkpoint } = recipe(5);
  const more = smallRecipe({ steps: 5 }, { evaluation: { ...evaluation, sets }, checkpoint });
  const core = standInCore({ length: () => 50 });
  const { summary, report } = await trainAndEvaluate(more, { dir, terminal, verifiers, core });
  for (const board of [...summary.before, ...summary.after]) {
    expect(board.sets!["extra"]).toMatchObject({ n: 6, meanTokens: 5, truncation: 1 });
    const scores = Object.values(board.domains).map(({ score }) => score);
    expect(board.mean.score).toBeCloseTo(scores.reduce((a, b) => a + b) / scores.length, 12);
    expect(Object.keys(board.domains)).not.toContain("extra");
  }
  expect(printed).toMatch(/^ {2}extra +\d/m);
  expect(shownSummary(report!).before[0]!.sets!["extra"]).toMatchObject({ n: 6, meanTokens: 5 });
  const validations = readValidations(path());
  expect(validations[0]!.problems.filter(({ set }) => set === "extra")).toHaveLength(3);
  const log = readFileSync(join(dir, "steps.jsonl"), "utf8").trim().split("\n");
  const told = log.map((line) => JSON.parse(line).metrics).filter((metrics) => "evaluation/step" in metrics);
  expect(told[0]).toMatchObject({
    "evaluation/step": 2,
    "evaluation/seconds": validations[0]!.seconds,
    "evaluation/tokens": validations[0]!.tokens,
    "evaluation/score": validations[0]!.boards[0]!.mean.score,
  });
});

test("an evaluation that goes wrong is told, is no candidate, and ends no training", async () => {
  let trained = false;
  const judge: typeof verifiers = {
    stats: () => ({}),
    verify: async (group) => {
      const verdicts = await verifiers.verify(group);
      return verdicts.map((verdict, i) =>
        trained && group[i]!.problem.domain === "logic" ? { status: "unscored", cause: "down" } : verdict,
      );
    },
  };
  const hooks = {
    afterStep: () => {
      trained = true;
      return undefined;
    },
  };
  const { outcome } = await session(3, { verifiers: judge, hooks });
  expect(outcome).toMatchObject({ reason: "done", steps: 3 });
  expect(printed).toMatch(/warning: step 2 is not evaluated: no held-out answer of logic could be judged/);
  expect(readValidations(path())).toEqual([]);
});

test("without evaluations no checkpoint is the best", async () => {
  await trainAndEvaluate(smallRecipe({ steps: 2 }), { dir, terminal, verifiers, core: standInCore() });
  expect(() => checkpointOf(dir, "best")).toThrow(expect.objectContaining({ code: "HONE_ERR_CHECKPOINT" }));
});
