import { describe, expect, test } from "vitest";
import { filterRows, fixture, readAs, sample } from "../../../data/filtered.ts";

const spec = { kind: "if-rlvr" } as const;
const row = (ground_truth: unknown, prompt = "Write a haiku without commas.") => ({
  key: "k",
  messages: [{ role: "user", content: prompt }],
  ground_truth,
});
const python =
  "[{'instruction_id': ['punctuation:no_comma', 'length_constraints:number_words'], 'kwargs': [None, {'relation': 'at least', 'num_words': 3, 'x': None}]}]";
const reference = {
  instruction_id_list: ["punctuation:no_comma", "length_constraints:number_words"],
  kwargs: [{}, { relation: "at least", num_words: 3 }],
};

test.each([
  ["a Python literal", python],
  [
    "JSON",
    JSON.stringify([
      {
        instruction_id: reference.instruction_id_list,
        kwargs: [null, { relation: "at least", num_words: 3, x: null }],
      },
    ]),
  ],
  ["a Python literal inside a JSON string", JSON.stringify(python)],
])("the truth may be %s; absent arguments are left out", async (_, truth) => {
  const { kept, bad } = await readAs(spec, [row(truth)]);
  expect(bad).toEqual({});
  expect(kept[0]).toMatchObject({
    content: "Write a haiku without commas.",
    question: "Write a haiku without commas.",
    family: "if-rlvr",
    level: 1,
    reference,
  });
});

test.each([
  ["__import__('os')", "ground_truth: neither a Python literal nor JSON"],
  ["[{'instruction_id': ['a'], 'kwargs': []}]", "kwargs: not one for each instruction"],
  [
    "[{'instruction_id': [], 'kwargs': []}]",
    "ground_truth.#.instruction_id: too small: expected array to have >=1 items",
  ],
  ["[{'kwargs': []}]", "ground_truth.#.instruction_id: invalid input: expected array, received undefined"],
  ["[]", "ground_truth: too small: expected array to have >=1 items"],
  ["3", "ground_truth: invalid input: expected tuple, received number"],
  [null, "ground_truth: invalid input: expected string, received null"],
])("the truth %j is bad", async (truth, reason) => {
  expect((await readAs(spec, [row(truth)])).bad).toEqual({ [reason]: 1 });
});

test("a prompt must be there", async () => {
  const { bad } = await readAs(spec, [row(python, " "), { ...row(python), messages: [] }]);
  expect(bad).toEqual({
    "messages.#.content: empty": 1,
    "messages: too small: expected array to have >=1 items": 1,
  });
});

test("parquet as published", async () => {
  const { kept } = await readAs({ ...spec, path: fixture("if-rlvr.parquet") }, []);
  expect(kept.map(({ content, reference }) => [content, reference])).toEqual(
    [0, 1, 2, 3, 4].map((i) => [
      `Write about the number ${i}. Use no commas.`,
      { instruction_id_list: ["punctuation:no_comma"], kwargs: [{}] },
    ]),
  );
});

describe("IFEval and IFBench", () => {
  test.each([
    ["ifeval/ifeval_input_data.jsonl", 541],
    ["ifeval/ifbench_test.jsonl", 300],
  ])("every row of %s is a held-out problem", async (file, count) => {
    const path = sample(file);
    if (path === undefined) return;
    const { kept, report } = await filterRows({ kind: "ifeval", path });
    expect([report.rows, kept.length, report.heldOut, report.bad]).toEqual([count, count, count, []]);
    for (const { reference } of kept) {
      const { instruction_id_list, kwargs } = reference as {
        instruction_id_list: string[];
        kwargs: object[];
      };
      expect(kwargs).toHaveLength(instruction_id_list.length);
      expect(kwargs.flatMap(Object.values)).not.toContain(null);
    }
  });

  test("a row without one argument set for each instruction is bad", async () => {
    const { bad } = await readAs({ kind: "ifeval" }, [
      { prompt: "x", instruction_id_list: ["a"], kwargs: [] },
      { prompt: "x", instruction_id_list: ["a"] },
    ]);
    expect(bad).toEqual({
      "kwargs: not one for each instruction": 1,
      "kwargs: invalid input: expected array, received undefined": 1,
    });
  });
});
