import { expect, test, vi } from "vitest";
import { drawFaults, FaultInjector, type FaultShape, readFaults, spellFault } from "./process-faults.ts";

test("faults are read as they are written, and spelled so that they read the same", () => {
  const text =
    "actor.1@step=3:sigkill,trainer.0@t=2s:sigstop=500ms,actor.0@t=250ms:sigterm,redis@t=2s:restart";
  const faults = readFaults(text);
  expect(faults).toEqual([
    { role: "actor", rank: 1, at: { step: 3 }, signal: "SIGKILL" },
    { role: "trainer", rank: 0, at: { ms: 2000 }, signal: "SIGSTOP", stopMs: 500 },
    { role: "actor", rank: 0, at: { ms: 250 }, signal: "SIGTERM" },
    { role: "redis", at: { ms: 2000 }, stopMs: 0 },
  ]);
  expect(readFaults(faults.map(spellFault).join())).toEqual(faults);
  expect(readFaults("")).toEqual([]);
  for (const wrong of [
    "actor@step=3:sigkill",
    "judge.1@t=1s:sigkill",
    "actor.1@t=1s:sigkill=1s",
    "redis@t=1s:sigkill",
  ])
    expect(() => readFaults(wrong)).toThrow(`"${wrong}" is no fault`);
});

const shape: FaultShape = { seed: 3, seconds: 60, actors: 2, trainers: 2, redis: true };
const seeds = Array.from({ length: 40 }, (_, seed) => seed);

test("a seed's faults are always the same, in order and within the time", () => {
  expect(drawFaults(shape)).toEqual(drawFaults(shape));
  expect(drawFaults(shape)).not.toEqual(drawFaults({ ...shape, seed: 4 }));
  for (const seed of seeds) {
    const times = drawFaults({ ...shape, seed }).map(({ at }) => ("ms" in at ? at.ms : Number.NaN));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.length).toBeGreaterThanOrEqual(8);
    expect(times.at(-1)).toBeLessThan(60_000);
  }
});

test("each actor, each rank, each that judges and the run's own server are met", () => {
  const met = (more: Partial<FaultShape>) => {
    const all = seeds.flatMap((seed) => drawFaults({ ...shape, ...more, seed }));
    const names = all.map((fault) => (fault.role === "redis" ? "redis" : `${fault.role}.${fault.rank}`));
    return [...new Set(names)].sort();
  };
  expect(met({})).toEqual(["actor.0", "actor.1", "redis", "trainer.0", "trainer.1", "verifier.0"]);
  expect(met({ verifiers: 2, redis: false, trainers: 0 })).toEqual([
    "actor.0",
    "actor.1",
    "verifier.0",
    "verifier.1",
  ]);
});

test("each is injected once, at its step or later or after its time; what was stopped goes on", () => {
  vi.useFakeTimers();
  const told: string[] = [];
  const kill = vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    told.push(`${pid} ${signal}`);
    return true;
  });
  try {
    const row = (name: string, pid: number) => ({
      name,
      pid,
      state: "alive" as const,
      restarts: 0,
      doing: "",
    });
    const updates = { onPublished: (_: number) => {} };
    const board = { look: () => [row("actor.0", 10), row("actor.1", 11)] };
    const core = { updates, board, processes: () => ({ list: [] }) } as unknown as ConstructorParameters<
      typeof FaultInjector
    >[1]["core"];
    const faults = readFaults("actor.1@step=3:sigkill,actor.0@t=2s:sigstop=500ms,trainer.0@step=1:sigkill");
    const injector = new FaultInjector(faults, { core });
    updates.onPublished(2);
    expect(told).toEqual([]);
    updates.onPublished(4);
    updates.onPublished(5);
    expect(told).toEqual(["11 SIGKILL"]);
    vi.advanceTimersByTime(2500);
    expect(told).toEqual(["11 SIGKILL", "10 SIGSTOP", "10 SIGCONT"]);
    expect([injector.struck, injector.unmet]).toEqual([2, ["trainer.0@step=1:sigkill"]]);
    injector.close();
  } finally {
    kill.mockRestore();
    vi.useRealTimers();
  }
});
