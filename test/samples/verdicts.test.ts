import { expect, test } from "vitest";
import { tables } from "../../lib/samples/tables.ts";
import { Verdicts } from "../../lib/samples/verdicts.ts";

test("the first and the last verdict of a completion, however late they come", () => {
  const { verdicts } = tables();
  const of = new Verdicts(verdicts);
  const push = (completion: number) =>
    verdicts.push({ at: 0, size: 0, completion, version: 1, status: 1, score: 1 });
  expect(of.first(0)).toBeUndefined();
  for (const completion of [3, 0, 3, 5000, 3]) push(completion);
  expect([of.first(3), of.last(3), of.first(0), of.last(0), of.first(5000)]).toEqual([0, 4, 1, 1, 3]);
  push(0);
  expect([of.first(0), of.last(0), of.first(4), of.first(99_999)]).toEqual([1, 5, undefined, undefined]);
});
