import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openSuite, SUITE_NAMES, suitesNamed } from "../../lib/suites/open-suite.ts";
import { scratchFolder } from "./scripted.ts";

function file(name: string, rows: readonly unknown[] | string): string {
  const path = join(scratchFolder(), name);
  writeFileSync(path, typeof rows === "string" ? rows : rows.map((row) => JSON.stringify(row)).join("\n"));
  return path;
}

const GSM8K = [1, 2, 3].map((n) => ({ question: `What is ${n} + 1?`, answer: `So.\n#### ${n + 1}` }));

test("a published suite is found under the data folder, as a file or as a folder, or where it is said to be", async () => {
  const data = scratchFolder();
  mkdirSync(join(data, "gsm8k/main"), { recursive: true });
  const text = GSM8K.map((row) => JSON.stringify(row)).join("\n");
  writeFileSync(join(data, "gsm8k/main/test.jsonl"), text);
  writeFileSync(join(data, "gsm8k/main/train.jsonl"), text.replaceAll("1", "7"));
  const folder = await openSuite("gsm8k", { data });
  writeFileSync(
    join(data, "math500.jsonl"),
    JSON.stringify({ problem: "1+1?", answer: "2", subject: "Algebra", level: 2 }),
  );
  const alone = await openSuite("math500", { data });
  const said = await openSuite(`gsm8k=${file("x.jsonl", GSM8K)}`);
  expect([folder.count, alone.count, said.count, said.name]).toEqual([3, 1, 3, "gsm8k"]);
  expect(alone.problem(0)).toMatchObject({ family: "Algebra", level: 1, reference: { answer: "2" } });
  expect(said.problem(0).id).toBe(
    [0, 1, 2].map((i) => folder.problem(i)).find((p) => p.question === said.problem(0).question)!.id,
  );
});

test("a published folder with several sets in it gives the one that is meant", async () => {
  const data = scratchFolder();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(data, path)), { recursive: true });
    writeFileSync(join(data, path), text);
  };
  const names = [
    "Question",
    "Correct Answer",
    "Incorrect Answer 1",
    "Incorrect Answer 2",
    "Incorrect Answer 3",
  ];
  const csv = (n: number) =>
    [names.join(","), ...Array.from({ length: n }, (_, i) => `What is ${i}?,${i},a,b,c`)].join("\n");
  for (const [set, n] of [
    ["diamond", 2],
    ["extended", 4],
    ["main", 3],
  ] as const)
    write(`gpqa-diamond/gpqa_${set}.csv`, csv(n));
  write("gpqa-diamond/gpqa_experts.csv", "Uuid,Occupation\n1,chemist");
  const task = (n: number) => ({
    task_id: n,
    code: `def f${n}(x): return x`,
    test_list: [`assert f${n}(1) == 1`],
  });
  for (const split of ["test", "train"]) {
    write(`mbpp/full/${split}.jsonl`, JSON.stringify({ ...task(1), text: `Give it back, ${split}.` }));
    write(
      `mbpp/sanitized/${split}.jsonl`,
      JSON.stringify({ ...task(2), prompt: `Give back its argument, ${split}.` }),
    );
  }
  for (const set of ["main", "socratic"])
    write(`gsm8k/${set}/test.jsonl`, JSON.stringify({ question: `1 + 1, ${set}?`, answer: "#### 2" }));
  const [gpqa, mbpp, gsm8k] = await Promise.all(
    ["gpqa-diamond", "mbpp", "gsm8k"].map((name) => openSuite(name, { data })),
  );
  expect([gpqa!.count, gpqa!.report!.rows]).toEqual([2, 2]);
  expect([mbpp!.count, mbpp!.problem(0).question]).toEqual([
    1,
    expect.stringContaining("Give it back, test."),
  ]);
  expect([gsm8k!.count, gsm8k!.problem(0).question]).toEqual([1, expect.stringContaining("main")]);
  const sanitized = await openSuite(`mbpp=${join(data, "mbpp/sanitized")}`);
  expect(sanitized.problem(0).question).toContain("Give back its argument, test.");
});

test("where there is none it is told where it belongs and what is to be fetched", async () => {
  await expect(openSuite("aime25", { data: "nowhere" })).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: "suite aime25: there is no nowhere/aime25, nor a data file of that name",
    hint: expect.stringContaining("MathArena/aime_2025"),
  });
  await expect(openSuite("aime52")).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining("aime25"),
  });
});

test("a file is told by its rows; all of them are asked, and those the verifier refuses are left out", async () => {
  const own = await openSuite(
    file("own.jsonl", [
      { question: "1+1?", answer: "2" },
      { question: "1+2?", answer: "" },
      { question: "2+2?", answer: "4" },
    ]),
  );
  expect([own.name, own.count, own.report!.bad[0]!.rows]).toEqual(["own.jsonl", 2, 1]);
  expect(own.answer!("\\boxed{2}")).toBe("2");
  const choice = await openSuite(
    file("c.jsonl", [
      { question: "Which?", reference: { answer: "A", choices: 4, style: "gpqa" } },
      { question: "What?", reference: { answer: "?" } },
    ]),
    { verifier: "choice" },
  );
  expect([choice.count, choice.report!.leftOut[0]!.reason]).toEqual([
    1,
    expect.stringContaining("reference refused"),
  ]);
});

test("a suite that is made up asks no question twice, and the same every time", async () => {
  expect(suitesNamed("procedural").map((name) => name.replace("procedural/", ""))).toEqual([
    "math",
    "code",
    "logic",
    "instruction-following",
    "function-calling",
  ]);
  expect(suitesNamed("aime25")).toEqual(["aime25"]);
  expect(SUITE_NAMES).toContain("puzzles");
  const [one, two] = [await openSuite("procedural/math"), await openSuite("procedural/math")];
  const questions = Array.from({ length: one.count }, (_, i) => one.problem(i).question);
  expect(new Set(questions).size).toBe(one.count);
  expect(one.count).toBe(96);
  expect(questions).toEqual(Array.from({ length: two.count }, (_, i) => two.problem(i).question));
});

const playedModule = (more: string): string => {
  const rows = file("rows.jsonl", [{ q: "one" }, { q: "two" }]);
  const path = join(scratchFolder(), "played.mjs");
  const environment = "{ tools: [], reset() {}, step: () => ({ done: true }), score: () => 1 }";
  writeFileSync(
    path,
    `const environment = ${environment};
     export default { name: "mine", path: ${JSON.stringify(rows)}, read: ({ q }) => ({ question: q, reference: q }), ${more} };`,
  );
  return path;
};

test("episodes are a suite whose problems name their limits, from a built-in environment or a module", async () => {
  const suite = await openSuite("procedural/calculator");
  expect(suite.play).toMatchObject({ maxTurns: 3, maxTurnTokens: undefined });
  expect(suite.problem(0)).toMatchObject({
    verifier: "environment:procedural/calculator, 3 turns",
    tools: expect.stringContaining("Compute"),
  });
  const other = await openSuite("procedural/calculator", { maxTurns: 5, maxTurnTokens: 9 });
  expect(other.play).toMatchObject({ maxTurns: 5, maxTurnTokens: 9 });
  expect(other.problem(0).verifier).toBe("environment:procedural/calculator, 5 turns of 9 tokens");
  expect(other.problem(0).id).not.toBe(suite.problem(0).id);
  expect(suitesNamed("procedural")).not.toContain("procedural/calculator");
  const mine = await openSuite(playedModule("environment"), { maxTurns: 2 });
  expect([mine.count, mine.play!.maxTurns, mine.modules]).toEqual([2, 2, {}]);
  expect(mine.problem(1)).toMatchObject({ verifier: "environment:mine, 2 turns", tools: "[]" });
});

test.each(["environment, verifier: 'math'", "environment, verify() {}", "environment: { reset() {} }"])(
  "a module that does not say who judges is refused: %s",
  async (more) => {
    await expect(openSuite(playedModule(more))).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
  },
);

test("a module of one's own", async () => {
  const rows = file("digits.jsonl", [
    { q: "1 + 2", is: 3 },
    { q: "2 + 2", is: 4 },
    { q: "no" },
    { q: 5, is: 5 },
  ]);
  const suite = await openSuite(
    file(
      "mine.mjs",
      `export default {
        name: "mine", path: ${JSON.stringify(rows)}, levels: ["a", "b"],
        read: ({ q, is }) => is === undefined ? undefined : { question: q, reference: { is }, subject: "sums", level: 1 },
        verify: ({ text }, { is }) => text === String(is) ? { status: "correct", score: 1, reason: "" } : { status: "wrong", score: 0, reason: "" },
      };`,
    ),
  );
  expect([suite.name, suite.count, suite.report!.leftOut.length, suite.report!.bad[0]!.reason]).toEqual([
    "mine",
    2,
    1,
    expect.stringContaining("read(): question"),
  ]);
  expect(suite.problem(0)).toMatchObject({ verifier: "mine", family: "sums", level: 1, domain: "mine" });
  expect(Object.keys(suite.modules)).toEqual(["mine"]);
});

test.each([
  ["export default { name: 'x', path: 'p' }", "read"],
  ["export const x = 1", "default export: "],
  [
    "export default { name: 'x', path: 'p', read: (row) => row }",
    "set one of verify, verifier and environment",
  ],
  ["export default {", "bad.mjs cannot be imported: "],
])("%s is no suite", async (source, why) => {
  await expect(openSuite(file("bad.mjs", source))).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining(why),
  });
});
