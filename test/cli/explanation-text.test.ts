import { expect, test } from "vitest";
import { explanationText } from "../../lib/cli/explanation-text.ts";
import type { ExplainedSettings, ExplainedToken, Explanation } from "../../lib/explain/index.ts";
import { COLORED, PLAIN } from "../../lib/report/index.ts";

const token = (index: number, rest: Partial<ExplainedToken> = {}): ExplainedToken => ({
  index,
  id: 7,
  text: "four",
  version: 3,
  lag: 2,
  oldestKv: 3,
  behavior: -1.5,
  now: -1.25,
  tokenRatio: Math.exp(0.25),
  ratio: 1.25,
  coefficient: -0.125,
  policySlope: -0.125,
  klSlope: 0,
  entropyCoefficient: 0,
  ...rest,
});

const TRAINED: ExplainedSettings = {
  set: [],
  objective: {
    kind: "gspo",
    sequenceWeight: "uniform",
    clipLow: 0.25,
    clipHigh: 0.5,
    klCoef: 0,
    klEstimator: "k3",
    referenceEverySteps: 0,
    entropyCoef: 0,
    correction: { kind: "none", low: 0 },
  },
  step: { sequences: 8, groups: 2, tokens: 40, loss: 0.5, gradNorm: 2, gradScale: 0.25 },
  group: {
    size: 4,
    solveRate: 0.5,
    mean: 0.375,
    deviation: 0.25,
    lowest: 0,
    highest: 1,
    baseline: "mean",
    divideBy: "population-std",
    byHook: false,
    advantagesByHook: false,
    members: [],
  },
  reward: {
    verdict: 1,
    penalty: {
      kind: "dap",
      tokens: 30,
      maxOutputTokens: 40,
      bufferTokens: 20,
      penalty: -0.5,
      scale: 0.5,
      why: "correct",
    },
    reward: 0.75,
    baseline: 0.375,
    divisor: 0.25,
    advantage: 1.5,
  },
  sequence: {
    sequence: 3,
    tokens: 2,
    ratio: 1.25,
    clipLow: 0.25,
    clipHigh: 0.5,
    weight: 0.125,
    loss: -0.25,
    clippedTokens: 1,
  },
  tokens: [
    token(0),
    token(1, { clipped: "high", coefficient: 0 }),
    token(2, { coefficient: 0.5 }),
    token(3, { text: "\n\u202e" }),
  ],
};

const EXPLAINED: Explanation = {
  run: "runs/mine",
  step: 40,
  version: 5,
  from: { checkpoint: "step-000037", trainedAgain: 2 },
  group: 99,
  problem: 17,
  domain: "math",
  family: "chain",
  level: 2,
  attempt: 3,
  finish: "eos",
  verdict: { status: "correct", score: 1, reason: "as \u001b[2Jwanted" },
  settings: [TRAINED],
};

const rowsOf = (text: string) =>
  new Map(
    text
      .split("\n")
      .map((line) => line.split(/ {2,}/) as [string, ...string[]])
      .map(([name, ...cells]) => [name, cells]),
  );

test("the way from verdict to gradient", () => {
  const text = explanationText(EXPLAINED, 120, PLAIN);
  const rows = rowsOf(text);
  expect(text.split("\n").slice(0, 3)).toEqual([
    "step 40: math problem 17 (chain, level 2), attempt 3, group 99",
    "weights before the step: version 5, from step-000037, 2 steps trained again from there; loss and gradient are the run's to the bit",
    "verdict: correct, score 1 (as \\x1b[2Jwanted), ended by eos",
  ]);
  expect(Object.fromEntries(rows)).toMatchObject({
    "R, reward of the verdict": ["1"],
    "P, length penalty": ["-0.50000 (30 tokens, L 40, ramp from 20)"],
    "λ, its scale": ["0.50000 (correct)"],
    "mean ± deviation": ["0.37500 ± 0.25000"],
    "divided by": ["0.25000 (population-std)"],
    "advantage A": ["1.5000"],
    trained: ["sequence 3 of 8"],
    clip: ["0.75000 to 1.5000"],
    "tokens clipped": ["1 of 2"],
    "gradient's norm |g|": ["2"],
    "clipped to": ["0.50000"],
  });
  expect(rows.has("|g_x| of the sequence"), "what was not measured is no row").toBe(false);
  expect(text).toContain("0 four       3 (−2)  -1.5000  -1.2500  1.25000        –   -1.2500e-1");
  expect(text).toContain("1 four       3 (−2)  -1.5000  -1.2500  1.25000     high            0");
  expect(text).toContain("3 \\n\\u202e  ");
});

test("with a teacher a token has an advantage of its own, and the reward's is said to be that", () => {
  const taught = { ...TRAINED, tokens: [token(0, { advantage: -0.5 }), token(1, { given: true })] };
  const text = explanationText({ ...EXPLAINED, settings: [taught] }, 120, PLAIN);
  expect(rowsOf(text).get("advantage A")).toEqual(["1.5000 (of the reward; tokens have their own)"]);
  expect(text).toMatch(/token +version +then +now +A +ratio/);
  expect(text).toMatch(/0 four +3 \(−2\) +-1\.5000 +-1\.2500 +-0\.50000 +1\.25000/);
});

test("a token's divergence from its teacher has a column, which the legend explains", () => {
  const pulled = { ...TRAINED, tokens: [token(0, { divergence: 0.25 }), token(1, { divergence: 0 })] };
  const text = explanationText({ ...EXPLAINED, settings: [pulled] }, 120, PLAIN);
  expect(text).toMatch(/token +version +then +now +divergence +ratio/);
  expect(text).toMatch(/0 four +3 \(−2\) +-1\.5000 +-1\.2500 +0\.25000 +1\.25000/);
  expect(text).toContain("the coefficients do not include its gradient");
  expect(explanationText(EXPLAINED, 120, PLAIN)).not.toContain("divergence");
});

test("other settings stand beside what was trained", () => {
  const other = {
    ...TRAINED,
    set: ["objective.kind=cispo"],
    group: { ...TRAINED.group, dropped: "zero-advantage" as const },
  };
  const { sequence: _, ...dropped } = other;
  const text = explanationText({ ...EXPLAINED, settings: [TRAINED, dropped] }, 160, PLAIN);
  expect(text).toContain("otherwise: objective.kind=cispo");
  expect(rowsOf(text).get("trained")).toEqual(["sequence 3 of 8", "no: zero-advantage"]);
  expect(text).toMatch(/coefficient +· ratio +· clipped +· coefficient/);
});

test("green raises, red lowers, dim is left alone", () => {
  const lines = explanationText(EXPLAINED, 120, COLORED).split("\n");
  const line = (index: number) => lines.find((text) => text.includes(`${index} four`))!;
  expect([0, 1, 2].map((index) => line(index).slice(0, 5))).toEqual([
    "\u001b[32m",
    "\u001b[2m ",
    "\u001b[31m",
  ]);
});

test("a custom objective is named with its place, and with what it does not say", () => {
  const { sequence, tokens, ratio } = TRAINED.sequence!;
  const slopes = { module: "./loss.ts#mine", sha256: "0".repeat(64) };
  const objective: ExplainedSettings["objective"] = { ...TRAINED.objective, kind: "custom", slopes };
  const textOf = (loss: { readonly loss?: number }) =>
    explanationText(
      { ...EXPLAINED, settings: [{ ...TRAINED, objective, sequence: { sequence, tokens, ratio, ...loss } }] },
      200,
      PLAIN,
    );
  expect(textOf({ loss: 0.5 })).toMatch(/^objective +custom, \.\/loss\.ts#mine$/m);
  expect(textOf({ loss: 0.5 })).toMatch(
    /^custom objective: only its own code knows its bounds, .* of a sequence\.$/m,
  );
  expect(textOf({ loss: 0.5 })).toMatch(/^loss of the sequence +0\.50000$/m);
  const without = textOf({});
  expect(without).toMatch(/ of a sequence; it gave one loss for several sequences\.$/m);
  expect(without).not.toMatch(/^(?:clip |tokens clipped|sequence weight|loss of the sequence)/m);
  expect(without).toMatch(/^sequence ratio +1\.2500$/m);
});
