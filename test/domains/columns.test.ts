import { describe, expect, test } from "vitest";
import { answersIn, askedIn } from "../../lib/domains/columns.ts";

// Deliberate faults (mutants) that these tests detect: of two different columns the first is taken, an assistant's
// last turn is shown, `input` is ignored, `label` precedes `answer`, JSON inside text is not parsed.

const user = (content: string) => ({ role: "user", content });
const answers = (row: Record<string, unknown>) =>
  answersIn(row, { file: "x", row: 1, value: row, text: JSON.stringify(row) }).map(({ column, value }) => [
    column,
    value,
  ]);

describe("what a row asks", () => {
  test.each<[object, string, string]>([
    [{ question: " 1+1? " }, "question", "1+1?"],
    [{ problem: "1+1?" }, "problem", "1+1?"],
    [{ prompt: "1+1?" }, "prompt", "1+1?"],
    [{ query: "1+1?" }, "query", "1+1?"],
    [{ instruction: "Add.", input: "1 and 1" }, "instruction", "Add.\n\n1 and 1"],
    [{ instruction: "Add 1 and 1.", input: "" }, "instruction", "Add 1 and 1."],
    [{ responses_create_params: { input: "1+1?" } }, "responses_create_params.input", "1+1?"],
  ])("%j is asked by %s", (row, column, task) => {
    expect(askedIn(row as Record<string, unknown>)).toEqual({ column, task });
  });

  test("may be turns, without the answer of an assistant at their end", () => {
    const turns = [{ role: "system", content: "Be brief." }, user("1+1?")];
    const recorded = [...turns, { role: "assistant", content: "2" }];
    expect(askedIn({ prompt: recorded })).toEqual({ column: "prompt", task: "Be brief.\n\n1+1?", turns });
    const shared = [
      { from: "system", value: "Be brief." },
      { from: "human", value: "1+1?" },
      { from: "gpt", value: "2" },
    ];
    expect(askedIn({ conversations: shared })).toMatchObject({ column: "conversations", turns });
    expect(askedIn({ responses_create_params: { input: turns } })).toMatchObject({ turns });
    const parts = [
      { type: "text", text: "1+" },
      { type: "text", text: "1?" },
    ];
    expect(askedIn({ prompt: [{ role: "user", content: parts }] })).toMatchObject({ turns: [user("1+1?")] });
    const picture = [{ role: "user", content: [{ type: "image", text: "[image]" }, ...parts] }];
    expect(askedIn({ prompt: picture })).toEqual({
      bad: expect.stringMatching(/^prompt\.#\.content: /) as string,
    });
    expect(askedIn({ prompt: recorded.slice(2) })).toEqual({ bad: "prompt: only what an assistant said" });
  });

  test.each<[object, string]>([
    [{ question: "1+1?", prompt: "2+2?" }, "question and prompt"],
    [{ question: "1+1?", problem: "2+2?" }, "question and problem"],
    [{ prompt: "1+1?", query: "Sum?" }, "prompt and query"],
    [{ messages: [user("1+1?")], prompt: "2+2?" }, "messages and prompt"],
    [{ question: "1+1?", prompt: [user("Solve it: 1+1?")] }, "question and prompt"],
  ])("%j is ambiguous, and both columns are named", (row, names) => {
    expect(askedIn(row as Record<string, unknown>)).toEqual({
      bad: `${names}: both contain the question, and they differ`,
    });
  });

  test("is not ambiguous where two columns ask the same", () => {
    const system = { role: "system", content: "Be brief." };
    expect(askedIn({ question: "1+1?", prompt: "1+1? " })).toMatchObject({ column: "question" });
    expect(askedIn({ question: "1+1?", prompt: [system, user("1+1?")] })).toMatchObject({
      column: "question",
    });
    expect(askedIn({ prompt: "1+1?", messages: [user("1+1?")] })).toMatchObject({ column: "messages" });
    // OpenR1-Math: the `problem` column has the turn's text
    expect(askedIn({ problem: "Sum", messages: [user("1+1?")] })).toMatchObject({
      column: "messages",
      task: "Sum",
      turns: [user("1+1?")],
    });
  });

  test("is read by an older column although another has a newer name and no text", () => {
    expect(askedIn({ question: "1+1?", query: { id: 1 }, prompt: 7 })).toMatchObject({ column: "question" });
    expect(askedIn({ prompt: 7 })).toEqual({ bad: expect.stringMatching(/^prompt: /) as string });
    expect(askedIn({ question: "", prompt: "1+1?" })).toEqual({ bad: "question: empty" });
    expect(askedIn({ text: "1+1?" })).toBeUndefined();
  });
});

describe("the answer of a row", () => {
  test.each<[Record<string, unknown>, string, unknown]>([
    [{ ground_truth: "2" }, "ground_truth", "2"],
    [{ expected_answer: 2 }, "expected_answer", 2],
    [{ reward_model: { style: "rule", ground_truth: "2" } }, "reward_model.ground_truth", "2"],
    [{ verification_info: '{"ground_truth": "2"}' }, "verification_info.ground_truth", "2"],
    [{ verification_info: { ground_truth: ["2", "two"] } }, "verification_info.ground_truth", ["2", "two"]],
    [{ metadata: '{"expected_answer": "2"}' }, "metadata.expected_answer", "2"],
    [{ label: "2" }, "label", "2"],
    [{ gold_standard_solution: "So it is 2." }, "gold_standard_solution", "So it is 2."],
  ])("%j is taken from %s", (row, column, value) => {
    expect(answers(row)).toEqual([[column, value]]);
  });

  test("is the first of those that published sets have together", () => {
    expect(answers({ solution: "So 2.", answer: "2", final_answer: "two" })).toEqual([
      ["final_answer", "two"],
    ]);
    expect(answers({ answer: "", solution: "So 2." })).toEqual([["solution", "So 2."]]);
  });

  test("is every column that may contradict another, but a label only by itself", () => {
    expect(answers({ answer: "2", ground_truth: "3", label: "sums" })).toEqual([
      ["answer", "2"],
      ["ground_truth", "3"],
    ]);
  });

  test("of many digits is as the file writes it", () => {
    const text = '{"ground_truth": 12345678901234567890123}';
    const value = JSON.parse(text) as Record<string, unknown>;
    expect(answersIn(value, { file: "x", row: 1, value, text })[0]!.value).toBe("12345678901234567890123");
  });
});
