import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { SlopesFunction } from "../../lib/custom-objective.ts";
import { type ExplainedSettings, explainStep } from "../../lib/explain/index.ts";
import { Trust } from "../../lib/trust.ts";
import { noAddon } from "../e2e/native-core.ts";
import { gspo } from "../fixtures/custom-gspo.ts";
import { teacherFolder } from "../fixtures/teacher-folder.ts";
import { folder, readStep, record, removeFolders, STEPS, trainedAttempt } from "./recording.ts";

afterAll(removeFolders);

const bounds = { clipLow: 3e-3, clipHigh: 4e-3, klCoef: 0.05, entropyCoef: 0.01 };
const byModule = (slopes: string | SlopesFunction) =>
  record({
    objective: { kind: "custom", slopes, ...bounds },
    training: { steps: STEPS, groupsPerStep: 3, packedTokens: 64 },
  });

function moduleOf(source: string): string {
  const path = join(folder(), "loss.ts");
  writeFileSync(path, source);
  return path;
}

/** The mean over sequences of −A Σ log p with each token's advantage A; one loss for all tokens. */
const REINFORCE = `
  export const mine = ({ logprobs, tokenAdvantages, totalSequences, out }) => {
    let loss = 0;
    for (let t = 0; t < out.length; t++) {
      out[t] = -tokenAdvantages[t] / totalSequences;
      loss += out[t] * logprobs[t];
    }
    return loss;
  };`;

/** Expects equal values up to the rounding of another order of summation. */
function expectAlike(
  mine: ExplainedSettings,
  builtIn: ExplainedSettings,
  of: readonly ("policySlope" | "klSlope" | "coefficient" | "entropyCoefficient")[],
): number {
  let moving = 0;
  for (const [t, token] of mine.tokens.entries())
    for (const name of of) {
      const there = builtIn.tokens[t]![name];
      expect(Math.abs(token[name] - there), `token ${t}, ${name}`).toBeLessThanOrEqual(
        1e-12 * Math.abs(there),
      );
      if (there !== 0) moving += 1;
    }
  return moving;
}

describe.skipIf(noAddon !== undefined)("an objective of a module", () => {
  test("GSPO written in one is explained as the built-in one, but for what it does not say", async () => {
    const run = await byModule("./test/fixtures/custom-gspo.ts#gspo");
    const { groups } = await readStep(run.dir, STEPS);
    let moving = 0;
    for (const { dropped, problem, rollouts } of groups.slice(0, 2)) {
      const { attempt } = rollouts.at(-1)!;
      const asked = { step: STEPS, problem, attempt, set: ["objective.kind=gspo"], trust: Trust.all };
      const { settings } = await explainStep(run.dir, asked);
      const [mine, builtIn] = settings as [ExplainedSettings, ExplainedSettings];
      moving += expectAlike(mine, builtIn, ["policySlope", "klSlope", "coefficient", "entropyCoefficient"]);
      expect(mine.step!.gradNorm).toBe(builtIn.step!.gradNorm); // equal to the bit
      expect(mine.reward).toEqual(builtIn.reward);
      if (dropped !== undefined) continue;
      const { clipLow, clipHigh, clippedTokens, weight, ...rest } = builtIn.sequence!;
      expect([clipLow, clipHigh, clippedTokens, weight]).not.toContain(undefined);
      expect(mine.sequence).toEqual({ ...rest, loss: expect.closeTo(rest.loss!, 12) });
      expect(mine.tokens.map(({ clipped }) => clipped)).not.toContain("high");
    }
    expect(moving).toBeGreaterThan(0);
  });

  test("one loss for many sequences is no sequence's; token advantages are the step's, its gradient is measured", async () => {
    const run = await byModule(`${moduleOf(REINFORCE)}#mine`);
    for (const n of [1, 2, 3]) rmSync(join(run.dir, "checkpoints", `step-00000${n}`), { recursive: true });
    const asked = {
      ...(await trainedAttempt(run, STEPS)),
      set: ["objective.kind=reinforce"],
      gradient: true,
      trust: Trust.all,
    };
    const { from, settings } = await explainStep(run.dir, asked);
    const [mine, builtIn] = settings as [ExplainedSettings, ExplainedSettings];
    expect(from.trainedAgain).toBe(3);
    expect(expectAlike(mine, builtIn, ["policySlope", "coefficient"])).toBeGreaterThan(0);
    expect(mine.sequence!.loss).toBeUndefined();
    expect(mine.step!.loss).toBeCloseTo(builtIn.step!.loss, 9);
    expect(mine.gradient!.fromCoefficients).toBeCloseTo(mine.gradient!.norm, 6);
    expect(mine.gradient!.sequence.share).toBeCloseTo(builtIn.gradient!.sequence.share, 6);
  });

  test("beside a teacher it is asked with each token's advantage, as the step was", async () => {
    const teacher = { folder: await teacherFolder(join(folder(), "teacher")), coef: 0.5, rewardCoef: 1 };
    const slopes = `${moduleOf(REINFORCE)}#mine`;
    const run = await record({ objective: { kind: "custom", slopes, ...bounds }, teacher });
    const asked = { ...(await trainedAttempt(run, STEPS)), trust: Trust.all };
    const { settings } = await explainStep(run.dir, { ...asked, set: ["objective.kind=reinforce"] });
    const [mine, builtIn] = settings as [ExplainedSettings, ExplainedSettings];
    const own = new Set(mine.tokens.map(({ advantage }) => advantage));
    expect(own.size).toBeGreaterThan(2);
    expect(expectAlike(mine, builtIn, ["policySlope", "coefficient"])).toBeGreaterThan(0);
  });

  test("weights of a first pass are in the slopes, once", async () => {
    const weighted = `${REINFORCE.replace("tokenAdvantages, ", "tokenAdvantages, tokenWeights, ").replace("out[t] = ", "out[t] = tokenWeights[t] * ")}
      mine.firstPass = ({ logprobs }) => Float64Array.from(logprobs, (_, t) => (t % 2 === 0 ? 3 : 0.5));`;
    const run = await byModule(`${moduleOf(weighted)}#mine`);
    const asked = { ...(await trainedAttempt(run, STEPS)), gradient: true, trust: Trust.all };
    const [mine] = (await explainStep(run.dir, asked)).settings as [ExplainedSettings];
    expect(mine.gradient!.norm).toBeGreaterThan(0);
    expect(mine.gradient!.fromCoefficients / mine.gradient!.norm).toBeCloseTo(1, 5);
  });

  test("a module that is not the run's, and a function of the entry script, are refused", async () => {
    const run = await byModule(`${moduleOf(REINFORCE)}#mine`);
    const asked = await trainedAttempt(run, STEPS);
    const other = ["objective.slopes=./test/fixtures/custom-gspo.ts#gspo"];
    await expect(explainStep(run.dir, { ...asked, set: other, trust: Trust.all })).rejects.toMatchObject({
      code: "HONE_ERR_UNSUPPORTED",
      message: expect.stringContaining("custom-gspo.ts#gspo, which is not the run's"),
    });
    const byFunction = await byModule(gspo);
    await expect(explainStep(byFunction.dir, await trainedAttempt(byFunction, STEPS))).rejects.toMatchObject({
      code: "HONE_ERR_UNSUPPORTED",
      message: expect.stringContaining("the function gspo of its entry script"),
      hint: expect.stringContaining('objective.slopes: "./loss.ts#gspo"'),
    });
  });
});
