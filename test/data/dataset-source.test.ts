import { beforeAll, describe, expect, test } from "vitest";
import { contentKey } from "../../lib/data/content.ts";
import { DatasetSource } from "../../lib/data/dataset-source.ts";
import { isHeldOut, type ProblemSource } from "../../lib/data/index.ts";
import { openProblemSource } from "../../lib/domains/index.ts";
import { openReasonerZero } from "../../lib/domains/math/read/open-reasoner-zero.ts";
import { writeRows } from "./filtered.ts";

const ROWS = 400;
const rows = Array.from({ length: ROWS }, (_, i) => [
  { value: `Question ${i}` },
  { ground_truth: { value: `${i}` } },
]);
const written = writeRows("source.jsonl", rows);
const path = () => written;
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

test("a uniform draw takes each problem from all training rows, whatever was drawn before", async () => {
  const uniform = (seed: number) =>
    openProblemSource({ kind: "open-reasoner-zero", path: path(), draw: "uniform" } as never, {
      seed,
      ordinal: 0,
    });
  const one = await uniform(3);
  const { training } = one.report!;
  const draws = 20 * training;
  const counts = new Map<string, number>();
  for (let i = 0; i < draws; i++) {
    const content = contentOf(one.problem(i).question);
    counts.set(content, (counts.get(content) ?? 0) + 1);
  }
  expect([...counts.keys()].some(isHeldOut)).toBe(false);
  // Pearson's chi-square against equal counts has `training - 1` degrees of freedom; within five standard deviations.
  const chi = Array.from({ length: training }, (_, i) => [...counts.values()][i] ?? 0).reduce(
    (sum, count) => sum + (count - 20) ** 2 / 20,
    0,
  );
  expect(Math.abs(chi - (training - 1))).toBeLessThan(5 * Math.sqrt(2 * (training - 1)));
  // As many draws as there are rows reach a fraction 1 - 1/e of the rows on average.
  const pass = new Set(Array.from({ length: training }, (_, i) => one.problem(i).question));
  expect(pass.size / training).toBeGreaterThan(0.55);
  expect(pass.size / training).toBeLessThan(0.71);
  const [again, other] = [await uniform(3), await uniform(4)];
  const first = (source: ProblemSource) => Array.from({ length: 30 }, (_, i) => source.problem(i));
  expect(first(again)).toEqual(first(one));
  expect(first(other)).not.toEqual(first(one));
  expect([again.problem(7), again.problem(0)]).toEqual([one.problem(7), one.problem(0)]);
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
    ).rejects.toThrow("aime: heldOut is 5, but every row of a benchmark is held out");
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
    message: "open-reasoner-zero: none of 2 rows can be used: 2 rows: not JSON (first none.jsonl:1)",
  });
});

test("rows that all fail say why at once: the most frequent reasons, a row and its columns", async () => {
  const own = writeRows("refused.jsonl", [
    "{",
    ...Array.from({ length: 30 }, (_, i) => ({ inquiry: `${i}`, answer: `${i}` })),
    ...Array.from({ length: 3 }, (_, i) => ({ question: `${i}` })),
  ]);
  await expect(
    openProblemSource(`jsonl:${own}`, { seed: 0, ordinal: 0, domain: "math" }),
  ).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: [
      "jsonl: none of 34 rows can be used: 30 rows: row: neither question nor messages (first refused.jsonl:2, which has inquiry, answer)",
      "3 rows: row: neither reference nor answer (first refused.jsonl:32, which has question)",
      "1 row: not JSON (first refused.jsonl:1)",
    ].join("; "),
  });
});

test("a problem is named by file and line", () => {
  for (const problem of [
    source.problem(3),
    source.problem(ROWS + 5),
    source.heldOut(0),
    source.heldOut(70),
  ]) {
    const row = Number((problem.reference as { answer: string }).answer);
    expect(source.placeOf!(problem.id)).toBe(`${path()}:${row + 1}`);
  }
});

test("a hundred thousand rows stay on disk: 56 bytes each while they are read, 20 after, nothing on the heap", async () => {
  const n = 100_000;
  const text = (i: number) =>
    `Let $n = ${i}$. ${"Find the number of pairs $(a, b)$ with $a+b=n$. ".repeat(8)}`;
  const big = writeRows(
    "big.jsonl",
    Array.from({ length: n }, (_, i) => [{ value: text(i) }, { ground_truth: { value: `${i}` } }]),
  );
  globalThis.gc!();
  const before = process.memoryUsage();
  const options = { path: big, heldOut: 0.01 };
  const loaded = await DatasetSource.load("open-reasoner-zero", openReasonerZero, options, {
    seed: 0,
    ordinal: 0,
  });
  const reading = process.memoryUsage().arrayBuffers - before.arrayBuffers;
  loaded.problem(0);
  for (let i = 0; i < 2; i++) globalThis.gc!(); // by the second one the buffers are gone that the first found free
  const after = process.memoryUsage();
  const inMemory = 2 ** 20; // columns grow a page at a time
  expect(loaded.report.training + loaded.report.heldOut).toBe(n);
  expect(loaded.bytes).toBeLessThan(n * 20 + inMemory);
  expect(reading).toBeLessThan(n * 56 + inMemory + 2 ** 22);
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(n * 20 + inMemory + 2 ** 20);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(4e6);
}, 120_000);

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
