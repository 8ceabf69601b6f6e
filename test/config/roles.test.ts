import { expect, test } from "vitest";
import { expectRoles, rolesOf } from "../../lib/config/roles.ts";

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

test("who needs them is told what to say", () => {
  expect(() => expectRoles({ hardware: { gpus: 8 } })).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_USAGE",
      hint: expect.stringContaining("hardware.processes"),
    }),
  );
});
