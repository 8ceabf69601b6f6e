import { expect, test } from "vitest";
import { droppedGroupsWarning } from "../../../lib/orchestration/run/dropped-groups.ts";
import type { DropReason } from "../../../lib/records.ts";
import { settledOf } from "../pipeline-accounting.ts";

function warningsOf(P: number, ...groups: (DropReason | undefined)[]): string[] {
  const warnings: string[] = [];
  const listen = droppedGroupsWarning(P, (message) => warnings.push(message));
  for (const dropped of groups) listen(settledOf(0, [], dropped));
  return warnings;
}
const zero = (n: number) => new Array<DropReason>(n).fill("zero-advantage");

test("four steps' worth of dropped groups in a row is told, and each doubling, with the reasons", () => {
  expect(warningsOf(2, ...zero(7))).toEqual([]);
  expect(warningsOf(2, ...zero(7), "unscored", ...zero(23), "hook")).toEqual([
    "nothing to train on: the last 8 groups in a row were dropped (zero-advantage 7, unscored 1)",
    "nothing to train on: the last 16 groups in a row were dropped (zero-advantage 15, unscored 1)",
    "nothing to train on: the last 32 groups in a row were dropped (zero-advantage 30, unscored 1, hook 1)",
  ]);
});

test("one group that is kept ends the dropped", () => {
  expect(warningsOf(2, ...zero(7), undefined, ...zero(7))).toEqual([]);
  expect(warningsOf(1, ...zero(4), undefined, ...zero(4))).toHaveLength(2);
});
