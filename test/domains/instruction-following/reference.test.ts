// Deliberate faults (mutants) that these tests detect: IFEval's modes use the marked response too, the strict check
// is used.
import { expect, test } from "vitest";
import { CONSTRAINTS } from "../../../lib/domains/instruction-following/constraints.ts";
import { REFERENCE } from "../../../lib/domains/instruction-following/reference.ts";
import { ResponseText } from "../../../lib/domains/instruction-following/text/response-text.ts";

test("marks count in training alone, and only the constraint itself is asked of a blank response", () => {
  const marked = "a[BEGIN FINAL RESPONSE]b[END FINAL RESPONSE]c";
  expect(REFERENCE.responseOf(marked, "train")).toBe("b");
  expect(REFERENCE.responseOf(marked, "strict")).toBe(marked);
  const modes = ["train", "strict", "loose", "constraint"] as const;
  expect(modes.filter((mode) => !REFERENCE.isEmpty(" \n", mode))).toEqual(["constraint"]);
  expect(REFERENCE.isEmpty("\u200b", "train")).toBe(false);
});

test("checks are those of the published checkers", () => {
  const check = REFERENCE.bind(CONSTRAINTS.get("detectable_format:json_format")!, {});
  expect(check(new ResponseText("1"))).toBe(true);
});
