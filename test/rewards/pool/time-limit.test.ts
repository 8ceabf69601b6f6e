import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { TimeLimit } from "../../../lib/rewards/pool/time-limit.ts";

test("tells, and aborts, when the time is up; never once it has ended", async () => {
  const told: string[] = [];
  const [late, ended] = ["late", "ended"].map((name) => new TimeLimit(20, () => told.push(name)));
  late!.begin();
  ended!.begin();
  ended!.end();
  expect(late!.signal.aborted).toBe(false);
  await setTimeout(60);
  expect([told, late!.signal.aborted, ended!.signal.aborted]).toEqual([["late"], true, false]);
});
