import { expect, test } from "vitest";
import { isHeldOut } from "../../lib/data/holdout.ts";

test("a tenth of arbitrary questions is held out", () => {
  const n = 20_000;
  let held = 0;
  for (let i = 0; i < n; i++) held += Number(isHeldOut(`question ${i}`));
  expect(Math.abs(held / n - 0.1)).toBeLessThan(0.0085); // 4 sd
});

test("the split is frozen: these questions stay where they are in every version", () => {
  const questions = Array.from(
    { length: 60 },
    (_, i) => `Apply to ${i % 5}: +${1 + (i % 4)} *${1 + (i % 3)} mod 5`,
  );
  expect(questions.flatMap((question, i) => (isHeldOut(question) ? [i] : []))).toMatchInlineSnapshot(`
    [
      0,
      14,
      18,
      40,
      51,
    ]
  `);
});
