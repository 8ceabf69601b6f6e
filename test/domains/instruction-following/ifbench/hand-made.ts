// Tests tables of verdicts that were worked out by hand from the published checkers' text.
import { expect, test } from "vitest";
import type { Compat } from "../../../../lib/domains/compat.ts";
import type { ConstraintTable } from "../../../../lib/domains/instruction-following/constraint.ts";
import { REFERENCE } from "../../../../lib/domains/instruction-following/reference.ts";
import { STRICT } from "../../../../lib/domains/instruction-following/strict.ts";
import { ResponseText } from "../../../../lib/domains/instruction-following/text/response-text.ts";

const RULES = { reference: REFERENCE, strict: STRICT };

/** True if the response follows the constraint; the response; and the constraint's arguments, if any. */
export type HandMade = readonly [
  expected: boolean,
  response: string,
  args?: Readonly<Record<string, unknown>>,
];

export function verdict(table: ConstraintTable, id: string, compat: Compat, made: HandMade): boolean {
  return RULES[compat].bind(table[id]!, made[2] ?? {})(new ResponseText(made[1]));
}

/** Makes one test per constraint: every row of its table has the stated verdict. */
export function holds(
  table: ConstraintTable,
  compat: Compat,
  cases: Readonly<Record<string, readonly HandMade[]>>,
): void {
  test.each(Object.entries(cases))(`%s has the verdicts of its table in ${compat} mode`, (id, rows) => {
    const found = rows.map((row) => [verdict(table, id, compat, row), ...row.slice(1)]);
    expect(found).toEqual(rows);
  });
}
