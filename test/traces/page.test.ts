import { expect, test } from "vitest";
import { tracesFigures } from "../../lib/traces/figures.ts";
import { RULES } from "../../lib/traces/heuristic.ts";
import { measureTraces } from "../../lib/traces/measure.ts";
import { tracesPage, typicalOf } from "../../lib/traces/page.ts";
import { tracesTables } from "../../lib/traces/tables.ts";
import type { ReadTrace } from "../../lib/traces/trace.ts";
import { thought } from "./small-evaluation.ts";

const traceOf = (problem: string, text: string) => ({
  problem,
  question: undefined,
  text,
  tokens: 60,
  correct: true,
});

const reads = await Promise.all(
  [
    thought("Given is <b>3</b> & 4.", "Their sum is then 7.", "Let me check: 4 + 3 is 7 too."),
    thought("We are given 5 and 2.", "They add up to a 7.", "Then it goes on for a while."),
  ].map(async (text, i) => (await RULES.read(traceOf(`p${i}`, text))) as ReadTrace),
);
const sides = ["before <1>", "after"].map((name) => ({ name, read: reads, outages: {}, unsplit: 0 }));
const measures = measureTraces(sides);
const content = {
  notes: ["Labelled by nobody."],
  tables: tracesTables(measures),
  figures: tracesFigures(measures),
  sides,
};
const page = tracesPage(content);

test("has four pictures with a bar a side, every category among them, and the tables", () => {
  expect(page.match(/<svg /g)).toHaveLength(4);
  const bars = [...page.matchAll(/data-bar="([^"]*)"/g)].map(([, name]) => name);
  expect(bars).toHaveLength(2 * (9 + 9 + 2 + 2));
  expect(bars).toContain("verification, after");
  expect(bars).toContain("non-productive, before &lt;1&gt;");
  expect(page.match(/<table/g)).toHaveLength(4);
  expect(page).toContain("Labelled by nobody.");
  expect(page).toContain("1 · problem setup");
});

test("loads nothing, lets no text become markup, and closes what it opens", () => {
  expect(page).not.toMatch(/(?:src|href)\s*=|url\(|@import|https?:|<script/);
  expect(page).toContain("Given is &lt;b&gt;3&lt;/b&gt; &amp; 4.");
  for (const tag of ["div", "figure", "svg", "table", "p", "details"])
    expect([tag, page.match(new RegExp(`<${tag}[ >]`, "g"))!.length]).toEqual([
      tag,
      page.match(new RegExp(`</${tag}>`, "g"))!.length,
    ]);
});

test("the example is a trace of usual length with most kinds of steps; of none there is none", () => {
  expect(typicalOf(reads)).toBe(reads[0]);
  expect(typicalOf([reads[1]!, reads[0]!])).toBe(reads[0]);
  expect(typicalOf([])).toBeUndefined();
  expect(tracesPage({ ...content, sides: [{ name: "x", read: [], outages: {}, unsplit: 0 }] })).not.toContain(
    "<details",
  );
});
