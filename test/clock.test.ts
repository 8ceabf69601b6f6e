import { expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";

test("the system clock counts milliseconds and never goes back", async () => {
  const start = systemClock.now();
  await new Promise((wake) => setTimeout(wake, 20));
  const later = systemClock.now();
  // A timer may fire a millisecond early, and a busy machine late.
  expect(later - start).toBeGreaterThanOrEqual(18);
  expect(systemClock.now()).toBeGreaterThanOrEqual(later);
});
