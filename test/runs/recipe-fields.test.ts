import { expect, test } from "vitest";
import { differingFields, fieldsOf, valuesOf } from "../../lib/runs/recipe-fields.ts";

const a = fieldsOf({
  name: "a",
  seed: 0,
  optimizer: { lr: 0.1, beta1: 0.9 },
  sinks: ["jsonl"],
  domains: { math: { weight: 1 } },
});
const b = fieldsOf({
  name: "b",
  seed: 1,
  optimizer: { lr: 0.2, beta1: 0.9 },
  sinks: ["jsonl", "x"],
  domains: { code: {} },
});

test("fields by their paths, lists whole", () => {
  expect([...a]).toEqual([
    ["name", '"a"'],
    ["seed", "0"],
    ["optimizer.lr", "0.1"],
    ["optimizer.beta1", "0.9"],
    ["sinks", '["jsonl"]'],
    ["domains.math.weight", "1"],
  ]);
});

test("what is not the same in all, also where one has it not; name and seed are no difference", () => {
  expect(differingFields([a, a, b])).toEqual(["optimizer.lr", "sinks", "domains.math.weight"]);
  expect(differingFields([a, a])).toEqual([]);
  expect(differingFields([])).toEqual([]);
  expect(valuesOf([a, b, a], "optimizer.lr")).toEqual(["0.1", "0.2"]);
  expect(valuesOf([a, b], "domains.math.weight")).toEqual(["1", "not given"]);
});
