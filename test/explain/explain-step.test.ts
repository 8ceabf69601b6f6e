import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { explainStep } from "../../lib/explain/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { folder, type Recording, record, removeFolders, STEPS, trainedAttempt } from "./recording.ts";

afterAll(removeFolders);

describe.skipIf(noAddon !== undefined)("one recorded run", () => {
  let run: Recording;
  let asked: Awaited<ReturnType<typeof trainedAttempt>>;
  beforeAll(async () => {
    run = await record({ objective: { kind: "gspo", clipLow: 3e-3, clipHigh: 4e-3 } });
    asked = await trainedAttempt(run, STEPS);
  });
  const trained = () => asked;
  const copy = () => {
    const dir = folder();
    cpSync(run.dir, dir, { recursive: true });
    return dir;
  };

  test("weights of a checkpoint further back are trained up to the step", async () => {
    const dir = copy();
    const near = await explainStep(dir, trained());
    expect(near.from).toEqual({ checkpoint: "step-000003", trainedAgain: 0 });
    for (const n of [1, 2, 3]) rmSync(join(dir, "checkpoints", `step-00000${n}`), { recursive: true });
    const told: number[] = [];
    const far = await explainStep(dir, { ...trained(), onStep: (n) => told.push(n) });
    expect(told).toEqual([1, 2, 3]);
    expect(far).toEqual({
      ...near,
      from: { checkpoint: "the weights training started from", trainedAgain: 3 },
    });
  });

  test("what is not there is refused, with what to do", async () => {
    const { problem, attempt } = trained();
    for (const [options, message] of [
      [{ step: 9, problem, attempt }, "step 9 is not in the record of"],
      [{ step: STEPS, problem: 4_000_000_000, attempt }, "problem 4000000000 is not in step 4"],
      [{ step: STEPS, problem, attempt: 77 }, "attempt 77 of problem"],
      [{ step: STEPS, problem, attempt, token: 80 }, "token 80 is not in attempt"],
      [
        { step: STEPS, problem, attempt, set: ["rollouts.temperature=2"] },
        "hone explain can change only reward",
      ],
    ] as const)
      await expect(explainStep(run.dir, options)).rejects.toMatchObject({
        code: "HONE_ERR_USAGE",
        message: expect.stringContaining(message),
        hint: expect.stringMatching(/./),
      });
  });

  test("no way to the weights is a typed error", async () => {
    const dir = copy();
    for (const n of [2, 3]) rmSync(join(dir, "checkpoints", `step-00000${n}`), { recursive: true });
    rmSync(join(dir, "rollouts", "step-000003.jsonl"));
    await expect(explainStep(dir, trained())).rejects.toMatchObject({
      code: "HONE_ERR_CHECKPOINT",
      message: expect.stringContaining("the nearest is step-000001, and step 3 after it has no record"),
      hint: expect.stringContaining("checkpoint"),
    });
  });

  test.each([
    ["loss", /("loss":-?\d\.\d*?)\d(?=[,e])/, "HONE_ERR_REPLAY", "has loss"],
    ["gradNorm", /("gradNorm":\d\.\d*?)\d(?=[,e])/, "HONE_ERR_REPLAY", "has gradNorm"],
    ["advantage", /("advantage":-?\d\.\d*?)\d(?=[,e}])/, "HONE_ERR_REPLAY", "the advantage"],
  ])("a record whose %s was altered in its last digit is refused", async (_, at, code, message) => {
    const dir = copy();
    const path = join(dir, "rollouts", "step-000004.jsonl");
    const text = readFileSync(path, "utf8");
    const altered = text.replace(at, (all, before: string) => `${before}${(Number(all.at(-1)) + 5) % 10}`);
    expect(altered).not.toBe(text);
    writeFileSync(path, altered);
    await expect(explainStep(dir, trained())).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  test("a ratio that is not that of steps.jsonl is refused", async () => {
    const dir = copy();
    const path = join(dir, "steps.jsonl");
    const lines = readFileSync(path, "utf8").split("\n");
    const at = lines.findIndex((line) => line.startsWith(`{"step":${STEPS},`));
    lines[at] = lines[at]!.replace(/"ratio\/max":[\d.]+/, '"ratio/max":1.5');
    writeFileSync(path, lines.join("\n"));
    await expect(explainStep(dir, trained())).rejects.toMatchObject({
      code: "HONE_ERR_REPLAY",
      message: expect.stringContaining("ratio/max"),
    });
  });
});

describe.skipIf(noAddon !== undefined)("runs of other kinds", () => {
  test("a recipe that changed on the way, from the first weights on", async () => {
    const dir = folder();
    await record({ optimizer: { lr: 1e-3, warmupSteps: 1 } }, {}, dir);
    const later = { steps: 7, groupsPerStep: 3, maxLag: 3 };
    const optimizer = { lr: 2e-3, warmupSteps: 1, weightDecay: 0.1, beta2: 0.9 };
    const run = await record(
      { optimizer, training: later, lengthPenalty: { kind: "lp", bufferTokens: 70 } },
      {},
      dir,
    );
    for (const n of [1, 2, 3, 4, 5, 6, 7])
      rmSync(join(dir, "checkpoints", `step-00000${n}`), { recursive: true });
    expect((await explainStep(dir, await trainedAttempt(run, 6))).from.trainedAgain).toBe(5);
    expect((await explainStep(dir, await trainedAttempt(run, 2))).from.trainedAgain).toBe(1);
  });
});
