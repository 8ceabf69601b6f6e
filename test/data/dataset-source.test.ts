import { beforeAll, describe, expect, test } from "vitest";
import { DatasetSource } from "../../lib/data/dataset-source.ts";
import { isHeldOut, type ProblemSource } from "../../lib/data/index.ts";
import { contentKey } from "../../lib/data/row-filter.ts";
import { openProblemSource } from "../../lib/domains/index.ts";
import { openReasonerZero } from "../../lib/domains/math/read/open-reasoner-zero.ts";
import { long } from "../long.ts";
import { writeRows } from "./filtered.ts";

const ROWS = 400;
const rows = Array.from({ length: ROWS }, (_, i) => [
  { value: `Question ${i}` },
  { ground_truth: { value: `${i}` } },
]);
const path = () => writeRows("source.jsonl", rows);
const open = (seed = 0, ordinal = 0) => openProblemSource(`orz:${path()}`, { seed, ordinal });
const contentOf = (question: string) => question.split("\n")[0]!;

let source: ProblemSource;
beforeAll(async () => {
  source = await open();
});

describe("training", () => {
  test("sees every row that is not held out once a pass, in another order each pass", () => {
    const { training, heldOut } = source.report!;
    expect(training + heldOut).toBe(ROWS);
    const pass = (n: number) =>
      Array.from({ length: training }, (_, i) => contentOf(source.problem(n * training + i).question));
    expect(new Set(pass(0)).size).toBe(training);
    expect(pass(0).some(isHeldOut)).toBe(false);
    expect([...pass(1)].sort()).toEqual([...pass(0)].sort());
    expect(pass(1)).not.toEqual(pass(0));
    expect(pass(0)).not.toEqual(rows.map((_, i) => `Question ${i}`).filter((q) => !isHeldOut(q)));
  });

  test("is a function of seed, place among the sources and index, across restarts", async () => {
    const [again, seeded, second] = await Promise.all([open(), open(1), open(0, 1)]);
    const draws = (one: ProblemSource) => [0, 1, 2, 399, 1000, 5].map((i) => one.problem(i));
    expect(draws(again)).toEqual(draws(source));
    expect(draws(seeded)).not.toEqual(draws(source));
    expect(draws(second)).not.toEqual(draws(source));
    expect(draws(source)[0]).toEqual({
      id: 0,
      domain: "math",
      family: "open-reasoner-zero",
      level: 0,
      question: expect.stringContaining("Question "),
      verifier: "math",
      reference: { answer: contentOf(draws(source)[0]!.question).slice(9) },
    });
  });
});

describe("evaluation", () => {
  test("has the held-out rows in one order for every seed, and starts again behind the last", async () => {
    const count = source.heldOutCount!;
    const asked = (one: ProblemSource) =>
      Array.from({ length: count }, (_, i) => contentOf(one.heldOut(i).question));
    expect(asked(source).every(isHeldOut)).toBe(true);
    expect(new Set(asked(source)).size).toBe(count);
    expect(asked(await open(7))).toEqual(asked(source));
    expect(source.heldOut(count).question).toBe(source.heldOut(0).question);
    expect(source.heldOut(count).id).not.toBe(source.heldOut(0).id);
  });

  test("ids of both purposes and of two sources never meet", async () => {
    const both = [source, await open(0, 1)];
    const ids = both.flatMap((one) =>
      Array.from({ length: 50 }, (_, i) => [one.problem(i).id, one.heldOut(i).id]),
    );
    expect(new Set(ids.flat()).size).toBe(200);
  });
});

describe("heldOut", () => {
  const opened = (more: object) =>
    openProblemSource({ kind: "open-reasoner-zero", path: path(), ...more }, { seed: 0, ordinal: 0 });
  const trainedOn = (one: ProblemSource) =>
    new Set(Array.from({ length: one.report!.training }, (_, i) => contentOf(one.problem(i).question)));

  test("of a number leaves the others to train on", async () => {
    const one = await opened({ heldOut: 37 });
    expect(one.report).toMatchObject({ heldOut: 37, training: ROWS - 37 });
    const held = new Set(Array.from({ length: 37 }, (_, i) => contentOf(one.heldOut(i).question)));
    expect(held.size).toBe(37);
    expect([...trainedOn(one)].filter((question) => held.has(question))).toEqual([]);
    expect(one.heldOutKeys).toEqual([...held].map(contentKey).sort());
  });

  test("of a run that goes on is what the run held out, whatever its files are called and what else they hold", async () => {
    const before = await opened({ heldOut: 0.2 });
    const heldOut = new Set(before.heldOutKeys);
    const more = Array.from({ length: 50 }, (_, i) => [
      { value: `New ${i}` },
      { ground_truth: { value: `${i}` } },
    ]);
    const moved = writeRows("moved.jsonl", [...more, ...rows.toReversed()]);
    const spec = { kind: "open-reasoner-zero", path: moved, heldOut: 0.02 } as const;
    const after = await openProblemSource(spec, { seed: 3, ordinal: 0, heldOut });
    expect(after.heldOutKeys).toEqual(before.heldOutKeys);
    for (const question of trainedOn(after)) expect(heldOut.has(contentKey(question))).toBe(false);
    expect(trainedOn(after).size).toBe(ROWS + 50 - heldOut.size);
  });

  test("is none of a benchmark's options", async () => {
    const aime = writeRows("aime-share.jsonl", [{ problem: "one and one?", answer: 2 }]);
    await expect(
      openProblemSource({ kind: "aime", path: aime, heldOut: 5 }, { seed: 0, ordinal: 0 }),
    ).rejects.toThrow("aime: heldOut is 5, but of a benchmark every row is held out");
  });
});

test("a benchmark is never trained on", async () => {
  const problems = Array.from({ length: 20 }, (_, i) => ({ problem: `${i} and one?`, answer: i + 1 }));
  const aime = writeRows("aime.jsonl", problems);
  const benchmark = await openProblemSource({ kind: "aime", path: aime }, { seed: 0, ordinal: 0 });
  expect(benchmark.heldOutCount).toBe(20);
  expect(() => benchmark.problem(0)).toThrowError(expect.objectContaining({ code: "HONE_ERR_CONFIG" }));
});

test("a set too small to have a held-out row says so when asked for one", async () => {
  const kept = rows.filter(([q]) => !isHeldOut((q as { value: string }).value)).slice(0, 2);
  const small = await openProblemSource(`orz:${writeRows("small.jsonl", kept)}`, { seed: 0, ordinal: 0 });
  expect(() => small.heldOut(0)).toThrowError(expect.objectContaining({ code: "HONE_ERR_DATA" }));
});

test("a file without one usable row is a data error that counts them", async () => {
  await expect(
    openProblemSource(`orz:${writeRows("none.jsonl", ["{", "{"])}`, { seed: 0, ordinal: 0 }),
  ).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: "open-reasoner-zero: none of 2 rows can be used",
  });
});

test.runIf(long)(
  "a hundred thousand rows load in seconds and take their text, not the heap",
  async () => {
    const n = 100_000;
    const text = (i: number) =>
      `Let $n = ${i}$. ${"Find the number of pairs $(a, b)$ with $a+b=n$. ".repeat(8)}`;
    const big = writeRows(
      "big.jsonl",
      Array.from({ length: n }, (_, i) => [{ value: text(i) }, { ground_truth: { value: `${i}` } }]),
    );
    globalThis.gc!();
    const before = process.memoryUsage().heapUsed;
    const begun = process.cpuUsage();
    const loaded = await DatasetSource.load(
      "open-reasoner-zero",
      openReasonerZero,
      { path: big },
      { seed: 0, ordinal: 0 },
    );
    const { user, system } = process.cpuUsage(begun);
    globalThis.gc!();
    const heap = process.memoryUsage().heapUsed - before;
    expect(loaded.report.training + loaded.report.heldOut).toBe(n);
    expect((user + system) / 1e6).toBeLessThan(30); // of processor time: 3 to 7 s
    expect(loaded.bytes).toBeLessThan(n * (text(n).length + 220));
    expect(heap).toBeLessThan(16e6);
  },
  60_000,
);

test("turns and tools of a row reach its problem; the recipe's domain names that of rows of the user's own", async () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const messages = [{ role: "user", content: "call f" }];
  const own = writeRows(
    "own.jsonl",
    Array.from({ length: 30 }, (_, i) => ({
      messages: [...messages, { role: "user", content: `${i}` }],
      tools,
      reference: { i },
    })),
  );
  const opened = await openProblemSource(`jsonl:${own}`, { seed: 0, ordinal: 0, domain: "function-calling" });
  const problem = opened.problem(0);
  expect(problem).toMatchObject({
    domain: "function-calling",
    verifier: "function-calling",
    family: "jsonl",
  });
  expect(problem.messages).toHaveLength(2);
  expect(JSON.parse(problem.tools!)).toEqual(tools);
  const judged = { kind: "jsonl", path: own, verifier: "logic" } as const;
  const asLogic = await openProblemSource(judged, { seed: 0, ordinal: 0, domain: "mine" });
  expect(asLogic.problem(0)).toMatchObject({ domain: "mine", verifier: "logic" });
});
