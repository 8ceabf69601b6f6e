import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSides } from "../../lib/traces/read-folder.ts";
import { freshDir, smallEvaluation } from "./small-evaluation.ts";

const questions = Array.from({ length: 8 }, (_, i) => `Question ${i}?`);

test("a draw a trace, with question, tokens and verdict", async () => {
  const dir = smallEvaluation("m", [
    { question: "A?", text: "one", tokens: 5 },
    { question: "A?", text: "one", tokens: 5, seed: 1 },
    { question: "B?", text: "two", tokens: 9, correct: false },
  ]);
  const [side, ...more] = await readSides([dir], {});
  expect(more).toEqual([]);
  expect(side!.name).toBe("m");
  const found = side!.traces.map(({ question, text, tokens, correct }) => [question, text, tokens, correct]);
  expect(found.sort()).toEqual([
    ["A?", "one", 5, true],
    ["A?", "one", 5, true],
    ["B?", "two", 9, false],
  ]);
});

test("a limit takes the same problems in both, one draw of each before a second of any", async () => {
  const draws = [0, 1].flatMap((seed) =>
    questions.map((question) => ({ question, text: `${question} ${seed}`, seed })),
  );
  const [a, b] = [smallEvaluation("a", draws), smallEvaluation("b", [...draws].reverse())];
  const sides = await readSides([a, b], { limit: 6 });
  const [first, second] = sides.map(({ traces }) => traces.map(({ problem }) => problem));
  expect(new Set(first).size).toBe(6);
  expect(first).toEqual(second);
  expect(sides.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("two of one model are called by their folders", async () => {
  const [a, b] = [
    smallEvaluation("m", [{ question: "A?", text: "x" }]),
    smallEvaluation("m", [{ question: "A?", text: "x" }]),
  ];
  expect((await readSides([a, b], {})).map(({ name }) => name)).toEqual(
    [a, b].map((dir) => dir.split("/").at(-1)),
  );
});

function run(completions: number): string {
  const dir = freshDir();
  const row = { domain: "math", family: "f", level: 0, verifier: "math", reference: 1, prompt: "A?" };
  const lines: object[] = [
    { problem: "0", id: 4, ...row },
    { problem: "1", id: 5, ...row }, // the same row in the next pass
  ];
  for (let i = 0; i < completions; i++) {
    lines.push({ completion: `c${i}`, of: `${i % 2}`, finish: "eos", text: `text ${i}` });
    lines.push({
      verdict: { status: i % 2 ? "correct" : "wrong", score: i % 2, reason: "r" },
      on: `c${i}`,
      version: 1,
    });
  }
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "verdicts.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return dir;
}

test("a run is its first tenth against its last, in the order of judging, without counts of tokens", async () => {
  const [first, last] = await readSides([run(25)], {});
  expect(first).toMatchObject({
    name: "first tenth",
    traces: [
      { text: "text 0", correct: false },
      { text: "text 1", correct: true },
    ],
  });
  expect(last!.traces.map(({ text }) => text)).toEqual(["text 23", "text 24"]);
  expect(last!.traces[0]).toMatchObject({ tokens: undefined, question: undefined });
  expect(new Set(last!.traces.map(({ problem }) => problem)).size).toBe(1);
  expect((await readSides([run(40)], { limit: 1 }))[1]!.traces.map(({ text }) => text)).toEqual(["text 39"]);
});

test("other folders are refused with what to do", async () => {
  const own = smallEvaluation("m", [{ question: "A?", text: "x" }]);
  await expect(readSides([freshDir()], {})).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  await expect(readSides([own, run(25)], {})).rejects.toMatchObject({
    hint: expect.stringContaining("alone"),
  });
  await expect(readSides([run(19)], {})).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining("19 completions"),
  });
  await expect(readSides([own], { suite: "aime25" })).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    hint: "It was asked: small.",
  });
});
