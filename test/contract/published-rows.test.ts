// For each published set, a row made here in the format of its card or code. Its kind reads the row, or refuses it with
// a map that makes it readable. No row is copied.
import { expect, test } from "vitest";
import { tellKind } from "../../lib/domains/data-kind.ts";
import type { DatasetSpec } from "../../lib/domains/index.ts";
import { KNOWN_MAPS } from "../../lib/domains/row-maps.ts";
import { filterRows, writeRows } from "../data/filtered.ts";

// Deliberate faults (mutants) that these tests detect: a set's map drops the reference; the published kind is tried
// after the user's own; Tülu's functions are read as answers.

const user = (content: string) => [{ role: "user", content }];
const json = JSON.stringify;
const game = { question: "Sort: pear, fig", answer: "fig, pear", difficulty: 1, metadata: {} };

/** Each row: the data set, the row, the kind of problem, and a part of its reference. */
const READ: readonly (readonly [set: string, row: object, kind: string, reference: object])[] = [
  [
    "SynLogic",
    {
      data_source: "synlogic/word_sorting",
      prompt: user("Sort: pear, fig. Think first."),
      ability: "logic_puzzle",
      reward_model: { style: "rule", answer: "fig, pear", solution: "" },
      extra_info: { game_data_str: json(game), index: 0, split: "train" },
    },
    "i3-logic",
    { task: "word_sorting", game_data_str: json(game) },
  ],
  [
    "Skywork-OR1 code, LeetCode",
    {
      data_source: "train-code-leetcode-aug",
      ability: "code",
      prompt: user("Double the number, as a method of class Solution."),
      reward_model: {
        style: "rule",
        ground_truth: json({
          entry_point: "Solution().double",
          import_prefix: "from typing import *",
          test_code: "def check(candidate):\n    assert candidate(x=2) == 4",
        }),
      },
    },
    "code-assertions",
    { entryPoint: "hone_method" },
  ],
  [
    "INTELLECT-2 and SYNTHETIC-1 math",
    {
      problem_id: "vfm_1",
      task_type: "verifiable_math",
      prompt: "Solve: 1 + 1. Put it in \\boxed{}.",
      verification_info: '{"ground_truth": "2"}',
      metadata: "{}",
    },
    "jsonl",
    { answer: "2" },
  ],
  [
    "SYNTHETIC-1 math with a solution",
    {
      source: "x",
      task_type: "verifiable_math",
      prompt: "1 + 1?",
      gold_standard_solution: "One and one, which is plain to see, are \\boxed{2}.",
      verification_info: '{"ground_truth": "2"}',
    },
    "jsonl",
    { answer: "2" },
  ],
  [
    "INTELLECT-3 code",
    {
      question: "Print twice the number.",
      info: json({ tests: json({ inputs: ["2\n"], outputs: ["4\n"] }), source: "x" }),
      "avg@8_qwen3_4b_thinking_2507": 0.5,
    },
    "code-tests",
    { input_output: json({ inputs: ["2\n"], outputs: ["4\n"] }) },
  ],
  [
    "CodeContests+",
    {
      source: "Codeforces",
      id: "1_A",
      title: "Twice",
      description: "Print twice the number.",
      time_limit: 2000,
      memory_limit: 256,
      validator: "",
      generator: "",
      generator_cmd: "",
      checker: "int main() {}",
      correct_submissions: [{ code: "print(2 * int(input()))", language: "py3" }],
      incorrect_submissions: [],
      test_cases: [{ input: "2\n", output: "4\n" }],
      true_positive_rate: 1,
      true_negative_rate: 1,
    },
    "code-contests-plus",
    { input_output: '{"inputs": ["2\\n"], "outputs": ["4\\n"]}', checker: "int main() {}" },
  ],
  [
    "Tülu 3 RLVR, math",
    {
      messages: user("Solve: 1 + 1"),
      ground_truth: "2",
      dataset: "MATH",
      constraint_type: "",
      constraint: "",
    },
    "jsonl",
    { answer: "2" },
  ],
  [
    "Tülu 3 RLVR, IF",
    {
      messages: user("Write about rivers in at most 5 words."),
      ground_truth: json({
        func_name: "validate_word_constraint",
        N: 5,
        quantifier: "at most",
        language: null,
      }),
      dataset: "ifeval",
      constraint_type: "Length",
      constraint: "at most 5 words",
    },
    "if-rlvr",
    {
      instruction_id_list: ["length_constraints:number_words"],
      kwargs: [{ relation: "less than", num_words: 6 }],
    },
  ],
  [
    "Nemotron RL, math",
    {
      responses_create_params: { input: user("1 + 1? Use \\boxed{}.") },
      question: null,
      expected_answer: "2",
      dataset: "x",
      agent_ref: { type: "responses_api_agents", name: "x" },
    },
    "jsonl",
    { answer: "2" },
  ],
  [
    "Nemotron RL, code",
    {
      responses_create_params: { input: user("Print twice the number.") },
      verifier_metadata: { unit_tests: { inputs: ["2\n"], outputs: ["4\n"] } },
    },
    "code-tests",
    { input_output: json({ inputs: ["2\n"], outputs: ["4\n"] }) },
  ],
  [
    "Nemotron post-training v1, math",
    {
      uuid: "1",
      category: "math",
      messages: [...user("1 + 1?"), { role: "assistant", content: "\\boxed{2}" }],
      metadata: '{"expected_answer": "2", "problem_source": "x"}',
    },
    "jsonl",
    { answer: "2" },
  ],
  [
    "KodCode",
    {
      style: "instruct",
      question_id: "1",
      question: "Write double(n).",
      solution: "def double(n):\n    return 2 * n",
      test: "from solution import double\n\ndef test_two():\n    assert double(2) == 4\n\ndef test_zero():\n    assert double(0) == 0",
      test_info: [{ function_name: "double", parameter_list: "(n)", docstring: "" }],
    },
    "code-assertions",
    { entryPoint: "double", tests: [expect.stringContaining("\n\ntest_two()\n"), expect.any(String)] },
  ],
  [
    "AceCode",
    {
      id: "1",
      source: "oss",
      question: "Write double(n).",
      test_cases: ["assert double(2) == 4", "assert double(0) == 0"],
      inferences: [],
      context_messages: [],
    },
    "code-assertions",
    { entryPoint: "double", tests: ["assert double(2) == 4", "assert double(0) == 0"] },
  ],
  [
    "rStar-Coder",
    {
      question_id: "1",
      question: "Print twice the number.",
      starter_code: "",
      inputs: json(["2\n"]),
      outputs: json(["4\n"]),
      func_name: null,
    },
    "code-tests",
    { input_output: expect.stringContaining('"outputs"') },
  ],
  ["Countdown", { target: 98, nums: [44, 19, 35] }, "countdown", { nums: [44, 19, 35], target: 98 }],
];

test.each(READ)("%s is read", async (_, row, kind, reference) => {
  const path = writeRows("published.jsonl", [row]);
  const spec = await tellKind(path);
  expect(spec.kind).toBe(kind);
  const { kept } = await filterRows(spec);
  expect(kept[0]).toMatchObject({ reference });
  expect(kept[0]!.question).not.toContain("undefined");
});

/** The set, the row, the source's options, and the question and reference that the map makes. */
const MAPPED: readonly (readonly [
  set: string,
  row: object,
  spec: object,
  question: string,
  reference: unknown,
])[] = [
  [
    "Guru logic",
    {
      data_source: "logic__ordering_puzzle_dataset",
      prompt: user("Order: b, a. Answer in <answer> tags."),
      ability: "logic",
      reward_model: { style: "rule", ground_truth: ["a", "b"] },
      extra_info: { id: "1" },
    },
    { kind: "jsonl", domain: "puzzles", needsReference: false },
    "Order: b, a.",
    { answer: ["a", "b"] },
  ],
  [
    "ToolACE",
    {
      system:
        'You may call functions. Here is a list in JSON:\n[{"name": "rain", "description": "Rain", "parameters": {"type": "dict", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}]\nUse [func(x=1)].'.replace(
          "\nUse [func(x=1)].",
          "",
        ),
      conversations: [
        { from: "user", value: "Will it rain in Bonn?" },
        { from: "assistant", value: '[rain(city="Bonn", days=3)]' },
      ],
    },
    { kind: "xlam" },
    "Will it rain in Bonn?",
    { entry: expect.stringContaining('"days"') as string, dialect: "tool_calls" },
  ],
  [
    "Llama-Nemotron post-training, math",
    {
      version: "v1",
      input: user("1 + 1?"),
      output: "So it is \\boxed{2}.",
      category: "math",
      reasoning: "on",
    },
    { kind: "jsonl", verifier: "math" },
    "1 + 1?",
    { answer: "2" },
  ],
];

test.each(MAPPED)(
  "%s is refused with the map that makes it read",
  async (_, row, spec, question, reference) => {
    const path = writeRows("mapped.jsonl", [row]);
    const error = (await tellKind(path).catch((thrown: unknown) => thrown)) as { code: string; hint: string };
    expect(error.code).toBe("HONE_ERR_USAGE");
    const lines = error.hint.split("\n").slice(-3);
    expect(lines[0]).toMatch(/^map: /);
    const map = new Function(`return { ${lines.join("\n")} }.map`)() as (row: object) => object;
    const { kept, report } = await filterRows({ ...spec, path, map } as unknown as DatasetSpec);
    expect([kept.length, report.bad]).toEqual([1, []]);
    expect(kept[0]!.question).toContain(question);
    expect(kept[0]!.reference).toMatchObject(reference as object);
  },
);

test("every map that is known is tried here", () => {
  for (const { is } of KNOWN_MAPS) expect(MAPPED.filter(([, row]) => is(row as never))).toHaveLength(1);
});
