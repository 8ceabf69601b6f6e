import { describe, expect, test } from "vitest";
import { UserTurn } from "../../lib/data/content.ts";
import type { RowDraft } from "../../lib/data/row-reader.ts";
import { type JsonlOptions, jsonl } from "../../lib/domains/jsonl.ts";

// Mutants tried: tools are passed on parsed instead of as text; messages are passed on in addition to a template; the
// answer stays a number.

const read = (row: unknown, options: Partial<JsonlOptions> = {}, text?: string) =>
  jsonl({ path: "x", domain: "math", ...options }).open({ path: "x", ...options })({
    file: "x.jsonl",
    row: 1,
    value: row,
    ...(text !== undefined && { text }),
  });
const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];

describe("a row", () => {
  test("of a question and an answer is a problem of its domain's verifier", () => {
    const { gold, ...draft } = read({ question: " 1+1? ", answer: 2 }) as RowDraft;
    expect(draft).toEqual({
      content: new UserTurn("1+1?"),
      question: "1+1?",
      family: "jsonl",
      level: 0,
      reference: { answer: "2" },
      askedFrom: "question",
      answerFrom: "answer; the question does not ask for \\boxed",
    });
    expect(gold!()).toEqual(["\\boxed{2}"]); // the verifier `math` must accept the gold answer
    expect(jsonl({ path: "x", domain: "math" })).toMatchObject({ domain: "math", verifier: "math" });
  });

  test("whose columns are in capitals is read by their names in small letters, with every digit", () => {
    const text = '{"Question": "1+1?", "ANSWER": 12345678901234567890, "Source": "me"}';
    expect(read(JSON.parse(text), {}, text)).toMatchObject({
      question: "1+1?",
      reference: { answer: "12345678901234567890" },
      askedFrom: "question",
    });
    expect(read({ Prompt: "1+1?", Answer: "2" })).toMatchObject({
      question: "1+1?",
      reference: { answer: "2" },
    });
    const twice = { Question: "1+1?", QUESTION: "2+2?", Answer: "2" };
    expect(read(twice)).toEqual({ bad: "row: neither question nor messages" });
  });

  test("whose fields are texts is read as the schema reads it, which a row with a level meets", () => {
    const texts = [undefined, "", " ", " 7 ", "so #### 8", "\\boxed{9}", 7, null, ["x"]];
    const columns = ["answer", "final_answer", "solution", "family", "gold", "reference"];
    const answered = (outcome: ReturnType<typeof read>) =>
      "gold" in outcome ? { ...outcome, gold: outcome.gold?.() } : outcome;
    for (const column of columns) {
      for (const text of texts) {
        for (const question of [" Is it\n so? ", "In \\boxed{}: 1", " ", 3]) {
          const row = { question, ...(text !== undefined && { [column]: text }), ability: "math" };
          for (const one of [row, { ...row, answer: "1" }])
            expect(answered(read(one)), JSON.stringify(one)).toEqual(answered(read({ ...one, level: 0 })));
        }
      }
    }
  });

  test("may say what its verifier reads, its family, its level and a right response", () => {
    const row = { question: "q", reference: { task: "sudoku" }, family: "grid", level: 3, gold: "yes" };
    const draft = read(row) as RowDraft;
    expect(draft).toMatchObject({ family: "grid", level: 3, reference: { task: "sudoku" } });
    expect(draft.gold!()).toEqual(["yes"]);
  });

  test("of several turns is asked as a conversation, and in words where there is no chat", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "1+1?" },
    ];
    expect(read({ messages, answer: "2" })).toMatchObject({ messages, question: "Be brief.\n\n1+1?" });
    const templated = read({ messages, answer: "2" }, { template: "Think. {task}" });
    expect(templated).toMatchObject({ question: "Think. Be brief.\n\n1+1?" });
    expect(templated).not.toHaveProperty("messages");
  });

  test("with tools has them as written, and described in the question", () => {
    const text = `{"question": "call", "tools": [{"type": "function", "function": {"name": "f", "x": 1.0}}], "reference": {}}`;
    const draft = read(JSON.parse(text), { domain: "function-calling" }, text) as { question: string };
    expect(draft).toMatchObject({
      tools: '[{"type": "function", "function": {"name": "f", "x": 1.0}}]',
      messages: [{ role: "user", content: "call" }],
    });
    expect(draft.question).toMatch(/<available_tools>\n\{"name":"f","x":1\}\n<\/available_tools>\n\ncall$/);
    const parsed = read({ question: "call", tools: TOOLS, reference: {} });
    expect(parsed).toMatchObject({ tools: JSON.stringify(TOOLS) });
  });

  test("may have columns that only share their names with those which describe rows", () => {
    const level = (value: unknown) => (read({ question: "q", answer: "2", level: value }) as RowDraft).level;
    expect(["Level 3", "4", 5n, 6].map(level)).toEqual([3, 4, 5, 6]);
    expect(["hard", "", "A1 to B2", -1, 2.5, true, [3], { n: 3 }].map(level)).toEqual(Array(8).fill(0));
    const odd = read({ question: "q", answer: "2", family: 7, gold: 2, tools: [] }) as RowDraft;
    expect(odd).toMatchObject({ family: "7", question: "q", reference: { answer: "2" } });
    expect(odd.gold!()).toEqual(["\\boxed{2}"]);
    expect(read({ question: "q", answer: "2", family: ["a"], tools: " " })).toMatchObject({
      family: "jsonl",
    });
  });

  test("may have its tools as JSON text", () => {
    const tools = '[{"type": "function", "function": {"name": "f", "x": 1.0}}]';
    const row = { question: "call", tools, reference: {} };
    expect(read(row, { domain: "function-calling" }, JSON.stringify(row))).toMatchObject({ tools });
  });

  test("may have null where another has a value", () => {
    const row = { question: "q", problem: null, messages: null, tools: null, reference: null, level: null };
    const draft = read({ ...row, family: null, gold: null, answer: null, final_answer: null, solution: "7" });
    expect(draft).toMatchObject({ question: "q", family: "jsonl", level: 0, reference: { answer: "7" } });
  });

  test("of DeepScaleR has a blank solution beside its answer, or a blank answer beside its solution", () => {
    expect(read({ problem: "q", answer: "7", solution: "" })).toMatchObject({ reference: { answer: "7" } });
    const worked = { problem: "q", answer: " ", solution: "So $\\boxed{7}$." };
    expect(read(worked, { template: "{task} Use \\boxed{}." })).toMatchObject({
      reference: { answer: "7" },
      answerFrom: "solution, in \\boxed",
    });
    expect(read({ problem: "q", answer: "", solution: "" })).toEqual({
      bad: "row: neither reference nor answer",
    });
  });

  test("of mathematics has its answer read in the form that its question or the template asks for", () => {
    const line = read({ question: '1+1? Say it after "Answer:".', answer: "2" }) as RowDraft;
    expect(line).toMatchObject({ reference: { answer: "2", after: "Answer:" }, answerFrom: "answer" });
    expect(line.gold!()).toEqual(["Answer: 2"]);
    const hashes = read(
      { question: "1+1?", answer: "#### 2" },
      { template: "{task} The answer goes after ####." },
    );
    expect(hashes).toMatchObject({
      reference: { answer: "2", after: "####" },
      answerFrom: "answer, after ####",
    });
    const other = read({ question: 'Say it after "Answer:".', answer: "2" }, { verifier: "mine" });
    expect(other).toMatchObject({ reference: { answer: "2" }, answerFrom: "answer" });
    expect(other).not.toHaveProperty("gold");
  });

  test("of OpenR1-Math or OpenThoughts is asked without the answer that was recorded with it", () => {
    const turns = [
      { role: "user", content: "1+1?" },
      { role: "assistant", content: "<think>1, 2</think>\\boxed{2}" },
    ];
    const draft = read({ problem: "1+1?", answer: "2", messages: turns, generations: ["\\boxed{2}"] });
    expect(draft).toMatchObject({ messages: turns.slice(0, 1), question: "1+1?" });
    expect(read({ messages: [...turns, ...turns], answer: "2" })).toMatchObject({
      messages: [...turns, turns[0]],
      question: "1+1?\n\n<think>1, 2</think>\\boxed{2}\n\n1+1?",
    });
    expect(read({ messages: turns.slice(1), answer: "2" })).toEqual({
      bad: "messages: only what an assistant said",
    });
    const thought = {
      problem: "1+1?",
      ground_truth_solution: "It is plain to see: \\boxed{2}, as was said.",
    };
    expect(read(thought)).toMatchObject({ reference: { answer: "2" } });
  });

  test.each([
    ["12345678901234567890123", "12345678901234567890123"],
    ["-0.1234567890123456789", "-0.1234567890123456789"],
    ["5.0", "5"], // pandas writes an integer so if another value is missing
    ["1e3", "1000"],
  ])("has the number %s as its answer %s", (written, answer) => {
    const text = `{"question": "q", "answer": ${written} }`;
    expect(read(JSON.parse(text), {}, text)).toMatchObject({ reference: { answer } });
  });

  test("of a column of 64-bit integers has all digits", () => {
    expect(read({ question: "q", answer: 2n ** 60n })).toMatchObject({
      reference: { answer: "1152921504606846976" },
    });
  });

  test("a list of one answer is that answer", () => {
    expect(read({ question: "q", answer: ["1/2"] })).toMatchObject({ reference: { answer: "1/2" } });
    expect(read({ question: "q", answer: ["so\n#### 7"] })).toMatchObject({
      reference: { answer: "7" },
      answerFrom: expect.stringContaining("answer, after ####") as string,
    });
  });

  test.each([
    [{ answer: "2" }, "row: neither question nor messages"],
    [{ question: "q" }, "row: neither reference nor answer"],
    [{ question: "", answer: "2" }, "question: empty"],
    [
      { question: "q", answer: "She sold 72.\n####" },
      "answer: states no answer, neither after #### nor in \\boxed",
    ],
    [{ question: null, answer: "2" }, "row: neither question nor messages"],
    [{ question: "q", answer: true }, "answer: invalid input, received boolean"],
    [{ question: "q", final_answer: ["1", "2"] }, "final_answer: invalid input, received array"],
    [{ question: "q", answer: ["1", "2"] }, "answer: invalid input, received array"],
    [null, /^row: .*received null/],
    [{ question: "q", answer: "2", tools: [{ name: "f" }] }, /^tools.#.function: /],
    [{ question: "q", answer: "2", tools: "none" }, /^tools: .*received string/],
    [{ messages: [{ role: "user" }], answer: "2" }, /^messages.#.content: /],
    ["q", /^row: /],
  ])("%j is bad, with the field that makes it so", (row, reason) => {
    const { bad } = read(row) as { bad: string };
    if (typeof reason === "string") expect(bad).toBe(reason);
    else expect(bad).toMatch(reason);
  });
});

test("the domain names the verifier and the other way round, and one of them must be there", () => {
  expect(jsonl({ path: "x", verifier: "logic" })).toMatchObject({ domain: "logic", verifier: "logic" });
  expect(jsonl({ path: "x", domain: "maths", verifier: "math" })).toMatchObject({
    domain: "maths",
    verifier: "math",
  });
  expect(() => jsonl({ path: "x" })).toThrow("nothing says which domain");
});

describe("columns of other names", () => {
  const user = (content: string) => ({ role: "user", content });

  test("are read as question and answer, and said", () => {
    const draft = read(
      { prompt: "1+1?", ground_truth: "2" },
      { template: "{task} Use \\boxed{}." },
    ) as RowDraft;
    expect(draft).toMatchObject({
      content: new UserTurn("1+1?"),
      question: "1+1? Use \\boxed{}.",
      reference: { answer: "2" },
      askedFrom: "prompt",
      answerFrom: "ground_truth",
    });
    expect(draft.gold!()).toEqual(["\\boxed{2}"]);
    const turns = [{ role: "system", content: "Use \\boxed{}." }, user("1+1?")];
    expect(read({ prompt: turns, answer: "2" })).toMatchObject({ messages: turns, askedFrom: "prompt" });
  });

  test("that state two answers make the row bad, and both are named", () => {
    expect(read({ question: "q", answer: "2", ground_truth: "3" })).toEqual({
      bad: "answer and ground_truth: both state the answer, and differ",
    });
    const worked = { question: "q", solution: "It is \\boxed{2}.", ground_truth: "2" };
    expect(read(worked)).toMatchObject({ reference: { answer: "2" } });
    expect(read({ ...worked, ground_truth: "3" })).toEqual({
      bad: "solution and ground_truth: both state the answer, and differ",
    });
    // a solution without a stated answer is ignored
    const unstated = { ...worked, solution: "It is as plain as can be, as everybody sees at once." };
    expect(read(unstated)).toMatchObject({ reference: { answer: "2" } });
  });

  test("may list several right answers for mathematics", () => {
    const draft = read({ question: "q", ground_truth: ["1/2", 0.5] }) as RowDraft;
    expect(draft.reference).toEqual({ answer: ["1/2", "0.5"] });
    expect(draft.gold!()).toEqual(["\\boxed{1/2}"]);
    expect(read({ question: "q", ground_truth: { a: 1 } })).toEqual({
      bad: "ground_truth: invalid input, received object",
    });
    expect(read({ question: "q", ground_truth: { a: 1 } }, { domain: "mine" })).toMatchObject({
      reference: { answer: { a: 1 } },
    });
  });

  test("of verl's that ask no mathematics are left out", () => {
    const row = { prompt: [user("q")], ability: "logic", reward_model: { ground_truth: "2" } };
    expect(read(row)).toEqual({ leftOut: "ability logic: not mathematics" });
    expect(read({ ...row, ability: "math" })).toMatchObject({ reference: { answer: "2" } });
  });
});

describe("where no verifier reads the reference", () => {
  const free = (row: unknown) =>
    jsonl({ path: "x", domain: "math", needsReference: false }).open({ path: "x" })({
      file: "x.jsonl",
      row: 1,
      value: row,
    });

  test.each([[true], [["a", "b"]], [{ value: "a", aliases: [] }]])("an answer may be %j", (answer) => {
    const outcome = read({ question: "q", answer }, { domain: "mine" });
    expect(outcome).toMatchObject({ question: "q", reference: { answer } });
  });

  test("a row needs no answer", () => {
    expect(free({ prompt: "Write a poem." })).toMatchObject({
      question: "Write a poem.",
      reference: undefined,
      askedFrom: "prompt",
    });
    const unstated = { question: "q", solution: "It is as plain as can be, as everybody sees at once." };
    expect(free(unstated)).toMatchObject({ question: "q", reference: undefined });
    expect(free({ question: "q", answer: "2" })).toMatchObject({ reference: { answer: "2" } });
    expect(read({ question: "q", solution: 7 })).toMatchObject({ reference: { answer: "7" } });
    expect(free({ question: "q", answer: true })).toMatchObject({ question: "q" });
    expect(free({ answer: "2" })).toEqual({ bad: "row: neither question nor messages" });
  });
});
