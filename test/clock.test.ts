import { expect, test } from "vitest";
import { SteadyClock, systemClock } from "../lib/clock.ts";

test("the system clock counts milliseconds and never goes back", async () => {
  const start = systemClock.now();
  await new Promise((wake) => setTimeout(wake, 20));
  const later = systemClock.now();
  // Node's timers may fire a millisecond early; a busy machine delays them.
  expect(later - start).toBeGreaterThanOrEqual(18);
  expect(systemClock.now()).toBeGreaterThanOrEqual(later);
});

test("a steady clock goes on as its clock does, and by a second where that one was not looked at for longer", () => {
  let at = 50_000;
  using clock = new SteadyClock({ now: () => at });
  const begun = clock.now();
  const after = (ms: number) => {
    at += ms;
    return clock.now() - begun;
  };
  expect(after(250)).toBe(250);
  expect(after(999)).toBe(1249);
  expect(after(60_000)).toBe(2249);
  expect(after(1)).toBe(2250);
});
