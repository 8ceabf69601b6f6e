import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkDataset, dataCheckText, isUseless } from "../../lib/cli/data-check.ts";
import { tellKind } from "../../lib/domains/data-kind.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-data-kind-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string | readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, typeof text === "string" ? text : text.map((row) => JSON.stringify(row)).join("\n"));
  return path;
}
const check = async (path: string) => checkDataset(path, await tellKind(path), { workers: 1 });

const GSM8K = [
  { question: "Half of 48, and 48?", answer: "48 / 2 = <<48/2=24>>24\n#### 72" },
  { question: "A thousand?", answer: "#### 1,000" },
];
const MATH = [{ problem: "Half?", solution: "One of two is $\\boxed{\\frac12}$.", level: 2 }];
const GPQA = `Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,High-level domain
r1,"Which, of
these?",right,"wrong, one",two,three,Physics
`;

test("GSM8K's rows are judged by what follows ####, and the report says so", async () => {
  const found = await check(file("gsm8k.jsonl", GSM8K));
  expect(found.report).toMatchObject({
    kind: "jsonl",
    rows: 2,
    answers: [{ reason: "answer, after ####; the question does not ask for \\boxed", rows: 2 }],
  });
  expect(found.gold).toMatchObject({ accepted: 2, rejected: [] });
  expect(isUseless(found)).toBe(false);
  expect(dataCheckText([found])).toContain("answer of 2 rows: answer, after ####");
}, 120_000);

test("worked solutions end in a box; the benchmarks and published sets are told by their rows", async () => {
  const math = await check(file("math.jsonl", MATH));
  expect([math.report.answers?.[0]?.reason, math.gold?.accepted]).toEqual([
    "solution, in \\boxed; the question does not ask for \\boxed",
    1,
  ]);
  const gpqa = await check(file("gpqa_diamond.csv", GPQA));
  expect(gpqa.report).toMatchObject({ kind: "gpqa", rows: 1, heldOut: 1, bad: [] });
  expect(gpqa.gold?.accepted).toBe(1);
  const orz = file("orz.jsonl", [[{ value: "7?" }, { ground_truth: { value: "7" } }]] as unknown as object[]);
  expect((await tellKind(orz)).kind).toBe("open-reasoner-zero");
}, 120_000);

test("a set of which nothing can be used is useless; one that is bad in part is not", async () => {
  const bad = { question: "no answer" };
  const all = file("all-bad.jsonl", [bad, { ...bad, question: "none either" }]);
  const spec = { kind: "jsonl", path: all, verifier: "math" } as const;
  expect(isUseless(await checkDataset("all", spec, { workers: 1 }))).toBe(true);
  const part = file("part-bad.jsonl", [bad, ...GSM8K]);
  const found = await checkDataset("part", { ...spec, path: part }, { workers: 1 });
  expect([isUseless(found), found.report.bad[0]?.rows]).toEqual([false, 1]);
  const refused = file("refused.jsonl", [{ question: "7?", reference: { answer: "7" }, gold: "no box" }]);
  expect(isUseless(await checkDataset("refused", { ...spec, path: refused }, { workers: 1 }))).toBe(true);
}, 120_000);

test("whole numbers for answers make nobody's own rows AIME's", async () => {
  const sums = [
    { question: "What is 2 + 3?", answer: "5" },
    { question: "What is 20 + 3?", answer: 23 },
  ];
  expect((await tellKind(file("sums.jsonl", sums))).kind).toBe("jsonl");
  expect((await tellKind(file("aime2025-I.jsonl", sums))).kind).toBe("aime");
  const published = {
    id: "2024-I-1",
    url: "https://example.org/2024_AIME_I/1",
    problem: "1 + 1?",
    answer: "2",
  };
  expect((await tellKind(file("train.jsonl", [published]))).kind).toBe("aime");
});

test("a file without rows says so", async () => {
  await expect(tellKind(file("empty.jsonl", ""))).rejects.toThrow("empty.jsonl: no rows");
});

test("rows of no kind are an error that lists the kinds", async () => {
  await expect(tellKind(file("other.jsonl", [{ a: 1 }]))).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining("one of jsonl, verl, open-reasoner-zero"),
  });
});

test("rows of verl's with a verifier that judges none of them are an error that says who does", async () => {
  const row = {
    data_source: "x",
    ability: "math",
    prompt: [{ role: "user", content: "1 + 1?" }],
    reward_model: { ground_truth: "2" },
  };
  for (const verifier of ["logic", "choice", "mathh"])
    await expect(tellKind(file(`verl-${verifier}.jsonl`, [row]), verifier)).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      hint: expect.stringContaining(
        `closest to verl, but: math or code judges it, not ${verifier}`,
      ) as string,
    });
});

test("a folder is of the kind of its first file that is of any", async () => {
  const all = mkdtempSync(join(folder, "folder-"));
  writeFileSync(join(all, "a-notes.json"), JSON.stringify([{ note: "no rows of a set" }]));
  writeFileSync(join(all, "b-gpqa.csv"), GPQA);
  expect((await tellKind(all)).kind).toBe("gpqa");
});

test("a multiple-choice row that would be asked without its choices is of no kind, and the hint says so", async () => {
  const mmlu = file("mmlu.jsonl", [
    { question: "Which is even?", subject: "algebra", choices: ["1", "2"], answer: 1 },
  ]);
  await expect(tellKind(mmlu)).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining("choices: multiple choice"),
  });
});

test("an answer that is the only one of a list is read; of several none is chosen", async () => {
  const row = { question: "Half of 4?", final_answer: ["2"], solution: ["Two.", "It is 2."] };
  expect((await check(file("one.jsonl", [row]))).gold?.accepted).toBe(1);
  const several = file("several.jsonl", [{ ...row, final_answer: ["2", "3"] }]);
  await expect(tellKind(several)).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
}, 120_000);

test("rows that are no JSON, or not UTF-8, are said to be so where their kind is not known", async () => {
  const python = file("python.jsonl", "{'question': 'a', 'answer': '1'}\n");
  await expect(tellKind(python)).rejects.toMatchObject({
    hint: expect.stringMatching(/\(not JSON: a dict as Python prints it; .*\)\.$/) as string,
  });
});

test.each<[string, object, string]>([
  [
    "verl",
    { data_source: "x", ability: "math", prompt: [{ role: "user", content: "1 + 1?" }] },
    "closest to verl, but: reward_model: missing",
  ],
  ["xlam", { query: "q", tools: "[]" }, "closest to xlam, but: answers: missing"],
  ["deepcoder", { problem: "p", tests: "[{'input'" }, "closest to code-tests, but: tests: not JSON"],
  ["own", { question: "q", topic: "sums" }, "closest to jsonl, but: row: neither reference nor answer"],
  [
    "unanswered",
    { question: "q", topic: "sums" },
    "Rows without an answer in words need a reward in the recipe",
  ],
  ["boolean", { question: "q", answer: true }, "Rows without an answer in words need a reward"],
  ["prompts", { prompt: "p", topic: "sums" }, "closest to jsonl, but: row: neither reference nor answer"],
  ["german", { Frage: "1+1?", Antwort: "2" }, "map: (row) => ({ question: row.Frage, answer: row.Antwort })"],
  [
    "twice",
    { question: "1+1?", prompt: "Sum?", answer: "2" },
    "question: row.question, answer: row.answer })",
  ],
  ["pairs", { prompt: "p", chosen: "a", rejected: "b" }, "preferences"],
])("rows that are nearly %s's say what is missing", async (name, row, words) => {
  await expect(tellKind(file(`nearly-${name}.jsonl`, [row]))).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining(words) as string,
  });
});
