import { expect, test } from "vitest";
import { hiddenChoices } from "../../lib/domains/hidden-choices.ts";

const HIDDEN = "multiple choice, and the question does not show what there is to choose from";

test.each([
  ["a list", { choices: ["one", "two"] }, `choices: ${HIDDEN}`],
  ["by letter", { options: { A: "one", B: "two" } }, `options: ${HIDDEN}`],
  ["texts and labels", { choices: { text: ["one", "two"], label: ["A", "B"] } }, `choices: ${HIDDEN}`],
  ["one of them is shown", { choices: ["Which", "two"] }, `choices: ${HIDDEN}`],
  ["shown", { choices: ["Which ", "it"] }, undefined],
  ["nothing to choose from", { choices: ["one"], options: [] }, undefined],
  ["not texts", { choices: 3, options: [1, 2] }, undefined],
  ["no row", "one, two", undefined],
  ["null", { choices: null, options: { text: null } }, undefined],
])("%s", (_, row, expected) => {
  expect(hiddenChoices(row, "Which is it?")).toBe(expected);
});
