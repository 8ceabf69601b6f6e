import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TokenRate } from "../../lib/fleet/token-rate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("tokens a second are those of the last five seconds", () => {
  const rate = new TokenRate();
  expect(rate.at(100)).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(rate.at(150)).toBe(50);
  vi.advanceTimersByTime(1000);
  expect(rate.at(250)).toBe(75);
  for (let i = 0; i < 6; i++) {
    vi.advanceTimersByTime(1000);
    rate.at(250);
  }
  expect(rate.at(250)).toBe(0);
});
