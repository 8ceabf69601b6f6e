import { expect, test } from "vitest";
import { contentKey } from "../../lib/data/content.ts";
import { HeldRows } from "../../lib/data/held-rows.ts";

/** More keys than a page holds; two of them differ only in the last character. */
const ROWS = Array.from({ length: 9000 }, (_, i) => ({ row: 7 * i, key: contentKey(`question ${i}`) }));
ROWS[11] = { row: 1, key: `${ROWS[10]!.key.slice(0, -1)}${ROWS[10]!.key.endsWith("A") ? "B" : "A"}` };

function heldRows(): HeldRows {
  const held = new HeldRows();
  for (const row of ROWS) held.add(row);
  return held;
}

test("gives back every row with its key, in the order in which they came", () => {
  const held = heldRows();
  expect(held.length).toBe(ROWS.length);
  expect([...held]).toEqual(ROWS);
  expect([held.row(8999), held.key(4096)]).toEqual([7 * 8999, ROWS[4096]!.key]);
});

test("knows the order of the keys, as of strings", () => {
  const held = heldRows();
  const sorted = ROWS.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  expect(Array.from(held.byKey(), (at) => held.key(at))).toEqual(sorted.map(({ key }) => key));
});
