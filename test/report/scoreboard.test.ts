import { describe, expect, test } from "vitest";
import { headlineCards, phaseBar, scoreTables } from "../../lib/report/scoreboard.ts";
import { syntheticSummary } from "./synthetic-run-folder.ts";

const summary = syntheticSummary();
const domains = Object.keys(summary.before[0]!.domains);
/** Text between tags, blanks folded. */
const words = (html: { readonly text: string }) =>
  html.text
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

test("the cards: score, length, time, speed", () => {
  const text = words(headlineCards(summary));
  expect(text).toContain("Mean score, T=1 0.516 → 0.830 +31.4 points");
  expect(text).toContain("Tokens per answer 27.7 → 19.7 −29 %");
  expect(text).toContain("Wall time 2:28 min 120 optimizer steps");
  expect(text).toContain("26.1k tok/s");
  expect(words(headlineCards({ ...summary, before: [], after: [] }))).not.toMatch(/NaN|undefined|Mean score/);
});

describe("the tables", () => {
  const { text } = scoreTables(summary, domains);

  test("give a domain the colour it has in the charts", () => {
    domains.forEach((domain, hue) => {
      expect(text).toContain(`background:var(--hue-${hue})"></span>${domain}</td>`);
    });
  });

  test("draw before and after where they are between 0 and 1", () => {
    const math = text.slice(text.indexOf(">math</td>"), text.indexOf(">code</td>"));
    expect([...math.matchAll(/<circle cx="([\d.]+)%"/g)].map(([, x]) => x)).toEqual(["57.00", "92.00"]);
    const bars = [
      ...math.matchAll(/x1="([\d.]+)%" x2="([\d.]+)%" y1="11" y2="11" stroke="[^"]+" stroke-width="6"/g),
    ];
    // two standard errors of 96 Bernoulli draws to each side, cut at 1
    expect(bars.map(([, from, to]) => [from, to])).toEqual([
      ["46.89", "67.11"],
      ["86.46", "97.54"],
    ]);
  });

  test("green is better: more score, fewer tokens", () => {
    expect(text).toContain('<td class="up">+35.0</td>');
    expect(text).toContain('<td class="up">−28 %</td>');
    const worse = { ...summary, after: summary.before, before: summary.after };
    expect(scoreTables(worse, domains).text).toContain('<td class="down">−35.0</td>');
  });

  test("without the evaluation after, stand with what there is", () => {
    expect(words(scoreTables({ ...summary, after: [] }, domains))).not.toMatch(/NaN|undefined/);
  });
});

test("phases share the bar by their seconds", () => {
  const { text } = phaseBar({ ...summary, seconds: { a: 30, b: 10, c: 0 } });
  expect([...text.matchAll(/width:([\d.]+)%/g)].map(([, w]) => w)).toEqual(["75.00", "25.00"]);
  expect(phaseBar({ ...summary, seconds: {} }).text).toBe("");
});
