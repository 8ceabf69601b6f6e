import { afterAll, describe, expect, test } from "vitest";
import { explainStep } from "../../lib/explain/index.ts";
import { decodeIds } from "../../lib/orchestration/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { readStep, record, removeFolders, STEPS, trainedAttempt } from "./recording.ts";

afterAll(removeFolders);

describe.skipIf(noAddon !== undefined)("shares of the gradient", () => {
  test("shares of the sequences sum to one, those of tokens to their sequence's", async () => {
    const run = await record({ objective: { kind: "gspo", clipLow: 3e-3, clipHigh: 4e-3 } });
    const { step, groups } = await readStep(run.dir, STEPS);
    let sum = 0;
    for (const { problem, rollouts, dropped } of groups) {
      if (dropped !== undefined) continue;
      for (const { attempt } of rollouts) {
        const { settings } = await explainStep(run.dir, { step: STEPS, problem, attempt, gradient: true });
        const { norm, fromCoefficients, sequence } = settings[0]!.gradient!;
        expect(norm).toBe(step.trained!.gradNorm);
        expect(Math.abs(fromCoefficients / norm - 1)).toBeLessThan(1e-6);
        sum += sequence.share;
      }
    }
    expect(Math.abs(sum - 1)).toBeLessThan(1e-4);
    const group = groups.find(({ dropped }) => dropped === undefined)!;
    const shortest = [...group.rollouts].sort((a, b) => a.tokens.length - b.tokens.length)[0]!;
    const n = decodeIds(shortest.tokens).length;
    let tokens = 0;
    let whole = 0;
    for (let token = 0; token < n; ++token) {
      const options = {
        step: STEPS,
        problem: group.problem,
        attempt: shortest.attempt,
        token,
        gradient: true,
      };
      const { settings } = await explainStep(run.dir, options);
      expect(settings[0]!.tokens.map(({ index }) => index)).toEqual([token]);
      tokens += settings[0]!.gradient!.token!.share;
      whole = settings[0]!.gradient!.sequence.share;
    }
    expect(Math.abs(tokens - whole)).toBeLessThan(1e-4);
  });

  test("adapters", async () => {
    const run = await record({ lora: { rank: 4, alpha: 8 } });
    const { settings } = await explainStep(run.dir, {
      ...(await trainedAttempt(run, STEPS)),
      gradient: true,
    });
    const { norm, fromCoefficients } = settings[0]!.gradient!;
    expect(Math.abs(fromCoefficients / norm - 1)).toBeLessThan(1e-6);
  });

  test("a KL and an entropy term, and a correction, are in the gradient that the coefficients make", async () => {
    const correction = { kind: "tis" as const, high: 1.05 };
    const run = await record({ objective: { kind: "dapo", klCoef: 0.1, entropyCoef: 0.02, correction } });
    const { settings } = await explainStep(run.dir, {
      ...(await trainedAttempt(run, STEPS)),
      gradient: true,
    });
    const { norm, fromCoefficients } = settings[0]!.gradient!;
    expect(Math.abs(fromCoefficients / norm - 1)).toBeLessThan(1e-6);
  });
});
