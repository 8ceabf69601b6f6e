import { expect, test } from "vitest";
import { LineProgress, type StageFacts } from "../../../lib/orchestration/line/line-progress.ts";
import type { RolloutGroup } from "../../../lib/records.ts";

const facts = (engine: Partial<StageFacts["engine"]> = {}): StageFacts => ({
  books: { outstanding: 3, credits: { free: 1, total: 4 } },
  engine: { waiting: 0, running: 0, decodeTokens: 10, prefillTokens: 5, ...engine },
  verifiers: { exact: { calls: 2, timeouts: 1, crashes: 1 } },
  ready: 2,
});
const group = {} as RolloutGroup;

test("names the stage that everything waits for: the trainer, else verifiers, else the engine, else prompts", async () => {
  const line = new LineProgress();
  expect(line.position(facts()).culprit).toContain("prompts");
  expect(line.position(facts({ waiting: 1 })).culprit).toContain("engine (0 running, 1 waiting)");
  line.verifying.groups = 2;
  expect(line.position(facts({ waiting: 1 })).culprit).toContain("verifiers (2 groups)");
  const batches = line.aroundTraining(
    (async function* () {
      yield 1;
    })(),
  );
  await batches.next();
  expect(line.position(facts({ waiting: 1 })).culprit).toContain("trainer");
  line.stepped();
  expect(line.position(facts({ waiting: 1 })).culprit).toContain("verifiers");
});

test("progress changes with tokens, verdicts and moves, and with nothing else", () => {
  const line = new LineProgress();
  const before = line.position(facts()).progress;
  expect(line.position(facts({ running: 9 })).progress).toBe(before);
  expect(line.position(facts({ decodeTokens: 11 })).progress).toBe(before + 1);
  line.moved();
  expect(line.position(facts()).progress).toBe(before + 1);
});

test("a hook that holds the line is named while it is asked, and its return is a move", async () => {
  const line = new LineProgress();
  const before = line.position(facts()).progress;
  let during = "";
  const hook = line.aroundHook(async () => {
    during = line.position(facts()).culprit;
    return "drop" as const;
  });
  expect(await hook(group)).toBe("drop");
  expect(during).toContain("hook onGroup");
  expect(line.position(facts())).toMatchObject({ progress: before + 1 });
  expect(line.position(facts()).culprit).not.toContain("hook");
});
