import { describe, expect, test } from "vitest";
import { REFERENCE } from "../../../lib/domains/instruction-following/reference.ts";
import { STRICT } from "../../../lib/domains/instruction-following/strict.ts";
import { instructionFollowing } from "../../../lib/domains/instruction-following/verify.ts";

type Asked = readonly (readonly [id: string, args?: Record<string, unknown> | null])[];

const referenceOf = (asked: Asked, given: object = {}) => ({
  instruction_id_list: asked.map(([id]) => id),
  kwargs: asked.map(([, args]) => args ?? null),
  ...given,
});
const NO_COMMA = ["punctuation:no_comma"] as const;

test("a reference says how it is judged: strictly and as in training where it does not", () => {
  expect(instructionFollowing.parseReference(referenceOf([NO_COMMA]))).toMatchObject({
    rules: STRICT,
    mode: "train",
  });
  const asked = referenceOf([NO_COMMA], { compat: "reference", mode: "loose" });
  expect(instructionFollowing.parseReference(asked)).toMatchObject({ rules: REFERENCE, mode: "loose" });
});

describe("a row that cannot be graded is refused, and says where", () => {
  test.each<[string, unknown, string]>([
    ["no object", 3, "reference"],
    ["no constraints", { instruction_id_list: [], kwargs: [] }, "instruction_id_list"],
    [
      "kwargs of another length",
      { instruction_id_list: ["punctuation:no_comma"], kwargs: [] },
      "1 constraints with 0",
    ],
    ["an unknown constraint", referenceOf([["keywords:nothing"]]), '"keywords:nothing"'],
    ["a name that objects have", referenceOf([["constructor"]]), '"constructor"'],
    [
      "a missing argument",
      referenceOf([NO_COMMA, ["keywords:existence", {}]]),
      "keywords:existence (number 2): keywords",
    ],
    ["an argument that is null", referenceOf([["keywords:existence", { keywords: null }]]), "keywords"],
    ["zero for not given", referenceOf([["count:lowercase_counting", { N: 0 }]]), "N: "],
    [
      "another comparison",
      referenceOf([["length_constraints:number_words", { num_words: 3, relation: "at most" }]]),
      "relation",
    ],
    [
      "an expression that takes more than linear time",
      referenceOf([["keywords:existence", { keywords: ["(a)\\1"] }]], { compat: "reference" }),
      "back reference",
    ],
    ["an unknown mode", { ...referenceOf([NO_COMMA]), mode: "lenient" }, "mode"],
  ])("%s", (_, raw, part) => {
    let thrown: unknown;
    try {
      instructionFollowing.parseReference(raw);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "HONE_ERR_DATA", message: expect.stringContaining(part) });
  });
});
