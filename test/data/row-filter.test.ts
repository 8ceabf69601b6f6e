// Deliberate faults (mutants) that these tests detect: the split hashes the templated question, or the text with its
// spaces; a refused row makes a later one with the same content a duplicate.
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { contentKey } from "../../lib/data/content.ts";
import { isHeldOut } from "../../lib/data/index.ts";
import { filterRows, sample, scratch, writeRows } from "./filtered.ts";

const row = (question: string, answer: string) => [
  { from: "human", value: question },
  { from: "assistant", ground_truth: { value: answer } },
];
const orz = (path: string | readonly string[], more: object = {}) =>
  ({ kind: "open-reasoner-zero", path, ...more }) as const;

test("every row is counted once: kept, bad, left out or a duplicate, with the place of the first", async () => {
  const path = writeRows("mixed.jsonl", [
    row("Two and two?", "4"),
    "{",
    row("Two  and\ntwo? ", "4"),
    row("Two and two?", "5"),
    row("", "1"),
    ...["a", "b", "c", "d", "e", "f", "g"].map(() => ({ 0: {}, 1: {} })),
    row("nul \0", "1"),
    row("half \ud800", "1"),
    { 0: row("As columns?", "yes")[0], 1: row("", "yes")[1] },
    row("Not admitted", "1"),
  ]);
  const { kept, heldOut, report } = await filterRows(orz(path), ({ question }) =>
    question.startsWith("Not") ? "too dull" : undefined,
  );
  expect(kept.map(({ content, place }) => [content, place])).toEqual([
    ["Two and two?", "mixed.jsonl:1"],
    ["As columns?", "mixed.jsonl:15"],
  ]);
  const first = (...rows: number[]) => rows.map((number) => `mixed.jsonl:${number}`);
  const held = heldOut.size;
  expect(report).toEqual({
    kind: "open-reasoner-zero",
    files: 1,
    otherFiles: [],
    rows: 16,
    training: 2 - held,
    heldOut: held,
    bad: [
      {
        reason: "0.value: invalid input: expected string, received undefined",
        rows: 7,
        first: first(6, 7, 8, 9, 10),
      },
      { reason: "0.value: empty", rows: 1, first: first(5) },
      { reason: "not JSON", rows: 1, first: first(2) },
      { reason: "question: holds U+0000", rows: 1, first: first(13) },
      { reason: "question: holds half a surrogate pair", rows: 1, first: first(14) },
    ],
    leftOut: [{ reason: "too dull", rows: 1, first: first(16) }],
    duplicates: [
      { reason: "another reference", rows: 1, first: first(4) },
      { reason: "same reference", rows: 1, first: first(3) },
    ],
  });
});

test("the split is by content alone: not by template, file, order or answer", async () => {
  const questions = Array.from({ length: 300 }, (_, i) => `What is ${i} plus ${i}?`);
  const forward = writeRows(
    "forward.jsonl",
    questions.map((q, i) => row(q, `${2 * i}`)),
  );
  const backward = writeRows("backward.jsonl", questions.map((q, i) => row(`  ${q} `, `${i}`)).reverse());
  const plain = await filterRows(orz(forward));
  const other = await filterRows(orz(backward, { template: "Please: {task}" }));
  expect([...other.heldOut].sort()).toEqual([...plain.heldOut].sort());
  expect([...plain.heldOut].sort()).toEqual(questions.filter(isHeldOut).map(contentKey).sort());
  expect(other.kept[0]!.question).toBe("Please: What is 299 plus 299?");
});

test("a tenth of the sample of Open-Reasoner-Zero is held out", async ({ skip }) => {
  const path = sample("math/orz_sample.jsonl") ?? skip("the reference data are not at hand");
  const { report } = await filterRows(orz(path));
  expect(report).toMatchObject({ rows: 3967, bad: [], leftOut: [] });
  const share = report.heldOut / (report.heldOut + report.training);
  expect(Math.abs(share - 0.1)).toBeLessThan(4 * Math.sqrt((0.1 * 0.9) / 3910));
});

describe("a file of drops", () => {
  test("leaves its rows out, whatever file they are in now", async () => {
    const path = writeRows("drops-rows.jsonl", [row("Keep", "1"), row("Drop", "2")]);
    const drops = scratch("drops.json");
    writeFileSync(drops, JSON.stringify([{ key: contentKey("Drop"), place: "old.json:7", reason: "wrong" }]));
    const { kept, report } = await filterRows(orz(path, { drops }));
    expect(kept.map(({ content }) => content)).toEqual(["Keep"]);
    expect(report.leftOut).toEqual([
      { reason: "listed in the file of drops", rows: 1, first: ["drops-rows.jsonl:2"] },
    ]);
  });

  test.each([
    ["is not there", undefined],
    ["is no JSON", "{"],
    ["is something else", '{"rows":[]}'],
  ])("that %s is a data error", async (_, text) => {
    const drops = scratch("bad-drops.json");
    if (text !== undefined) writeFileSync(drops, text);
    const path = writeRows("drops-bad.jsonl", [row("Keep", "1")]);
    await expect(filterRows(orz(path, { drops }))).rejects.toMatchObject({
      code: "HONE_ERR_DATA",
      message: expect.stringContaining("bad-drops.json is not a list of rows to drop"),
    });
  });
});

test("a refused row does not take the place of a later one with the same content", async () => {
  const path = writeRows("refused.jsonl", [row("Q", "bad gold"), row("Q", "4"), row("Q", "4")]);
  const { kept, report } = await filterRows(orz(path), ({ reference }) =>
    (reference as { answer: string }).answer === "4" ? undefined : "no number",
  );
  expect(kept.map(({ place }) => place)).toEqual(["refused.jsonl:2"]);
  expect([report.leftOut, report.duplicates].map(([tally]) => [tally!.reason, tally!.first])).toEqual([
    ["no number", ["refused.jsonl:1"]],
    ["same reference", ["refused.jsonl:3"]],
  ]);
});

test("several files are one set, and an asynchronous admission is waited for", async () => {
  const paths = [
    writeRows("one.jsonl", [row("A", "1")]),
    writeRows("two.jsonl", [row("A", "1"), row("B", "2")]),
  ];
  const { kept, report } = await filterRows(orz(paths), async () => undefined);
  expect(kept.map(({ place }) => place)).toEqual(["one.jsonl:1", "two.jsonl:2"]);
  expect(report).toMatchObject({ files: 2, rows: 3 });
});
