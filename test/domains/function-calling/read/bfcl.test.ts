import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { BFCL_CATEGORIES } from "../../../../lib/domains/function-calling/read/bfcl.ts";
import { filterRows, readAs, sample, scratch, writeRows } from "../../../data/filtered.ts";

const spec = { kind: "bfcl" } as const;
const add = {
  name: "math.add",
  description: "Adds.",
  parameters: { type: "dict", properties: { a: { type: "integer" }, b: { type: "float" } }, required: ["a"] },
};
const row = (more: object = {}) => ({
  id: "simple_python_0",
  category: "simple_python",
  question: [[{ role: "user", content: "Add one and two." }]],
  function: [add],
  ground_truth: [{ "math.add": { a: [1], b: [2.5, ""] } }],
  ...more,
});
const entryOf = (reference: unknown) =>
  JSON.parse((reference as { entry: string }).entry) as { readonly ground_truth?: unknown };
const path = (rows: readonly unknown[], name = "simple_python.jsonl") => writeRows(name, rows);

test("a row with its expected calls", async () => {
  const { kept } = await readAs({ ...spec, path: path([row()]) }, []);
  expect(kept).toMatchObject([
    {
      question: expect.stringMatching(
        /<available_tools>\n.*"name":"math_add".*\n<\/available_tools>\n\nAdd one and two\.$/s,
      ),
      family: "simple_python",
      reference: {
        entry: JSON.stringify({
          id: "simple_python_0",
          category: "simple_python",
          function: [add],
          ground_truth: [{ "math.add": { a: [1], b: [2.5, ""] } }],
        }),
        dialect: "tool_calls",
      },
    },
  ]);
  expect(kept[0]!.gold!()).toEqual([
    '<tool_calls>[{"name":"math_add","arguments":{"a":1}}]</tool_calls>',
    '<tool_calls>[{"name":"math_add","arguments":{"a":1,"b":2.5}}]</tool_calls>',
  ]);
});

test("all messages are asked, the system's too", async () => {
  const question = [
    [
      { role: "system", content: "Today is Monday. " },
      { role: "user", content: "Add." },
    ],
  ];
  const { kept } = await readAs({ ...spec, path: path([row({ question })]) }, []);
  expect(kept[0]!.question.endsWith("</available_tools>\n\nToday is Monday.\n\nAdd.")).toBe(true);
});

describe("as published", () => {
  const questions = (id: string) => ({ id, question: row().question, function: [add] });
  function publish(name: string, rows: readonly unknown[], answers?: readonly unknown[]): string {
    const file = scratch(`published-${name}/BFCL_v4_${name}.json`);
    mkdirSync(`${dirname(file)}/possible_answer`, { recursive: true });
    const lines = (all: readonly unknown[]) => all.map((one) => JSON.stringify(one)).join("\n");
    writeFileSync(file, lines(rows));
    if (answers) writeFileSync(`${dirname(file)}/possible_answer/BFCL_v4_${name}.json`, lines(answers));
    return dirname(file);
  }

  test("expected calls come from the same line of the file beside it, whatever their id", async () => {
    const rows = ["multiple_0", "multiple_1"].map((id, i) => ({
      ...questions(id),
      function: [{ ...add, name: `f${i}` }],
    }));
    const answers = [0, 1].map((i) => ({ id: `other_${i}`, ground_truth: [{ [`f${i}`]: { a: [i] } }] }));
    const { kept, report } = await filterRows({ ...spec, path: publish("multiple", rows, answers) });
    expect(kept.map(({ family, reference }) => [family, entryOf(reference).ground_truth])).toEqual([
      ["multiple", [{ f0: { a: [0] } }]],
      ["multiple", [{ f1: { a: [1] } }]],
    ]);
    expect(report.otherFiles.map((file) => file.split("/").slice(-2))).toEqual([
      ["possible_answer", "BFCL_v4_multiple.json"],
    ]);
  });

  test("categories of relevance need none, others do", async () => {
    const relevance = await filterRows({ ...spec, path: publish("live_irrelevance", [questions("x")]) });
    expect(entryOf(relevance.kept[0]!.reference)).not.toHaveProperty("ground_truth");
    expect(relevance.kept[0]!.gold!()).toEqual(["No call."]);
    const { report } = await filterRows({
      ...spec,
      path: publish("parallel", [questions("x"), questions("y")], [{ id: "x" }]),
    });
    expect(report.bad.map(({ reason, first }) => [reason, first])).toEqual([
      ["ground_truth: none", ["BFCL_v4_parallel.json:2"]],
      [
        "possible_answer.ground_truth: invalid input: expected array, received undefined",
        ["BFCL_v4_parallel.json:1"],
      ],
    ]);
  });

  test("a damaged line of answers makes its row bad, and that alone", async () => {
    const rows = ["x", "y"].map((id) => ({ ...questions(id), function: [{ ...add, name: id }] }));
    const folder = publish("live_simple", rows);
    const answers = `{\n${JSON.stringify({ ground_truth: [{ y: { a: [1] } }] })}`;
    mkdirSync(`${folder}/possible_answer`, { recursive: true });
    writeFileSync(`${folder}/possible_answer/BFCL_v4_live_simple.json`, answers);
    const { kept, report } = await filterRows({ ...spec, path: folder });
    expect(kept.map(({ place }) => place)).toEqual(["BFCL_v4_live_simple.json:2"]);
    expect(report.bad).toEqual([
      { reason: "possible_answer: not JSON", rows: 1, first: ["BFCL_v4_live_simple.json:1"] },
    ]);
  });
});

test("files named after no category are told, and are all there is only in error", async () => {
  const other = writeRows("cases.jsonl", [row()]);
  const { report } = await filterRows({ ...spec, path: [path([row()]), other] });
  expect([report.files, report.otherFiles]).toEqual([1, [other]]);
  await expect(filterRows({ ...spec, path: other })).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
});

test.each([
  [row({ category: "multi_turn_base" }), "category: none of the single-turn ones"],
  [row({ function: [] }), "function: none"],
  [row({ ground_truth: [] }), "ground_truth: none"],
  [
    row({ ground_truth: [{ f: { a: 1 } }] }),
    "ground_truth.#.f.a: invalid input: expected array, received number",
  ],
  [row({ ground_truth: [{ f: {}, g: {} }] }), "ground_truth.#: not one function a call"],
  [row({ question: [[]] }), "question.#: too small: expected array to have >=1 items"],
  [
    row({ question: [...row().question, ...row().question] }),
    "question: too big: expected array to have exactly 1 items",
  ],
  [
    row({ function: [{ name: "f" }] }),
    "function.#.parameters: invalid input: expected object, received undefined",
  ],
])("%j is bad", async (bad, reason) => {
  expect((await readAs({ ...spec, path: path([bad]) }, [])).bad).toEqual({ [reason]: 1 });
});

test("only the named categories are kept", async () => {
  const { kept, leftOut } = await readAs({ ...spec, path: path([row()]), categories: ["multiple"] }, []);
  expect([kept, leftOut]).toEqual([[], { "category simple_python": 1 }]);
});

test("gold calls follow allowed values into dicts and lists, and leave out what may be left out", async () => {
  const ground_truth = [{ f: { a: [{ x: [1, 2], y: ["", 3] }], b: [[1, 2]], c: ["", 1] } }, { g: {} }];
  const { kept } = await readAs({ ...spec, path: path([row({ ground_truth })]) }, []);
  expect(kept[0]!.gold!()).toEqual([
    '<tool_calls>[{"name":"f","arguments":{"a":{"x":1},"b":[1,2]}},{"name":"g","arguments":{}}]</tool_calls>',
    '<tool_calls>[{"name":"f","arguments":{"a":{"x":1,"y":3},"b":[1,2],"c":1}},{"name":"g","arguments":{}}]</tool_calls>',
  ]);
});

test("numbers stay as the file writes them, and Java has no gold of ours", async () => {
  const line = JSON.stringify(row())
    .replace("[2.5,", "[2.0,")
    .replace('"a":[1]', '"a":[12345678901234567890]');
  const python = await readAs({ ...spec, path: path([line]) }, []);
  expect((python.kept[0]!.reference as { entry: string }).entry).toContain(
    '"ground_truth":[{"math.add":{"a":[12345678901234567890],"b":[2.0,""]}}]',
  );
  expect(python.kept[0]!.gold!()[1]).toContain('{"a":12345678901234567890,"b":2.0}');
  const java = await readAs({ ...spec, path: path([row({ category: "simple_java" })]) }, []);
  expect(java.kept[0]!.gold!()).toEqual([]);
});

test("the sample: every row of all thirteen categories is a problem or a duplicate", async ({ skip }) => {
  const files = BFCL_CATEGORIES.map((category) => sample(`bfcl/${category}.jsonl`));
  if (files.some((file) => file === undefined)) skip("the reference data are not at hand");
  const { kept, report } = await filterRows({ ...spec, path: files as string[] });
  expect([report.bad, report.leftOut, report.files]).toEqual([[], [], 13]);
  expect(kept.length + report.duplicates.reduce((n, { rows }) => n + rows, 0)).toBe(report.rows);
  expect(new Set(kept.map(({ family }) => family))).toEqual(new Set(BFCL_CATEGORIES));
});

test("turns and tools are kept for chat templates, unless a template says what to ask", async () => {
  const { kept } = await readAs({ ...spec, path: path([row()]) }, []);
  expect(kept[0]!.messages).toEqual([{ role: "user", content: "Add one and two." }]);
  expect(JSON.parse(kept[0]!.tools!)).toEqual([
    {
      type: "function",
      function: {
        name: "math_add",
        description: "Adds. The function is in Python 3 syntax.",
        parameters: {
          type: "object",
          properties: { a: { type: "integer" }, b: { type: "number", description: "A float." } },
          required: ["a"],
        },
      },
    },
  ]);
  const told = await readAs({ ...spec, path: path([row()]), template: "Do: {task}" }, []);
  expect(told.kept[0]).not.toHaveProperty("messages");
  expect(told.kept[0]).not.toHaveProperty("tools");
});
