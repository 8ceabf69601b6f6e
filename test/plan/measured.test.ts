import { expect, test } from "vitest";
import type { Network, RolePlan } from "../../lib/plan/index.ts";
import { fits, type Measured } from "../../lib/plan/measured.ts";

const plan = (totals: readonly number[], capacity?: number): Measured => ({
  network: {} as Network,
  device: "GPU",
  hostRows: [],
  ...(capacity !== undefined && { capacity }),
  roles: totals.map(
    (total): RolePlan => ({ role: "actor", devices: 1, rows: [], total, keyValueTokens: { asked: 0 } }),
  ),
});

test("every role has to fit, to the last byte; what nobody knows holds anything", () => {
  expect(fits(plan([10, 3], 10))).toBe(true);
  expect(fits(plan([3, 11], 10))).toBe(false);
  expect(fits(plan([1e15]))).toBe(true);
});

test("what lies on the host has to fit there, where anybody knows how much that is", () => {
  const hosted = (...bytes: number[]) => ({
    ...plan([10], 10),
    hostRows: bytes.map((n) => ({ name: "", bytes: n })),
  });
  expect(fits({ ...hosted(3, 4), hostCapacity: 7 })).toBe(true);
  expect(fits({ ...hosted(3, 4), hostCapacity: 6 })).toBe(false);
  expect(fits(hosted(1e15))).toBe(true);
});
