import { expect, test } from "vitest";
import { expectRoles, processCount, rolesOf, verifierWorkers } from "../../lib/config/roles.ts";

test("roles as the recipe counts processes, or GPUs, which are none of a CPU's", () => {
  const processes = { actors: 2, trainers: 1 };
  expect(rolesOf({ device: "cuda", hardware: { processes, gpus: 8, actorGpus: 3 } })).toBe(processes);
  expect(rolesOf({ device: "cuda", hardware: { gpus: 8, actorGpus: 3 } })).toEqual({
    actors: 3,
    trainers: 5,
  });
  expect(rolesOf({ device: "cpu", hardware: { gpus: 8, actorGpus: 3 } })).toBeUndefined();
  expect(rolesOf({ device: "cuda", hardware: { gpus: 8 } })).toBeUndefined();
  expect(rolesOf({})).toBeUndefined();
});

test("verifier hosts have workers each; without them the run has its own", () => {
  const verification = { workers: 3 };
  const judged = (processes: { actors: number; trainers: number; verifiers?: number }) =>
    verifierWorkers({ verification, hardware: { processes } });
  expect([judged({ actors: 1, trainers: 0, verifiers: 4 }), judged({ actors: 1, trainers: 0 })]).toEqual([
    12, 3,
  ]);
  expect(verifierWorkers({ verification })).toBe(3);
  expect(processCount({ actors: 2, trainers: 1, verifiers: 4 })).toBe(7);
  expect(processCount({ actors: 2, trainers: 1 })).toBe(3);
});

test("who needs them is told what to say", () => {
  expect(() => expectRoles({ hardware: { gpus: 8 } })).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_USAGE",
      hint: expect.stringContaining("hardware.processes"),
    }),
  );
});
