import { expect, test } from "vitest";
import { expandedRuns, versionRuns } from "../../../lib/orchestration/records/version-runs.ts";

test("versions are run-length pairs", () => {
  expect(versionRuns(Uint32Array.of(3, 3, 4, 4, 4, 6))).toEqual([0, 3, 2, 4, 5, 6]);
  expect(versionRuns(new Uint32Array(0))).toEqual([]);
});

test("pairs are versions again, one a token", () => {
  expect(expandedRuns([0, 3, 2, 4, 5, 6], 6)).toEqual(Uint32Array.of(3, 3, 4, 4, 4, 6));
  expect(expandedRuns([], 0)).toEqual(new Uint32Array(0));
});
