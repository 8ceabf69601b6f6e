import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readCase } from "../../../lib/domains/choice/cases.ts";
import type { Compat } from "../../../lib/domains/compat.ts";

type Row = Readonly<Record<string, unknown>>;

async function verdictOf(row: Row, compat: Compat = "strict") {
  const { verifier, completion, reference } = await readCase(row, ".");
  return await verifier.verify(completion, verifier.parseReference({ ...reference, compat }));
}

test.each<[Row, Compat, string]>([
  [{ response: "Answer: J", gold: "J" }, "strict", "correct"],
  [{ model_output: "Answer: J", gold: "J" }, "strict", "correct"],
  [{ response: "Perhaps J", gold: "J" }, "strict", "wrong"],
  [{ response: "It is J", gold: "J" }, "reference", "correct"],
  [{ response: "It is D", gold: "D", style: "gpqa", choices: 4 }, "reference", "wrong"],
  [{ response: "Answer: D", gold: "D", style: "gpqa", choices: 4 }, "reference", "correct"],
])("%j, %s: %s", async (row, compat, status) => {
  expect((await verdictOf(row, compat)).status).toBe(status);
});

test.each([
  [{ response: "x" }, /gold: /],
  [{ gold: "A" }, /response is missing/],
  [{ response: 3, gold: "A" }, /response: /],
])("%j is no case", (row, message) => {
  expect(() => readCase(row, ".")).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) }),
  );
});

const file = resolve(
  process.env["HONE_SHARED"] ?? "../shared",
  "reference/data/eval/mmlu_pro_extraction.jsonl",
);

describe.skipIf(!existsSync(file))("the labelled outputs", () => {
  interface Labelled extends Row {
    readonly model_output: string;
    readonly extracted: string | null;
    readonly gold: string;
  }
  const rows = () =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Labelled);

  test("reference: right exactly where the extracted letter is the gold one", async () => {
    for (const row of rows()) {
      const expected =
        row.extracted === row.gold ? "correct" : row.model_output === "" ? "no_answer" : "wrong";
      const { status } = await verdictOf(row, "reference");
      expect([row.model_output, status]).toEqual([row.model_output, expected]);
    }
  });

  test("strict: never right where reference is wrong, and right wherever the letter was stated", async () => {
    for (const row of rows()) {
      const { status } = await verdictOf(row);
      if (row.extracted !== row.gold) expect([row.model_output, status]).not.toContain("correct");
    }
  });
});
