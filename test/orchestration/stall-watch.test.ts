import { expect, test } from "vitest";
import { StallWatch } from "../../lib/orchestration/stall-watch.ts";

const at = (progress: number) => ({ progress, stages: ["engine: 3 running"], culprit: "engine (3 running)" });

test("speaks up only after the limit without progress, and says who is waited for", () => {
  let now = 0;
  const watch = new StallWatch(10, { now: () => now });
  expect(watch.look(at(1))).toBeUndefined();
  now = 9_000;
  expect(watch.look(at(1))).toBeUndefined();
  expect(watch.look(at(2))).toBeUndefined();
  now = 18_999;
  expect(watch.look(at(2))).toBeUndefined();
  now = 19_000;
  expect(watch.look(at(2))).toMatchObject({
    code: "HONE_ERR_STALL",
    message: "nothing has moved for 10 s; everything waits for the engine (3 running)\n  engine: 3 running",
  });
});
