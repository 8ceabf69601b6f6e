/** Tests a table of verdicts: what one kind of response scores under both sets of rules. */
import { expect, test } from "vitest";
import type { ConstraintTable } from "../../../lib/domains/instruction-following/constraint.ts";
import { REFERENCE } from "../../../lib/domains/instruction-following/reference.ts";
import { STRICT } from "../../../lib/domains/instruction-following/strict.ts";
import { ResponseText } from "../../../lib/domains/instruction-following/text/response-text.ts";

const RULES = { reference: REFERENCE, strict: STRICT };

/** `both` if the two sets of rules agree on the verdict; otherwise [reference, strict]. */
export type Row = readonly [
  why: string,
  id: string,
  args: Readonly<Record<string, unknown>>,
  response: string,
  expected: boolean | readonly [reference: boolean, strict: boolean],
];

export function checkVerdicts(table: ConstraintTable, rows: readonly Row[]): void {
  test.each(rows)("%s (%s)", (_, id, args, response, expected) => {
    const verdicts = (["reference", "strict"] as const).map((compat) =>
      RULES[compat].bind(table[id]!, args)(new ResponseText(response)),
    );
    expect(verdicts).toEqual(typeof expected === "boolean" ? [expected, expected] : expected);
  });

  test("every constraint of the table has a verdict of each kind here", () => {
    for (const id of Object.keys(table)) {
      const seen = rows.filter((row) => row[1] === id).map((row) => [row[4]].flat()[0]);
      expect([id, new Set(seen)]).toEqual([id, new Set([true, false])]);
    }
  });
}

/** Tests that constraints with these ids refuse the arguments. */
export function checkRefusals(
  table: ConstraintTable,
  rows: readonly (readonly [id: string, args: Readonly<Record<string, unknown>>])[],
): void {
  test.each(rows)("%s refuses %j", (id, args) => {
    for (const compat of ["reference", "strict"] as const)
      expect(() => RULES[compat].bind(table[id]!, args)).toThrow();
  });
}
