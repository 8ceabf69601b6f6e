import { expect, test } from "vitest";
import { FAMILIES } from "../../lib/domains/families.ts";
import { math } from "../../lib/domains/math/verify.ts";
import { referenceFault, UNVERSIONED, VERIFIERS, versionOf } from "../../lib/domains/verifiers.ts";

test("every problem family names a verifier that exists", () => {
  const names = VERIFIERS.map(({ name }) => name);
  for (const family of FAMILIES) expect(names).toContain(family.verifier);
});

test("names are words a recipe can spell", () => {
  for (const { name } of VERIFIERS) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
});

test("only the package's verifiers have a version", () => {
  expect([versionOf("math"), versionOf("somebody's")]).toEqual([math.version, UNVERSIONED]);
});

test("refusals say the same of all rows they concern, whatever their texts and numbers", () => {
  const long = [5000, 6000].map((n) => referenceFault(math, { answer: "1".repeat(n) }));
  expect(long).toEqual(Array(2).fill("reference refused: math: gold answer of # characters, over #"));
  expect(referenceFault(undefined, 3)).toBeUndefined();
});
