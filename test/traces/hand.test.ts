import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatTable } from "../../lib/report/index.ts";
import { gradeReader, readHand } from "../../lib/traces/hand.ts";
import { RULES } from "../../lib/traces/heuristic.ts";
import { stepsAt } from "../../lib/traces/split.ts";
import { gradeTables } from "../../lib/traces/tables.ts";
import type { Reader } from "../../lib/traces/trace.ts";
import { freshDir } from "./small-evaluation.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/traces.jsonl");

test("the 60 traces have three to eight steps each, of every category and domain, and no two are alike", async () => {
  const traces = await readHand(FIXTURE);
  expect(traces).toHaveLength(60);
  for (const { steps } of traces) expect([3, 4, 5, 6, 7, 8]).toContain(steps.length);
  for (const set of ["tuned", "held out"]) {
    const labels = traces.filter((trace) => trace.set === set).flatMap((trace) => trace.labels);
    expect(new Set(labels).size).toBe(8);
  }
  expect(new Set(traces.map(({ trace }) => trace.text)).size).toBe(60);
  const domains = readFileSync(FIXTURE, "utf8").match(/"domain": "[^"]+"/g);
  expect(new Set(domains).size).toBe(6);
});

test("docs/how-to/traces.md shows the tables that grading prints now", async () => {
  const tables = gradeTables(await gradeReader(RULES, await readHand(FIXTURE)));
  const page = readFileSync(join(import.meta.dirname, "../../docs/how-to/traces.md"), "utf8");
  expect(tables).toHaveLength(3);
  for (const { table } of tables) expect(page).toContain(formatTable(table, "markdown", 80));
});

const hand = (...lines: readonly object[]): string => {
  const path = join(freshDir(), "hand.jsonl");
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
};
const step = (text: string, category: string, before = "\n\n") => ({ before, text, category });

test("a reader is graded set by set: a step without label is not found, an outage is not graded", async () => {
  const steps = [step("a", "verification", ""), step("b", "verification"), step("c", "backtracking")];
  const traces = await readHand(hand({ set: "x", steps }, { set: "x", steps }, { set: "y", steps }));
  const reader: Reader = {
    name: "r",
    label: async ({ problem }) =>
      problem === "3" ? { outage: "down" } : ["verification", undefined, "verification"],
    read: async (trace) => ({ trace, labels: [], steps: stepsAt(trace.text, [0, 1]) }),
  };
  const [x, y] = await gradeReader(reader, traces);
  expect(x).toMatchObject({
    traces: 2,
    steps: 6,
    labelled: 4,
    outages: 0,
    agreement: { count: 4, share: 0.5 },
  });
  expect(x!.categories.find(({ name }) => name === "verification")).toMatchObject({
    wanted: 4,
    given: 4,
    recall: 0.5,
  });
  expect(x!.ends).toMatchObject({ wanted: 4, given: 2, precision: 1, recall: 0.5 });
  expect(y).toMatchObject({ traces: 0, steps: 0, outages: 1, agreement: undefined });
});

test.each([
  ["no JSON", "the line", "nonsense"],
  ["an unknown category", "steps.0.category", JSON.stringify({ steps: [step("a", "thinking")] })],
  ["no steps", "steps", JSON.stringify({ steps: [] })],
])("%s is refused with its line and place", async (_, place, line) => {
  const path = hand({ steps: [step("a", "verification")] });
  writeFileSync(path, `${readFileSync(path, "utf8")}${line}\n`);
  await expect(readHand(path)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining(`${path}:2: no labelled trace: ${place}`),
  });
  writeFileSync(path, "\n");
  await expect(readHand(path)).rejects.toMatchObject({ message: `${path} has no traces` });
});
