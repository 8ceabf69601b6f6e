import { expect, test } from "vitest";
import { statedAnswer } from "../../../../lib/domains/math/read/stated-answer.ts";

// Deliberate faults (mutants) that these tests detect: the first #### or box instead of the last, braces are not
// counted, a worked solution is taken whole.

test.each<[string, string, string | undefined, string?]>([
  ["answer", "She sold 48/2 = 24.\n#### 72", "72", "answer, after ####"],
  ["answer", "#### 1\n...\n#### 1,000 ", "1,000", "answer, after ####"],
  ["answer", "so \\boxed{1}, no: \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}", "answer, in \\boxed"],
  ["answer", "\\boxed{\\{1, 2\\}}", "\\{1, 2\\}", "answer, in \\boxed"],
  ["answer", "\\boxed{never closed", "\\boxed{never closed", "answer"],
  ["answer", "72", "72", "answer"],
  ["answer", "####", undefined],
  ["answer", "She sold 72.\n#### ", undefined],
  ["answer", "\\boxed{72}\n####", "72", "answer, in \\boxed"],
  ["solution", "72", "72", "solution"],
  ["solution", "It is plain to see that all of this comes to 72 in the end.", undefined],
])("%s %j states %j", (field, text, answer, from = field) => {
  const stated = statedAnswer(field, text, field === "solution");
  expect(stated).toEqual(answer === undefined ? undefined : { answer, from });
});
