import { expect, test } from "vitest";
import { FAMILIES } from "../../lib/domains/families.ts";
import { VERIFIERS } from "../../lib/domains/verifiers.ts";

test("every problem family names a verifier that exists", () => {
  const names = VERIFIERS.map(({ name }) => name);
  for (const family of FAMILIES) expect(names).toContain(family.verifier);
});

test("names are words a recipe can spell", () => {
  for (const { name } of VERIFIERS) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
});
