import { expect, test, vi } from "vitest";
import { FaultInjector, readFaults } from "../../lib/fleet/faults.ts";

test("faults are read as they are written", () => {
  expect(readFaults("actor.1@step=3:sigkill, trainer.0@t=2s:sigstop=500ms,actor.0@t=250ms:sigterm")).toEqual([
    { role: "actor", rank: 1, at: { step: 3 }, signal: "SIGKILL" },
    { role: "trainer", rank: 0, at: { ms: 2000 }, signal: "SIGSTOP", stopMs: 500 },
    { role: "actor", rank: 0, at: { ms: 250 }, signal: "SIGTERM" },
  ]);
  expect(readFaults("")).toEqual([]);
});

test.each([
  "actor@step=3:sigkill",
  "actor.1@step=3",
  "judge.1@t=1s:sigkill",
  "actor.1@t=1:sigkill",
  "actor.1@t=1s:sigkill=1s",
])("%s is refused by name", (text) => {
  expect(() => readFaults(`actor.0@step=1:sigkill,${text}`)).toThrow(`"${text}" is no fault`);
});

test("each strikes once: at its step or later, or after its time, and what was stopped goes on", () => {
  vi.useFakeTimers();
  try {
    const told: string[] = [];
    const kill = (role: string, rank: number, signal = "SIGKILL") =>
      told.push(`${role}.${rank} ${signal}`) > 0;
    const faults = readFaults("actor.1@step=3:sigkill,actor.0@t=2s:sigstop=500ms");
    const injector = new FaultInjector(faults, { kill });
    injector.begin();
    injector.published(2);
    expect(told).toEqual([]);
    injector.published(4);
    injector.published(5);
    expect(told).toEqual(["actor.1 SIGKILL"]);
    vi.advanceTimersByTime(2000);
    expect(told.at(-1)).toBe("actor.0 SIGSTOP");
    vi.advanceTimersByTime(500);
    expect(told).toEqual(["actor.1 SIGKILL", "actor.0 SIGSTOP", "actor.0 SIGCONT"]);
    injector.close();
  } finally {
    vi.useRealTimers();
  }
});
