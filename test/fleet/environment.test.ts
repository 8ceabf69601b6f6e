import { expect, test } from "vitest";
import { gpuVariables, readEnvironment, roleVariables } from "../../lib/fleet/environment.ts";

const role = {
  role: "actor",
  rank: 1,
  worldSize: 3,
  runId: "run-1",
  epoch: 4,
  store: "redis://h:1",
} as const;

test("a process reads what it was told", () => {
  expect(readEnvironment(roleVariables(role))).toEqual(role);
});

test.each([
  ["HONE_ROLE", "driver", /HONE_ROLE is "driver", not one of actor, trainer, verifier/],
  ["HONE_ROLE", undefined, /HONE_ROLE is not set/],
  ["RANK", "3", /RANK is "3", not below WORLD_SIZE, which is 3/],
  ["RANK", "-1", /RANK is "-1", not an integer from 0/],
  ["WORLD_SIZE", "0", /WORLD_SIZE is "0", not an integer from 1/],
  ["HONE_EPOCH", "1e2", /HONE_EPOCH is "1e2"/],
  ["HONE_STORE", "", /HONE_STORE is not set/],
])("%s = %s is refused by name", (name, value, message) => {
  expect(() => readEnvironment({ ...roleVariables(role), [name]: value })).toThrow(message);
});

test("a process has a GPU of those that its machine's may use, a verifier host none", () => {
  const gpu = (...args: Parameters<typeof gpuVariables>) => gpuVariables(...args)["CUDA_VISIBLE_DEVICES"];
  expect(gpu("actor", 3, "")).toBe("3");
  expect(gpu("trainer", 1, "4,5")).toBe("5");
  expect(gpu("verifier", 0, "4,5")).toBe("");
  expect(() => gpu("actor", 2, "4,5")).toThrow("process 2 of this machine needs a GPU of its own");
});
