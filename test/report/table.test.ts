// Deliberate faults (mutants) that these tests detect: the gain as a ratio, a domain's standard error as the mean's,
// "cooler sampling is worth" computed from the tables after training.
import { describe, expect, test } from "vitest";
import { COLORED, PLAIN, width } from "../../lib/report/ansi.ts";
import type { EvaluationTable } from "../../lib/report/summary.ts";
import { beforeAfterText, honestyNotes, settingName, signed } from "../../lib/report/table.ts";
import { syntheticSummary } from "./synthetic-run-folder.ts";

const summary = syntheticSummary();

test("fits 80 columns, the further columns in a block below, and leaves nothing out", () => {
  const [narrow, wide] = [beforeAfterText(summary), beforeAfterText(summary, COLORED, 300)];
  for (const line of narrow.split("\n")) expect(width(line)).toBeLessThanOrEqual(80);
  expect(narrow.split("\n").filter((row) => /^ {2}logic /.test(row))).toHaveLength(4);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences
  const words = (text: string) => new Set(text.replace(/\u001b\[\d+m/g, "").split(/\s+/));
  expect(words(narrow)).toEqual(words(wide));
});

describe("the table", () => {
  const text = beforeAfterText(summary, undefined, 130);
  const rows = text.split("\n");

  test("has a block per sampling setting, a row per domain and one for the mean", () => {
    expect(rows.filter((row) => row.includes("before -> after"))).toEqual([
      "T=1  before -> after",
      "T=0.6, top-p 0.95  before -> after",
    ]);
    expect(rows.filter((row) => /^ {2}math /.test(row))).toHaveLength(2);
    expect(rows.filter((row) => /^ {2}mean /.test(row))).toHaveLength(2);
  });

  test("says score with standard error, points, tokens and percent, truncation and n", () => {
    const logic = rows.find((row) => row.includes("logic"))!;
    expect(logic).toContain("0.340 ±0.048 -> 0.810 ±0.040");
    expect(logic).toContain("+47.0 pt");
    expect(logic).toContain("25.7 -> 19.6");
    expect(logic).toContain("−24 %");
    expect(logic).toContain("96 -> 96");
    expect(rows.find((row) => row.includes(" mean "))).toContain("0.516 ±0.023 -> 0.830 ±0.017");
  });

  test("stands in columns", () => {
    const block = rows.slice(2, 8).map((row) => width(row));
    expect(new Set(block).size).toBe(1);
    const arrows = rows.slice(2, 8).map((row) => row.indexOf("->"));
    expect(new Set(arrows).size).toBe(1);
  });

  test("with colours, says the same", () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences
    expect(beforeAfterText(summary, COLORED, 130).replace(/\u001b\[\d+m/g, "")).toBe(text);
  });
});

describe("honesty", () => {
  test("imperfect demonstrations are named, and what cooler sampling gives without training", () => {
    const notes = honestyNotes(summary).join("\n");
    expect(notes).toContain(
      "deliberately imperfect demonstrations: 15\u00a0% end in a wrong answer and 8\u00a0% never end",
    );
    // 0.696 - 0.516 at T=0.6 before training; 0.890 - 0.696 and 0.830 - 0.516 by training
    expect(notes).toMatch(
      /without training, gains \+18\.0 points.*the gain of training is \+19\.4 points; at T=1 it is \+31\.4\. The difference, \+12\.0 points/,
    );
  });

  test("careless messages of episodes are named, beside the answers or alone", () => {
    const noteOf = (demonstrations: object) => honestyNotes({ ...summary, demonstrations }).join(" ");
    expect(noteOf({ careless: 0.5 })).toContain(
      "demonstrations: 50\u00a0% of the messages in episodes are careless.",
    );
    expect(noteOf({ wrongAnswers: 0.1, endless: 0, careless: 0.1 })).toContain(
      "never end; 10\u00a0% of the messages",
    );
  });

  test("a run with clean demonstrations has no such note", () => {
    const { demonstrations, ...clean } = summary;
    expect(demonstrations).toBeDefined();
    expect(honestyNotes(clean).join()).not.toContain("imperfect");
  });
});

test("a run that stopped before its last evaluation shows what it has", () => {
  const text = beforeAfterText({ ...summary, state: "stopped", after: [] });
  expect(text).toContain("0.340 ±0.048 -> –");
  expect(text).not.toMatch(/NaN|undefined/);
});

test.each([
  [signed(31.25, 1, " pt"), "+31.3 pt"],
  [signed(-40, 0, " %"), "−40 %"],
  [signed(-0.01, 1, ""), "+0.0"],
  [settingName({ temperature: 1, topP: 1 }), "T=1"],
  [settingName({ temperature: 0.6, topP: 0.95 }), "T=0.6, top-p 0.95"],
])("%s", (text, expected) => {
  expect(text).toBe(expected);
});

test("without a clear gain nothing is explained, and with one nothing is doubted", () => {
  expect(honestyNotes(summary).join(" ")).not.toContain("no gain is shown");
  const still = { ...summary, after: summary.before };
  const notes = honestyNotes(still).join(" ");
  expect(notes).toMatch(
    /The mean score changed by \+0\.0 points, .* \(one standard error of the difference: 3\.\d\): no gain/,
  );
  expect(notes).not.toMatch(/Part of the gain|Cooler sampling/);
});

test("where nothing was held out no fall is told", () => {
  const none = (table: EvaluationTable): EvaluationTable => {
    const mean = { ...table.mean, score: Number.NaN, truncation: Number.NaN, n: 0 };
    return { ...table, domains: {}, levels: {}, mean };
  };
  const bare = { ...summary, before: summary.before.map(none), after: summary.after.map(none) };
  expect(honestyNotes(bare)[0]).toBe("No problem was held out, so there is no score.");
  expect(honestyNotes(bare).join(" ")).not.toMatch(/NaN|got worse|answers end/);
});

test("of one domain the mean is no second row, and answers that end at the limit are explained", () => {
  const only = (table: EvaluationTable): EvaluationTable => ({
    ...table,
    domains: { math: table.domains["math"]! },
    mean: { ...table.domains["math"]!, truncation: 0.996, n: 232 },
  });
  const one = { ...summary, before: summary.before.map(only), after: summary.after.map(only) };
  const text = beforeAfterText(one, PLAIN, 200);
  expect(text).toMatch(/^ {2}math /m);
  expect(text).not.toMatch(/^ {2}mean /m);
  expect(text).toMatch(
    /100.% of 232 answers end at rollouts\.maxOutputTokens\. This is expected if right answers/,
  );
  expect(beforeAfterText(summary, PLAIN, 200)).not.toContain("maxOutputTokens");
});

test("a fall beyond two standard errors is no noise, and a domain's fall is named beside a mean that rose", () => {
  const worse = honestyNotes({ ...summary, before: summary.after, after: summary.before }).join(" ");
  // 0.830 to 0.516: the table above reversed
  expect(worse).toContain("The model got worse: the mean score fell by 31.4 points, from 0.830 to 0.516");
  expect(worse).toMatch(/over three standard errors: logic by 47\.0 points, from 0\.810 to 0\.340; /);
  expect(worse).not.toMatch(/noise|Part of the gain/);
  const [first] = summary.after;
  const domains = { ...first!.domains, logic: { ...first!.domains["logic"]!, score: 0.01 } };
  const mixed = honestyNotes({ ...summary, after: [{ ...first!, domains }, summary.after[1]!] }).join(" ");
  expect(mixed).toContain("over three standard errors: logic by 33.0 points, from 0.340 to 0.010.");
  expect(mixed).toContain("Part of the gain");
  expect(mixed).not.toContain("The model got worse");
});
