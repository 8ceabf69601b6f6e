// Deliberate faults (mutants) that these tests detect: the entry is parsed before it is judged (1.0 becomes 1), a
// row's dialect is ignored, compat is dropped.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { readCase } from "../../../lib/domains/function-calling/cases.ts";

type Row = Readonly<Record<string, unknown>>;

const folder = mkdtempSync(join(tmpdir(), "hone-calls-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const SCHEMA = '[{"name":"f.g","parameters":{"properties":{"a":{"type":"float"}},"required":["a"]}}]';
writeFileSync(
  join(folder, "simple_python.jsonl"),
  `{"id":"simple_python_1","function":${SCHEMA},"ground_truth":[{"f.g":{"a":[7.0]}}]}\n\n`,
);
writeFileSync(join(folder, "irrelevance.jsonl"), `{"id":"irrelevance_2","function":${SCHEMA}}\n`);
writeFileSync(join(folder, "broken.jsonl"), '{"id":"broken_1"}\n{"no":"id"}\n');

async function verdictOf(row: Row, compat: Compat = "strict", from = folder) {
  const { verifier, completion, reference } = await readCase(row, from);
  return await verifier.verify(completion, verifier.parseReference({ ...reference, compat }));
}

test("the entry is found by its id, in the file of its category", async () => {
  const row = { entry: "simple_python_1", response: "[f.g(a=7)]" };
  expect(await verdictOf(row)).toMatchObject({ status: "correct" });
  expect(await verdictOf({ ...row, category: "simple_python" })).toMatchObject({ status: "correct" });
  expect(await verdictOf({ ...row, response: "[f.g(a=8)]" })).toMatchObject({ status: "wrong" });
});

test("the entry's text reaches the verifier, so that 7.0 stays a float", async () => {
  const { reference } = await readCase({ entry: "simple_python_1", response: "" }, folder);
  expect(reference).toEqual({ entry: expect.stringContaining('"a":[7.0]') });
});

test("an entry may stand in the row itself", async () => {
  const entry = JSON.parse(readFileSync(join(folder, "irrelevance.jsonl"), "utf8")) as object;
  expect(await verdictOf({ entry, response: "No." })).toMatchObject({ status: "correct" });
});

test("an entry in the row keeps every digit, and 7.0 stays a float", async () => {
  const entry =
    '{"id":"simple_python_9","function":[{"name":"f","parameters":{"properties":{"a":{"type":"integer"},"b":{"type":"float"}},"required":["a"]}}],"ground_truth":[{"f":{"a":[9007199254740993],"b":[7.0]}}]}';
  const status = async (a: string) => {
    const text = `{"entry":${entry},"response":"[f(a=${a}, b=7)]"}`;
    const { verifier, completion, reference } = await readCase(JSON.parse(text), folder, text);
    return (await verifier.verify(completion, verifier.parseReference(reference))).status;
  };
  expect([await status("9007199254740993"), await status("9007199254740992")]).toEqual(["correct", "wrong"]);
});

test.each<[Row, string | undefined]>([
  [{ entry: "simple_python_1", response: "" }, undefined],
  [{ entry: "simple_python_1", response: "", partial: 0 }, "tool_calls"],
  [{ entry: "simple_python_1", response: "", dialect: "python", partial: 0 }, "python"],
  [{ entry: "irrelevance_2", response: "" }, "tool_calls"],
])("%j is in dialect %s", async (row, dialect) => {
  const { reference } = await readCase(row, folder);
  expect((reference as { dialect?: string }).dialect).toBe(dialect);
});

test.each<[Row, string]>([
  [{ entry: "simple_python_1" }, "response: "],
  [{ entry: 5, response: "" }, "entry: "],
  [{ entry: "simple_python_9", response: "" }, 'no entry "simple_python_9" in simple_python.jsonl'],
  [{ entry: "nonsense", response: "" }, 'entry "nonsense" has no category'],
  [{ entry: "parallel_1", response: "" }, "cannot read"],
  [{ entry: "x", category: "../simple_python", response: "" }, "category: "],
  [{ entry: "broken_1", response: "" }, "broken.jsonl:2: not an entry"],
])("%j is no case", async (row, message) => {
  await expect(readCase(row, folder)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining(message),
  });
});

const shared = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data/bfcl");
const rows = (file: string): Row[] =>
  readFileSync(resolve(shared, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

describe.skipIf(!existsSync(shared))("labels of the reference implementation", () => {
  test("tool calls have its status and partial credit", async () => {
    const apart: unknown[] = [];
    for (const row of rows("cases_toolcalls.jsonl")) {
      const { status, score } = await verdictOf(row, "reference", shared);
      if (status !== row["expected"] || Math.abs(score - (row["partial"] as number)) > 1e-9)
        apart.push([row["entry"], row["kind"], row["expected"], status, score]);
    }
    expect(apart).toEqual([]);
  });

  test("calls in Python syntax have its name of what is wrong", async () => {
    const apart: unknown[] = [];
    for (const row of rows("cases_pycall.jsonl")) {
      const { reason } = await verdictOf(row, "reference", shared);
      if (reason !== row["expected"]) apart.push([row["entry"], row["kind"], row["expected"], reason]);
    }
    expect(apart).toEqual([]);
  });

  /**
   * The cases in which strict differs on purpose: unreadable JSON, unclosed lists, empty refusals, calls outside a
   * list, arguments without a name, and texts in other letters.
   */
  const INTENDED =
    /^(?:(?:upper|punct|spaces|quote|list_upper|dict_up) (?:correct|valid)->wrong|fence no_answer->unparsable|bad_json \w+->unparsable|empty(?:_tag)? correct->no_answer|unclosed no_answer->unparsable|prose_call correct->wrong|posargs valid->wrong)$/;
  test.each(["cases_toolcalls.jsonl", "cases_pycall.jsonl"])(
    "strict differs on %s only where it means to",
    async (file) => {
      const apart = new Set<string>();
      for (const row of rows(file)) {
        const { status } = await verdictOf(row, "strict", shared);
        const label = String(row["expected"]);
        const agrees = file.includes("pycall")
          ? (label === "valid") === (status === "correct")
          : label === status;
        if (!agrees) apart.add(`${row["kind"]} ${label}->${status}`);
      }
      expect([...apart].filter((difference) => !INTENDED.test(difference))).toEqual([]);
    },
  );

  test("gold calls of every entry, written out in both dialects, are right but for gold that breaks its own check", async () => {
    const counts = { judged: 0, rejected: 0 };
    for (const category of [
      "simple_python",
      "multiple",
      "parallel",
      "parallel_multiple",
      "live_simple",
      "live_multiple",
    ]) {
      for (const line of readFileSync(resolve(shared, `${category}.jsonl`), "utf8")
        .trim()
        .split("\n")) {
        const gold = (JSON.parse(line) as { ground_truth: Record<string, Record<string, unknown[]>>[] })
          .ground_truth;
        const calls = gold.map((one) => {
          const [name, given] = Object.entries(one)[0]!;
          const chosen = Object.entries(given).filter(
            ([, values]) => values[0] !== "" && typeof values[0] === "string",
          );
          return (
            Object.keys(given).length === chosen.length &&
            `${name}(${chosen.map(([key, values]) => `${key}=${JSON.stringify(values[0])}`).join(", ")})`
          );
        });
        if (calls.includes(false)) continue; // JSON.parse loses the kind of numbers, and dicts need one value each
        const { status } = await verdictOf(
          { entry: JSON.parse(line).id, response: `[${calls.join(", ")}]` },
          "strict",
          shared,
        );
        counts.judged += 1;
        if (status !== "correct") counts.rejected += 1;
      }
    }
    expect(counts.judged).toBeGreaterThan(200);
    expect(counts.rejected / counts.judged).toBeLessThan(0.02);
  });
});
