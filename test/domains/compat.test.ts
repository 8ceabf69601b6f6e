import { expect, test } from "vitest";
import { compatField } from "../../lib/domains/compat.ts";

test("a reference that does not say how it is judged is judged strictly", () => {
  expect(compatField.parse(undefined)).toBe("strict");
  expect(compatField.parse("reference")).toBe("reference");
  expect(compatField.safeParse("lax").success).toBe(false);
});
