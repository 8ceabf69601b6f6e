import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { readCase } from "../../../lib/domains/logic/cases.ts";
import { GAMES } from "../../../lib/domains/logic/games.ts";
import { LABELLED_FOLDER, type LabelledCase, labelledCases } from "./labelled.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-logic-"));
writeFileSync(
  join(folder, "puzzles.jsonl"),
  `${JSON.stringify({ id: "p", task: "boolean_expressions", game_data: { answer: "A" } })}\n\n`,
);
const row = {
  puzzle: "p",
  task: "boolean_expressions",
  kind: "gold",
  response: "\\boxed{A}",
  expected: "correct",
};

const statusOf = async (record: Readonly<Record<string, unknown>>, compat: Compat, from = folder) => {
  const { verifier, completion, reference } = await readCase(record, from);
  return (await verifier.verify(completion, verifier.parseReference({ ...reference, compat }))).status;
};

test("a case is judged against the puzzle that it names", async () => {
  expect(await statusOf(row, "reference")).toBe("correct");
  expect(await statusOf({ ...row, response: "\\boxed{B}" }, "strict")).toBe("wrong");
  expect(await readCase(row, folder)).toMatchObject({
    completion: { text: "\\boxed{A}", finish: "stop" },
    reference: { task: "boolean_expressions", game_data: { answer: "A" } },
  });
});

test.each([
  [{ ...row, puzzle: "q" }, folder, 'no puzzle "q" in puzzles.jsonl'],
  [{ ...row, puzzle: 1 }, folder, "logic case: puzzle: "],
  [{ puzzle: "p", task: "boolean_expressions" }, folder, "logic case: response: "],
  [row, join(folder, "elsewhere"), "cannot read"],
])("%j in %s is refused with what is wrong", async (record, from, message) => {
  await expect(readCase(record, from)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining(message),
  });
});

test("a line of puzzles.jsonl that is none is named", async () => {
  const broken = mkdtempSync(join(tmpdir(), "hone-logic-"));
  writeFileSync(join(broken, "puzzles.jsonl"), '{"id":"p","game_data":{}}\n{"id":7}\n');
  await expect(readCase(row, broken)).rejects.toThrow("puzzles.jsonl:2: not a puzzle");
});

describe.skipIf(labelledCases.length === 0)("agreement with the reference's labels", () => {
  const known = new Set(GAMES.map((game) => game.task));
  const byTask = new Map<string, LabelledCase[]>();
  for (const one of labelledCases) {
    if (known.has(one.task)) byTask.set(one.task, [...(byTask.get(one.task) ?? []), one]);
  }
  test.each([...byTask])("is complete for %s", async (_, cases) => {
    const apart: string[] = [];
    for (const one of cases) {
      const status = await statusOf({ ...one }, "reference", LABELLED_FOLDER);
      if (status !== one.expected) apart.push(`${one.puzzle} ${one.kind}: ${one.expected}->${status}`);
    }
    expect(apart).toEqual([]);
  });
});
