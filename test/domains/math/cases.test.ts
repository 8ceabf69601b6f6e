// Deliberate faults (mutants) that these tests detect: a pair's gold is boxed although it has a box, every pair is
// read `anywhere`, compat is not passed on.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { readCase } from "../../../lib/domains/math/cases.ts";

type Row = Readonly<Record<string, unknown>>;

async function statusOf(row: Row, compat: Compat = "strict"): Promise<string> {
  const { verifier, completion, reference } = await readCase(row, ".");
  return (await verifier.verify(completion, verifier.parseReference({ ...reference, compat }))).status;
}

test.each<[string, Row, string]>([
  ["a box that states the gold", { gold: "\\frac12", response: "so \\boxed{0.5}" }, "correct"],
  ["a box that does not", { gold: "\\boxed{7}", response: "\\boxed{8}" }, "wrong"],
  ["no box", { gold: "7", response: "7" }, "no_answer"],
  ["two bare formulas", { gold: "0.5", pred: "\\frac12" }, "correct"],
  ["two bare formulas that differ", { gold: "0.333", pred: "\\frac13" }, "wrong"],
  ["a text that states its answer", { gold: "$2$", pred: "The final answer is $2$." }, "correct"],
  ["a text that states another", { gold: "$2$", pred: "The final answer is $3$." }, "wrong"],
  ["a text whose formula is no answer", { gold: "$2$", pred: "costs \\$" }, "unparsable"],
])("%s", async (_, row, status) => {
  expect(await statusOf(row)).toBe(status);
});

test("the mode reaches the verifier", async () => {
  const row = { gold: "7", response: "\\boxed{7 \\approx 1.2345}" };
  expect([await statusOf(row, "reference"), await statusOf(row, "strict")]).toEqual(["correct", "wrong"]);
});

test.each<[Row, string]>([
  [{}, "has no field"],
  [{ gold: 7, response: "\\boxed{7}" }, "has gold: number, response: string"],
  [{ gold: "7" }, "has gold: string"],
])("%j is no case", async (row, message) => {
  const reading = Promise.resolve().then(() => readCase(row, "."));
  await expect(reading).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining(message),
  });
});

const folder = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data/math");

describe.skipIf(!existsSync(folder))("labels of the reference implementation", () => {
  test.each(["boxed_cases.jsonl", "pair_examples.jsonl"])(
    "%s is reproduced in reference mode",
    async (file) => {
      const apart: string[] = [];
      for (const line of readFileSync(resolve(folder, file), "utf8").trim().split("\n")) {
        const row = JSON.parse(line) as Row;
        const label = row["expected"];
        const expected = typeof label === "boolean" ? (label ? "correct" : "wrong") : label;
        const status = await statusOf(row, "reference");
        if (status !== expected) apart.push(`${row["gold"]}: ${expected} -> ${status}`);
      }
      expect(apart).toEqual([]);
    },
  );
});
