// Deliberate faults (mutants) that these tests detect: only the first line after "Answer:" is read; end tokens stay
// in; only the last box is read; qualifiers of the unknown are dropped; "k in N" is read as "k in Z"; an option's
// letter is not replaced by its text.
import { expect, test } from "vitest";
import { math } from "../../lib/domains/math/verify.ts";
import { Dice } from "../fixtures/math-dice.ts";
import { mathStatements, type Statement } from "../fixtures/math-statements.ts";
import { longest } from "../long.ts";

const ROUNDS = longest ? 1500 : 150;
/** The share of right answers that may be refused. */
const MOST_REFUSED = 0.02;

function accepted({ gold, text, after }: Statement): boolean {
  const reference = math.parseReference({ answer: gold, ...(after && { after }) });
  return (math.verify({ text, finish: "stop" }, reference) as { status: string }).status === "correct";
}

test(`of ${ROUNDS} draws strict accepts no wrong answer and no hedge, and the right ones`, () => {
  const all = mathStatements(new Dice(20_261_128), ROUNDS);
  const right = all.filter(({ kind }) => kind === "right");
  expect(right.length).toBeGreaterThan(400);
  expect(all.filter(({ kind }) => kind === "wrong").length).toBeGreaterThan(400);
  expect(all.filter(({ kind }) => kind === "hedge").length).toBeGreaterThan(400);
  expect(all.filter((one) => one.kind !== "right" && accepted(one))).toEqual([]);
  const refused = right.filter((one) => !accepted(one));
  expect(refused.length / right.length, JSON.stringify(refused, null, 1)).toBeLessThanOrEqual(MOST_REFUSED);
}, 120_000);
