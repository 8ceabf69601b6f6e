// Deliberate faults (mutants) that these tests detect: strict skips its rule against wordless answers; elements are
// counted as the original checkers do, each for one constraint after the other.
import { expect, test } from "vitest";
import { instructionFollowing } from "../../lib/domains/instruction-following/verify.ts";
import { GENERATED_IDS, type GeneratedCase, generatedCases } from "../fixtures/instructions/cases.ts";
import { Dice } from "../fixtures/math-dice.ts";
import { longest } from "../long.ts";

const ROUNDS = longest ? 60 : 6;
/** The share of honest, compliant answers that may be refused. */
const MOST_REFUSED = 0.02;

async function statusOf({ id, args, response }: GeneratedCase): Promise<string> {
  const reference = instructionFollowing.parseReference({ instruction_id_list: [id], kwargs: [args] });
  const verdict = await instructionFollowing.verify({ text: response, finish: "stop" }, reference);
  return (verdict as { status: string }).status;
}

test(`strict pays for no broken constraint and no empty answer, and for what follows its constraint, ${ROUNDS} draws each`, async () => {
  await instructionFollowing.prepare!();
  const cases = generatedCases(new Dice(20_261_128), ROUNDS);
  const right = cases.filter(({ kind }) => kind === "right");
  expect(right.length).toBeGreaterThan(400);
  expect(cases.length - right.length).toBeGreaterThan(400);
  expect(GENERATED_IDS.length).toBeGreaterThan(60);
  const paid: GeneratedCase[] = [];
  const refused: GeneratedCase[] = [];
  for (const one of cases) {
    const isRight = (await statusOf(one)) === "correct";
    if (isRight && one.kind !== "right") paid.push(one);
    if (!isRight && one.kind === "right") refused.push(one);
  }
  expect(paid).toEqual([]);
  expect(refused.length / right.length, JSON.stringify(refused, null, 1)).toBeLessThanOrEqual(MOST_REFUSED);
}, 120_000);
