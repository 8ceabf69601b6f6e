import fc from "fast-check";
import { expect, test } from "vitest";
import { LETTERS, letterChoices } from "../../../../lib/domains/choice/read/choices.ts";

const options = ["one", "two", "three", "four"];

test("without a seed the order is the row's", () => {
  expect(letterChoices(options, 2, "Q", undefined, ".")).toEqual({
    lines: "A. one\nB. two\nC. three\nD. four",
    answer: "C",
    order: [0, 1, 2, 3],
  });
});

test("with one, the letter is where the right option went, and the order says how to go back", () => {
  fc.assert(
    fc.property(fc.nat(1 << 30), fc.string(), fc.nat(3), (seed, content, right) => {
      const { lines, answer, order } = letterChoices(options, right, content, seed, ")");
      expect(lines.split("\n")[LETTERS.indexOf(answer)]).toBe(`${answer}) ${options[right]}`);
      expect(order.map((place, i) => `${LETTERS[i]}) ${options[place]}`).join("\n")).toBe(lines);
      expect(letterChoices(options, right, content, seed, ")").order).toEqual(order);
    }),
  );
});

test("orders differ by content and by seed, and every letter is as often right", () => {
  const answers = Array.from({ length: 4000 }, (_, i) => letterChoices(options, 0, `Q${i}`, 0, ".").answer);
  for (const letter of "ABCD") {
    const count = answers.filter((answer) => answer === letter).length;
    expect(Math.abs(count - 1000)).toBeLessThan(4 * Math.sqrt(4000 * 0.25 * 0.75));
  }
  const other = Array.from({ length: 4000 }, (_, i) => letterChoices(options, 0, `Q${i}`, 1, ".").answer);
  expect(other).not.toEqual(answers);
});
