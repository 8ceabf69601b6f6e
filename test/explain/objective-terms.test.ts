import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RecipeInput } from "../../lib/config/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { teacherFolder } from "../fixtures/teacher-folder.ts";
import { longest } from "../long.ts";
import { compareStep } from "./recomputation.ts";
import { folder, record, removeFolders, STEPS } from "./recording.ts";

afterAll(removeFolders);

const clip = { clipLow: 0.02, clipHigh: 0.02 };
/** The folder of this teacher exists when the tests start. */
const TAUGHT = {
  objective: { kind: "dapo", clipLow: 0.021, clipHigh: 0.021 },
  teacher: { folder: join(folder(), "teacher"), coef: 0.5, rewardCoef: 1 },
} as const;
const CASES: readonly (readonly [string, Partial<RecipeInput>])[] = [
  ["gspo", { objective: { kind: "gspo", clipLow: 3e-3, clipHigh: 4e-3 } }],
  [
    "gspo by length, divided by the deviation",
    {
      objective: { kind: "gspo", sequenceWeight: "length", clipLow: 3e-3, clipHigh: 4e-3 },
      advantages: { filter: "reward" },
    },
  ],
  [
    "grpo, leave-one-out",
    {
      objective: { kind: "grpo", ...clip },
      advantages: { baseline: "leave-one-out", divideBy: "sample-std", filter: "reward" },
    },
  ],
  ["dapo", { objective: { kind: "dapo", ...clip } }],
  ["dapo with a dual clip", { objective: { kind: "dapo", ...clip, dualClip: 1.01 } }],
  [
    "dr-grpo, cut answers masked",
    {
      objective: { kind: "dr-grpo", ...clip },
      advantages: { divideBy: "none", filter: "reward", overlong: "mask" },
    },
  ],
  [
    "ppo-clip, lp",
    { objective: { kind: "ppo-clip", ...clip }, lengthPenalty: { kind: "lp", bufferTokens: 64 } },
  ],
  [
    "cispo with a KL and an entropy term",
    { objective: { kind: "cispo", ...clip, klCoef: 0.05, entropyCoef: 0.01 } },
  ],
  ["dapo, a teacher beside the reward", TAUGHT],
  [
    "grpo, the best of two",
    { objective: { kind: "grpo", ...clip }, advantages: { passAt: 2, filter: "reward" } },
  ],
  [
    "gspo-token, a teacher beside the reward",
    { ...TAUGHT, objective: { kind: "gspo-token", clipLow: 3e-3, clipHigh: 4e-3 } },
  ],
  [
    "gmpo by length",
    { objective: { kind: "gmpo", sequenceWeight: "length", clipLow: 0.021, clipHigh: 0.021 } },
  ],
  ["gmpo, truncated", { objective: { kind: "gmpo", correction: { kind: "tis", high: 1.05 } } }],
  ["sapo", { objective: { kind: "sapo", gate: { positive: 2, negative: 3 } } }],
  ["reinforce-clamped", { objective: { kind: "reinforce-clamped", ...clip } }],
  ["gspo, truncated", { objective: { kind: "gspo", correction: { kind: "tis", high: 1.05 } } }],
  ["grpo, icepop", { objective: { kind: "grpo", correction: { kind: "icepop", low: 0.95, high: 1.05 } } }],
  [
    "dapo, masked where probabilities part",
    { objective: { kind: "dapo", correction: { kind: "dppo-tv", low: 0.002, high: 0.003 } } },
  ],
  [
    "grpo, masked by a binary KL",
    { objective: { kind: "grpo", correction: { kind: "dppo-kl", high: 1e-5 } } },
  ],
  ["gspo, tokens of high entropy", { objective: { kind: "gspo", tokens: { kind: "high-entropy" } } }],
  [
    "dapo, kl-cov",
    {
      objective: {
        kind: "dapo",
        clipLow: 0.021,
        clipHigh: 0.021,
        tokens: { kind: "kl-cov", fraction: 0.1, coef: 0.5 },
      },
    },
  ],
  [
    "dapo with k1",
    { objective: { kind: "dapo", clipLow: 0.021, clipHigh: 0.021, klCoef: 0.05, klEstimator: "k1" } },
  ],
  [
    "dapo with an unbiased KL and an off-policy mask",
    {
      objective: {
        kind: "dapo",
        clipLow: 0.2,
        clipHigh: 0.2,
        offPolicyMask: 0.001,
        klCoef: 0.05,
        klEstimator: "unbiased",
      },
    },
  ],
  ["gspo with an off-policy mask", { objective: { kind: "gspo", offPolicyMask: 0.001 } }],
  [
    "dapo with k2",
    { objective: { kind: "dapo", clipLow: 0.021, clipHigh: 0.021, klCoef: 0.05, klEstimator: "k2" } },
  ],
  [
    "dapo, whole sequences masked",
    { objective: { kind: "dapo", correction: { kind: "sequence-mask", low: 0.8, high: 1.2 } } },
  ],
  [
    "dr-grpo, sequences truncated",
    { objective: { kind: "dr-grpo", correction: { kind: "sequence-tis", high: 1.1 } } },
  ],
  [
    "reinforce, masked by the mean",
    { objective: { kind: "reinforce", correction: { kind: "geometric-mask", low: 0.999, high: 1.001 } } },
  ],
];

beforeAll(async () => {
  if (noAddon === undefined) await teacherFolder(TAUGHT.teacher.folder);
});

describe.skipIf(noAddon !== undefined)("what was trained, computed once more in this test", () => {
  // A landing and npm test run every sixth case.
  test.each(CASES.filter((_, i) => longest || i % 6 === 0))("%s", async (_, rest) => {
    const seen = await compareStep(await record(rest), STEPS);
    expect(seen.trained).toBeGreaterThan(3);
    expect(seen.changed, "every ratio is 1: nothing is off policy").toBeGreaterThan(10);
    if (rest.objective?.kind === "sapo") expect(seen.clipped).toBe(0);
    else expect(seen.clipped, "nothing was clipped").toBeGreaterThan(0);
  });
});
