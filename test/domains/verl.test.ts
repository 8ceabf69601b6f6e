import { describe, expect, test } from "vitest";
import type { RowDraft } from "../../lib/data/row-reader.ts";
import { code } from "../../lib/domains/code/verify.ts";
import { math } from "../../lib/domains/math/verify.ts";
import { type VerlOptions, verl } from "../../lib/domains/verl.ts";
import { fixture, readAs } from "../data/filtered.ts";

// Deliberate faults (mutants) that these tests detect: rows of the other ability are kept, the ability comes from
// data_source first, the sentence is added to every prompt or to none, a list of answers is read as text, the
// verifier does not get the marker.

const read = (row: unknown, options: Partial<VerlOptions> = {}) =>
  verl({ path: "x", verifier: "math", ...options }).open({ path: "x", ...options })({
    file: "x.jsonl",
    row: 1,
    value: row,
    text: JSON.stringify(row),
  });
const user = (content: string) => [{ role: "user", content }];
/** DAPO's original instruction, with a sum as the problem. */
const DAPO = user(
  'Solve it step by step. The last line of your response should be of the form Answer: $Answer (without quotes).\n\n17 + 17?\n\nRemember to put your answer on its own line after "Answer:".',
);
const row = (more: object = {}) => ({
  data_source: "math_dapo",
  prompt: DAPO,
  ability: "MATH",
  reward_model: { style: "rule-lighteval/MATH_v2", ground_truth: "34" },
  extra_info: { index: "1" },
  ...more,
});
const truth = (ground_truth: unknown) => ({ reward_model: { style: "rule", ground_truth } });
const verdictOf = (draft: RowDraft, text: string) =>
  (math.verify({ text, finish: "stop" }, math.parseReference(draft.reference)) as { status: string }).status;

describe("a prompt is asked as it stands, and a right answer in the form it asks for is right", () => {
  test.each<[string, readonly { role: string; content: string }[], string, string]>([
    ["Answer:", DAPO, "17 and 17 are 34.\n\nAnswer: $34$", "ground_truth, asked for after Answer:"],
    [
      "####",
      user('17 + 17? Output the final answer after "####".'),
      "#### 34",
      "ground_truth, asked for after ####",
    ],
    ["a box", user("17 + 17? Put it in \\boxed{}."), "\\boxed{34}", "ground_truth, asked for in \\boxed"],
    [
      "a tag",
      [{ role: "system", content: "Answer in <answer> </answer>." }, ...user("17 + 17?")],
      "<think>17</think><answer>34</answer>",
      "ground_truth, asked for after <answer>",
    ],
  ])("%s", (_, prompt, completion, answerFrom) => {
    const draft = read(row({ prompt })) as RowDraft;
    const question = prompt.map(({ content }) => content).join("\n\n");
    expect(draft).toMatchObject({ messages: prompt, question, family: "math_dapo", level: 0, answerFrom });
    expect(verdictOf(draft, completion)).toBe("correct");
    expect(verdictOf(draft, draft.gold!()[0]!)).toBe("correct");
    expect(verdictOf(draft, completion.replaceAll("34", "35"))).toBe("wrong");
  });
});

test("a prompt that asks for no form gets a sentence that does, in the last turn of the user", () => {
  const prompt = [...user("Sums."), { role: "assistant", content: "Yes?" }, ...user("17 + 17?")];
  const draft = read(row({ prompt })) as RowDraft;
  expect(draft.messages).toEqual([
    ...prompt.slice(0, 2),
    { role: "user", content: "17 + 17?\n\nPut your final answer within \\boxed{}." },
  ]);
  expect(draft.question).toBe("Sums.\n\nYes?\n\n17 + 17?\n\nPut your final answer within \\boxed{}.");
  expect(draft.content).toBe(JSON.stringify([prompt, null])); // the split ignores the added sentence
  expect(draft.answerFrom).toBe("ground_truth, asked for in \\boxed, which this reader adds");
  expect(verdictOf(draft, "\\boxed{34}")).toBe("correct");
});

test("a template says all there is to ask; a prompt that is a text is a turn of the user", () => {
  const draft = read(row({ prompt: "17 + 17?" }), {
    template: "Think. {task} Answer after ####.",
  }) as RowDraft;
  expect(draft).toMatchObject({
    question: "Think. 17 + 17? Answer after ####.",
    reference: { answer: "34", after: "####" },
  });
  expect(draft).not.toHaveProperty("messages");
  expect(read(row({ prompt: "\\boxed 1" }))).toMatchObject({ messages: user("\\boxed 1") });
});

test.each<[unknown, unknown]>([
  [" 34 ", "34"],
  [34, "34"],
  [2n ** 60n, "1152921504606846976"],
  ['["34"]', "34"],
  ['["\\\\frac12", "0.5"]', ["\\frac12", "0.5"]],
  [
    ["34", "34.0"],
    ["34", "34.0"],
  ],
  ["[1, 2]", "[1, 2]"], // an interval
  ["[0, \\infty)", "[0, \\infty)"],
])("the ground truth %s is the answer %j", (ground_truth, answer) => {
  const options = { path: "x", verifier: "math" };
  const value = row(truth(ground_truth));
  expect(verl(options).open(options)({ file: "x", row: 1, value })).toMatchObject({ reference: { answer } });
});

describe("code", () => {
  const prompt = user("Print twice the number n. Put it in a ```python block.");
  const of = (ground_truth: unknown, more: object = {}) =>
    read(
      { data_source: "taco", ability: "code", prompt, ...truth(ground_truth), ...more },
      { verifier: "code" },
    );

  test("is judged by tests as text or as they are, digits as written", async () => {
    const tests = { inputs: ["1\n", "21\n"], outputs: ["2", "42"] };
    const draft = of(JSON.stringify(tests)) as RowDraft;
    expect(draft).toMatchObject({ messages: prompt, reference: { input_output: JSON.stringify(tests) } });
    expect(of(tests)).toMatchObject({ reference: { input_output: JSON.stringify(tests) } });
    const verdict = await code.verify(
      { text: "```python\nprint(2 * int(input()))\n```", finish: "stop" },
      code.parseReference(draft.reference),
    );
    expect(verdict).toMatchObject({ status: "correct" });
  }, 60_000);

  test("in a prompt that names neither its function nor a block gets both said", () => {
    const tests = [{ input: "1", output: "2", testtype: "functional", metadata: { func_name: "twice" } }];
    const draft = of(JSON.stringify(tests), { prompt: user("Double it.") }) as RowDraft;
    expect(draft.question).toBe(
      "Double it.\n\nThe function is called `twice`.\n\nWrite it in Python. Put all of it in one ```python block.",
    );
    expect(draft.reference).toMatchObject({ fn_name: "twice" });
  });

  test.each([
    [null, { bad: "reward_model.ground_truth: no tests" }],
    ["34", { bad: "reward_model.ground_truth: not JSON with inputs and outputs" }],
    [
      '{"assert_case": []}',
      { leftOut: "reward_model.ground_truth: assertions, which the verifier code does not judge" },
    ],
  ])("with %j is not judged, and says why", (ground_truth, outcome) => {
    expect(of(ground_truth)).toEqual(outcome);
  });
});

test.each<[object, object]>([
  [{ ability: "code" }, { leftOut: 'code: another source with verifier "code" reads it' }],
  [
    { ability: null, data_source: "codeforces" },
    { leftOut: 'code: another source with verifier "code" reads it' },
  ],
  [{ ability: "fact-reasoning" }, { leftOut: "ability fact-reasoning: neither math nor code" }],
  [
    { ability: null, data_source: "nq" },
    { bad: "ability: missing, and data_source names neither math nor code" },
  ],
  [{ images: [{}] }, { leftOut: "images or videos" }],
  [
    { reward_model: { style: "model", ground_truth: "" } },
    { leftOut: "reward_model.style model: judged by a reward model" },
  ],
  [{ ...truth(" ") }, { bad: "reward_model.ground_truth: invalid input, received string" }],
  [{ ...truth({ target: 3 }) }, { bad: "reward_model.ground_truth: invalid input, received object" }],
  [{ prompt: [] }, { bad: expect.stringMatching(/^prompt: /) }],
  [{ prompt: [{ role: "user", content: [] }] }, { bad: expect.stringMatching(/^prompt\.#\.content: /) }],
  [{ reward_model: undefined }, { bad: expect.stringMatching(/^reward_model: /) }],
])("a row with %j is not used, and says why", (more, outcome) => {
  expect(read(row(more))).toEqual(outcome);
});

test("columns of parquet, nested, are read", async () => {
  const { kept, bad } = await readAs({ kind: "verl", path: fixture("verl.parquet"), verifier: "math" }, []);
  expect(bad).toEqual({});
  expect(kept.map(({ reference }) => reference)).toEqual([
    { answer: "34", after: "Answer:" },
    { answer: "\\frac12", after: "Answer:" },
  ]);
});

test("the domain names who judges, or the source does; it is math or code", () => {
  expect(verl({ path: "x", domain: "code" })).toMatchObject({ domain: "code", verifier: "code" });
  expect(verl({ path: "x", domain: "sums", verifier: "math" })).toMatchObject({
    domain: "sums",
    verifier: "math",
  });
  for (const options of [{ domain: "sums" }, { verifier: "logic" }, {}])
    expect(() => verl({ path: "x", ...options })).toThrow("judged by math or code");
});
