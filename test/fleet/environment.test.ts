import { expect, test } from "vitest";
import { readEnvironment, roleVariables } from "../../lib/fleet/environment.ts";

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
