import { expect, test } from "vitest";
import { PipelineProgress, type StageFacts } from "../../../lib/orchestration/pipeline/pipeline-progress.ts";
import type { RolloutGroup } from "../../../lib/records.ts";

const facts = (engine: Partial<StageFacts["engine"]> = {}): StageFacts => ({
  accounting: { outstanding: 3, credits: { free: 1, total: 4 } },
  engine: { waiting: 0, running: 0, decodeTokens: 10, prefillTokens: 5, ...engine },
  verifiers: { exact: { calls: 2, timeouts: 1, crashes: 1 } },
  ready: 2,
});
const group = {} as RolloutGroup;

test("names the stage that everything waits for: the trainer, else verifiers, else the engine, else prompts", async () => {
  const pipeline = new PipelineProgress();
  expect(pipeline.position(facts()).culprit).toContain("prompts");
  expect(pipeline.position(facts({ waiting: 1 })).culprit).toContain("engine (0 running, 1 waiting)");
  pipeline.verifying.groups = 2;
  expect(pipeline.position(facts({ waiting: 1 })).culprit).toContain("verifiers (2 groups)");
  const batches = pipeline.aroundTraining(
    (async function* () {
      yield 1;
    })(),
  );
  await batches.next();
  expect(pipeline.position(facts({ waiting: 1 })).culprit).toContain("trainer");
  pipeline.stepped();
  expect(pipeline.position(facts({ waiting: 1 })).culprit).toContain("verifiers");
});

test("progress changes with tokens, verdicts and moves, and with nothing else", () => {
  const pipeline = new PipelineProgress();
  const before = pipeline.position(facts()).progress;
  expect(pipeline.position(facts({ running: 9 })).progress).toBe(before);
  expect(pipeline.position(facts({ decodeTokens: 11 })).progress).toBe(before + 1);
  pipeline.moved();
  expect(pipeline.position(facts()).progress).toBe(before + 1);
});

test("a hook that holds the pipeline is named while it is asked, and its return is a move", async () => {
  const pipeline = new PipelineProgress();
  const before = pipeline.position(facts()).progress;
  let during = "";
  const hook = pipeline.aroundHook("onGroup", async () => {
    during = pipeline.position(facts()).culprit;
    return "drop" as const;
  });
  expect(await hook(group)).toBe("drop");
  expect(during).toContain("hook onGroup");
  expect(pipeline.position(facts())).toMatchObject({ progress: before + 1 });
  expect(pipeline.position(facts()).culprit).not.toContain("hook");
});
