import { expect, test } from "vitest";
import { type ChaosShape, drawFaults } from "../../lib/fleet/chaos-faults.ts";
import { readFaults, spellFault } from "../../lib/fleet/faults.ts";

const shape: ChaosShape = { seed: 3, seconds: 60, actors: 2, trainers: 2, redis: true };
const seeds = Array.from({ length: 40 }, (_, seed) => seed);

test("a seed's faults are always the same, in order, within the time, and as HONE_FAULTS has them", () => {
  expect(drawFaults(shape)).toEqual(drawFaults(shape));
  expect(drawFaults(shape)).not.toEqual(drawFaults({ ...shape, seed: 4 }));
  for (const seed of seeds) {
    const faults = drawFaults({ ...shape, seed });
    const times = faults.map(({ at }) => ("ms" in at ? at.ms : Number.NaN));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.length).toBeGreaterThanOrEqual(8);
    expect(times.at(-1)).toBeLessThan(60_000);
    expect(readFaults(faults.map(spellFault).join())).toEqual(faults);
  }
});

test("everybody is met: each actor, each rank, those that judge, the server where it is the run's own", () => {
  const met = (more: Partial<ChaosShape>) => {
    const all = seeds.flatMap((seed) => drawFaults({ ...shape, ...more, seed }));
    return new Set(all.map((fault) => (fault.role === "redis" ? "redis" : `${fault.role}.${fault.rank}`)));
  };
  expect([...met({})].sort()).toEqual([
    "actor.0",
    "actor.1",
    "redis",
    "trainer.0",
    "trainer.1",
    "verifier.0",
  ]);
  const hosts = [...met({ verifiers: 3 })].filter((name) => name.startsWith("verifier"));
  expect(hosts.sort()).toEqual(["verifier.0", "verifier.1", "verifier.2"]);
  expect([...met({ redis: false, trainers: 0 })].sort()).toEqual(["actor.0", "actor.1", "verifier.0"]);
});
