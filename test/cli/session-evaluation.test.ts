import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { trainAndEvaluate } from "../../lib/cli/session.ts";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { readAnswers } from "../../lib/evaluation/index.ts";
import type { RunSummary } from "../../lib/report/index.ts";
import { beforeAfter } from "../../lib/samples/index.ts";
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

const recipe = smallRecipe({ steps: 4 }, { evaluation: { problemsPerDomain: 4 } });
const saved = () => JSON.parse(readFileSync(join(dir, "summary.json"), "utf8")) as RunSummary;

/** Wraps the verifiers so that some held-out answers get no verdict. */
const without = (lost: (domain: string, call: number) => boolean, before = 0): typeof verifiers => {
  const calls = new Map<string, number>();
  return {
    stats: () => ({}),
    verify: async (group) => {
      const verdicts = await verifiers.verify(group);
      return verdicts.map((verdict, i) => {
        const { domain } = group[i]!.problem;
        const call = (calls.get(domain) ?? before) + 1;
        calls.set(domain, call);
        return lost(domain, call) ? { status: "unscored", cause: "my bug at reward.ts:7" } : verdict;
      });
    },
  };
};

test("held-out answers without a verdict are told with their cause, and end nothing", async () => {
  const result = await trainAndEvaluate(recipe, {
    dir,
    terminal,
    core: standInCore(),
    verifiers: without((domain, call) => domain === "math" && call === 2),
  });
  expect(result.outcome).toMatchObject({ reason: "done", steps: 4 });
  expect(saved().before[0]!.domains["math"]!.n).toBe(3);
  expect(printed).toMatch(
    /1 held-out answer\(s\) of math got no verdict.*problem \d+: my bug at reward.ts:7/,
  );
});

test("a verifier that judges no held-out answer stops the session before training, with its cause", async () => {
  const broken = {
    dir,
    terminal,
    core: standInCore(),
    verifiers: without((domain) => domain === "logic"),
  };
  await expect(trainAndEvaluate(recipe, broken)).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringMatching(/no held-out answer of logic could be judged.*my bug at reward.ts:7/),
  });
  expect(readFileSync(join(dir, "steps.jsonl"), "utf8")).toBe("");
});

test("a verifier that is lost after training leaves its domain out of the closing table, and all else as it is", async () => {
  let trained = false;
  const judge = without((domain) => trained && domain === "code");
  const { summary } = await trainAndEvaluate(recipe, {
    dir,
    core: standInCore(),
    verifiers: judge,
    terminal: {
      write: (text: string) => {
        trained ||= text.includes('"evaluation after"');
        printed += text;
      },
    },
  });
  expect(Object.keys(summary.after[0]!.domains)).toEqual(["math", "logic"]);
  expect(existsSync(join(dir, "report.html"))).toBe(true);
  expect(printed).toContain("of code got no verdict");
});

test("every judged answer under the first setting is kept, of before training and of after", async () => {
  const { summary } = await trainAndEvaluate(recipe, { dir, terminal, verifiers, core: standInCore() });
  for (const when of ["before", "after"] as const) {
    const answers = readAnswers(join(dir, `held-out-${when}.jsonl`));
    const [board] = summary[when];
    const tokens = answers.flatMap((answer) => answer.tokens);
    expect(tokens).toHaveLength(board!.mean.n);
    const math = answers.filter(({ domain }) => domain === "math").flatMap((answer) => answer.scores);
    expect(math.reduce((a, b) => a + b, 0) / math.length).toBeCloseTo(board!.domains["math"]!.score, 12);
  }
});

test("held-out answers are kept with their texts: before, at every validation and after", async () => {
  const often = smallRecipe({ steps: 4 }, { evaluation: { problemsPerDomain: 4, everySteps: 2 } });
  const { summary } = await trainAndEvaluate(often, { dir, terminal, verifiers, core: standInCore() });
  const found = (await beforeAfter(dir, { limit: 1000 }))!;
  expect(found.moments.map(({ when, step }) => [when, step])).toEqual([
    ["before", 0],
    ["validation", 2],
    ["after", 4],
  ]);
  for (const [i, when] of (["before", "after"] as const).entries()) {
    const [board] = summary[when];
    const said = found.problems.flatMap((one) => one[when]);
    expect(said).toHaveLength(board!.mean.n);
    const solved = found.problems.reduce((sum, one) => sum + one.solved[i]!, 0);
    const correct = readAnswers(join(dir, `held-out-${when}.jsonl`)).flatMap((one) => one.correct);
    expect(solved).toBe(correct.filter(Boolean).length);
  }
  rmSync(dir, { recursive: true });
  const none = { ...often, verification: { ...often.verification, journal: false } };
  await trainAndEvaluate(none, { dir, terminal, verifiers, core: standInCore() });
  expect(existsSync(join(dir, "held-out-completions.jsonl"))).toBe(false);
});

test("an interrupt in the closing evaluation is an interrupted session, which goes on with the rest", async () => {
  const controller = new AbortController();
  const stopThere = { write: (text: string) => text.includes('"evaluation after"') && controller.abort() };
  const common = { dir, verifiers };
  const first = await trainAndEvaluate(recipe, {
    ...common,
    core: standInCore(),
    terminal: stopThere,
    signal: controller.signal,
  });
  expect(first).toMatchObject({
    interrupted: true,
    outcome: { steps: 4 },
    summary: { state: "stopped", after: [] },
  });
  const second = await trainAndEvaluate(recipe, { ...common, terminal, core: standInCore(), resume: "auto" });
  expect(second).toMatchObject({
    interrupted: false,
    summary: { state: "done", before: first.summary.before },
  });
  expect(second.summary.after).toHaveLength(2);
});

test.each(["{", "[1]", '{"domains":{}}'])(
  "before.json damaged to %s is a typed error that names it",
  async (text) => {
    await trainAndEvaluate(recipe, { dir, terminal, verifiers, core: standInCore() });
    writeFileSync(join(dir, "before.json"), text);
    const again = { dir, terminal, verifiers, core: standInCore(), resume: "auto" };
    await expect(trainAndEvaluate(recipe, again)).rejects.toMatchObject({
      code: "HONE_ERR_FORMAT",
      message: expect.stringContaining("before.json"),
    });
  },
);

test("a domain of weight 0 is evaluated and never trained on", async () => {
  const { domains } = recipe;
  const untrained = defineRecipe({
    ...recipe,
    domains: { ...domains, logic: { ...domains["logic"]!, weight: 0 } },
  } as RecipeInput);
  const { summary } = await trainAndEvaluate(untrained, { dir, terminal, verifiers, core: standInCore() });
  expect(Object.keys(summary.after[0]!.domains)).toEqual(["math", "logic", "code"]);
  const last = readFileSync(join(dir, "steps.jsonl"), "utf8").trim().split("\n").at(-1)!;
  const { metrics } = JSON.parse(last) as { metrics: Record<string, number> };
  expect([metrics["mixture/submitted/logic"], metrics["mixture/target/logic"]]).toEqual([0, 0]);
  expect(metrics["mixture/submitted/math"]).toBeGreaterThan(0);
});
