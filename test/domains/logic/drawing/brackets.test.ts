import fc from "fast-check";
import { expect, test } from "vitest";
import { bracketWalk, closerOf, OPENING, openAfter } from "../../../../lib/domains/logic/drawing/brackets.ts";
import { CounterRandom } from "../../../../lib/random.ts";

/** Removes matching neighbours repeatedly; returns the brackets that remain. */
function cancelled(text: string): string {
  const shorter = text.replace(/\(\)|\[\]|\{\}|<>/g, "");
  return shorter === text ? text : cancelled(shorter);
}

test("what is open is what cancelling leaves, and nothing where it leaves a closing one", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(..."()[]{}<>")), (brackets) => {
      const left = cancelled(brackets.join(""));
      expect(openAfter(brackets.join(""))).toBe(/[)\]}>]/.test(left) ? undefined : left);
    }),
  );
});

test("every opening bracket has its closing one", () => {
  expect([...OPENING].map(closerOf)).toEqual([")", "]", "}", ">"]);
});

test("a walk has its length, its kinds, and as many open as asked", () => {
  for (let i = 0; i < 300; i++) {
    const random = new CounterRandom(9, i);
    const [half, unclosed, kinds] = [random.int(1, 12), random.int(0, 5), random.int(1, 4)];
    const length = 2 * half + unclosed;
    const text = bracketWalk(random, length, kinds, unclosed);
    expect(text.length).toBe(length);
    expect(cancelled(text).length).toBe(unclosed);
    expect(/^[([{<]*$/.test(cancelled(text))).toBe(true);
    expect([...text].every((bracket) => "()[]{}<>".indexOf(bracket) < 2 * kinds)).toBe(true);
  }
});
