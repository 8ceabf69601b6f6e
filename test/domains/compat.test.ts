import { describe, expect, test } from "vitest";
import type { ProblemSource } from "../../lib/data/index.ts";
import { compatField, judgedBy } from "../../lib/domains/compat.ts";
import type { Problem } from "../../lib/records.ts";

const problem = (reference: unknown): Problem =>
  ({ id: "1", domain: "math", verifier: "math", question: "?", reference }) as unknown as Problem;
const sourceOf = (reference: unknown): ProblemSource => ({
  domain: "math",
  families: ["a"],
  problem: () => problem(reference),
  heldOut: () => problem(reference),
  heldOutCount: 3,
});

test("a reference that does not say how it is judged is judged strictly", () => {
  expect(compatField.parse(undefined)).toBe("strict");
  expect(compatField.parse("reference")).toBe("reference");
  expect(compatField.safeParse("lax").success).toBe(false);
});

describe("problems judged by the reference's rules", () => {
  test("say so to their verifier, trained and held out", () => {
    const source = judgedBy(sourceOf({ answer: "4" }), "reference");
    expect([source.problem(0).reference, source.heldOut(0).reference]).toEqual(
      Array(2).fill({ answer: "4", compat: "reference" }),
    );
    expect([source.domain, source.families, source.heldOutCount]).toEqual(["math", ["a"], 3]);
  });

  test.each(["4", 4, null, ["4"]])("a reference of %j cannot say so", (reference) => {
    expect(() => judgedBy(sourceOf(reference), "reference").problem(0)).toThrow(
      expect.objectContaining({
        code: "HONE_ERR_CONFIG",
        message: expect.stringContaining("domains.math.verifier.compat"),
      }),
    );
  });
});
