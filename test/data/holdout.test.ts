import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { contentKey } from "../../lib/data/content.ts";
import { type HeldOutRule, heldOutRule, isHeldOut, splitPoint } from "../../lib/data/holdout.ts";
import { scratch } from "./filtered.ts";

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

const rows = Array.from({ length: 1000 }, (_, i) => ({
  key: contentKey(`question ${i}`),
  point: splitPoint(`question ${i}`),
}));
function heldBy(rule: HeldOutRule, all: typeof rows): ReadonlySet<string> {
  for (const [row, { key, point }] of all.entries()) rule.take({ row, point, key: () => key });
  const held = rule.end(all.length);
  for (const { row, key } of held) expect(all[row]!.key).toBe(key);
  return new Set(Array.from(held, ({ key }) => key));
}
const keys = (some: readonly (typeof rows)[number][]) => some.map(({ key }) => key).sort();

test("a share holds every smaller one, and its part of the rows", () => {
  const shares = [0.02, 0.1, 0.5, 0.9].map((share) => heldBy(heldOutRule(share), rows));
  for (const [i, held] of shares.slice(1).entries())
    for (const key of shares[i]!) expect(held.has(key)).toBe(true);
  for (const [i, share] of [0.02, 0.1, 0.5, 0.9].entries())
    expect(Math.abs(shares[i]!.size / 1000 - share)).toBeLessThan(
      4 * Math.sqrt((share * (1 - share)) / 1000),
    );
  expect([...heldBy(heldOutRule(), rows)].sort()).toEqual(
    rows.flatMap(({ key }, i) => (isHeldOut(`question ${i}`) ? [key] : [])).sort(),
  );
});

test("a number holds out as many, whatever the order of the rows", () => {
  const held = heldBy(heldOutRule(55), rows);
  expect(held.size).toBe(55);
  expect([...heldBy(heldOutRule(55), rows.toReversed())].sort()).toEqual([...held].sort());
  const least = rows.toSorted((a, b) => a.point - b.point).slice(0, 55);
  expect([...held].sort()).toEqual(keys(least));
  expect(() => heldBy(heldOutRule(1000), rows)).toThrow("heldOut is 1000, but there are only 1000 rows");
});

describe("a file of keys", () => {
  const some = rows.slice(3, 6);
  const foreign = contentKey("of another set");
  test.each([
    ["lines", `\uFEFF${keys(some).join("\r\n")}\n${foreign}\n`],
    ["a JSON array", JSON.stringify([...keys(some), foreign])],
    ["held-out.json of a run", JSON.stringify({ math: keys(some), code: [foreign] })],
  ])("as %s", (_, text) => {
    const path = scratch("keys");
    writeFileSync(path, text);
    expect([...heldBy(heldOutRule(path), rows)].sort()).toEqual(keys(some));
  });

  test.each([
    ["is empty", "", "it is empty"],
    ["holds something else", "question 3\n", 'it holds "question"'],
    ["is no JSON", "[1,", "is not a list of held-out rows"],
    ["is of other rows", foreign, "none of its 1 content keys belongs to one of the 1000 rows"],
  ])("that %s is an error", (_, text, message) => {
    const path = scratch("keys");
    writeFileSync(path, text);
    expect(() => heldBy(heldOutRule(path), rows)).toThrow(message);
  });

  test("that is not there is an error", () => {
    expect(() => heldOutRule("/no/such/file")).toThrow(
      "/no/such/file is not a list of held-out rows: the file does not exist",
    );
  });
});
