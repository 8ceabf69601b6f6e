import { expect, test } from "vitest";
import { variableNames } from "../../lib/config/variable-names.ts";

test("names of variables are taken, values and assignments are not", () => {
  expect(variableNames.parse(undefined)).toEqual([]);
  expect(variableNames.parse(["HF_TOKEN", "_x1"])).toEqual(["HF_TOKEN", "_x1"]);
  for (const name of ["A=b", "sk-1234", "1A", "", "a b"])
    expect(variableNames.safeParse([name]).success, name).toBe(false);
});
