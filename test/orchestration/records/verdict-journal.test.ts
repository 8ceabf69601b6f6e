// Deliberate faults (mutants) that these tests detect: the verdict is returned before it is written, opening does not
// cut a torn line.
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { math } from "../../../lib/domains/math/verify.ts";
import { readVerdictJournal, VerdictJournal } from "../../../lib/orchestration/records/verdict-journal.ts";
import type { Problem, Verdict } from "../../../lib/records.ts";
import { childProgram } from "../../fixtures/child-program.ts";
import { patient } from "../../patience.ts";
import { wholeJournal } from "../whole-journal.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-journal-"));
  path = join(dir, "verdicts.jsonl");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const problem = (id: number, reference: unknown = { answer: "7" }, verifier = "math"): Problem => ({
  id,
  domain: "math",
  family: "chain",
  level: 2,
  question: "?",
  verifier,
  reference,
});
const request = (text: string, of = problem(1)) => ({ problem: of, text, finish: "eos" as const });
const CORRECT: Verdict = { status: "correct", score: 1, reason: "equal" };
const WRONG: Verdict = { status: "wrong", score: 0, reason: "not equal" };
const LOST: Verdict = { status: "unscored", cause: "worker lost" };
const JUDGED = {
  id: 1,
  domain: "math",
  family: "chain",
  level: 2,
  verifier: "math",
  reference: { answer: "7" },
  begins: "?",
  identity: expect.stringMatching(/^[0-9a-f]{32}$/),
};

function write(append: boolean, ...pairs: readonly (readonly [ReturnType<typeof request>, Verdict])[]): void {
  using journal = new VerdictJournal(path, { append });
  for (const [one, verdict] of pairs) journal.add([one], [verdict]);
}
const linesOf = () => readFileSync(path, "utf8").trimEnd().split("\n");

test("what was judged is read back with its problem and its verdict", async () => {
  write(false, [request("a\n\u2028😀"), CORRECT], [request("b"), LOST]);
  expect(await wholeJournal(path)).toEqual([
    {
      key: expect.any(String),
      problem: JUDGED,
      text: "a\n\u2028😀",
      finish: "eos",
      verdicts: [{ version: math.version, verdict: CORRECT }],
    },
    {
      key: expect.any(String),
      problem: JUDGED,
      text: "b",
      finish: "eos",
      verdicts: [{ version: math.version, verdict: LOST }],
    },
  ]);
});

test("content is the address: problem, reference, verifier, finish and text each make another", async () => {
  const one = request("a");
  write(
    false,
    [one, CORRECT],
    [one, CORRECT],
    [request("b"), WRONG],
    [{ ...one, finish: "stop" as never }, WRONG],
    [request("a", problem(2)), WRONG],
    [request("a", problem(1, { answer: "8" })), WRONG],
    [request("a", problem(1, { answer: "7" }, "residue")), WRONG],
  );
  const read = await wholeJournal(path);
  expect(new Set(read.map(({ key }) => key)).size).toBe(6);
  expect(read.map(({ verdicts }) => verdicts.length)).toEqual([2, 1, 1, 1, 1, 1]);
});

test("a problem is written once, however many completions it has", () => {
  write(false, [request("a"), CORRECT], [request("b"), WRONG], [request("c"), WRONG]);
  expect(linesOf().filter((line) => line.includes("reference"))).toHaveLength(1);
  expect(linesOf()).toHaveLength(1 + 3 * 2);
});

test("a further verdict stands beside the first", async () => {
  write(false, [request("a"), CORRECT]);
  const { key } = (await wholeJournal(path))[0]!;
  {
    using journal = new VerdictJournal(path, { append: true });
    journal.addVerdict(key, 9, WRONG);
  }
  const [read] = await wholeJournal(path);
  expect(read!.verdicts).toEqual([
    { version: math.version, verdict: CORRECT },
    { version: 9, verdict: WRONG },
  ]);
});

test("verdicts are on file before they are handed on, and stay as they are", async () => {
  using journal = new VerdictJournal(path);
  const verifiers = journal.around({
    verify: async (group) => group.map(({ text }) => (text === "a" ? CORRECT : LOST)),
    stats: () => ({}),
  });
  const verdicts = await verifiers.verify([request("a"), request("b")]);
  expect(verdicts).toEqual([CORRECT, LOST]);
  const kept = await wholeJournal(path);
  expect(kept.map((one) => one.verdicts[0]!.verdict)).toEqual([CORRECT, LOST]);
  expect(verifiers.stats()).toEqual({});
});

test("a line torn anywhere is left out, and cut off by who goes on", async () => {
  write(false, [request("a"), CORRECT]);
  const whole = readFileSync(path, "utf8");
  write(true, [request("b"), WRONG]);
  const longer = readFileSync(path, "utf8");
  const before = await wholeJournal(path);
  for (let size = whole.length; size < longer.length; size += 7) {
    writeFileSync(path, longer.slice(0, size));
    expect((await wholeJournal(path))[0]).toEqual(before[0]);
    write(true, [request("b"), WRONG]);
    expect((await wholeJournal(path)).map(({ text }) => text)).toEqual(["a", "b"]);
  }
});

test.each([
  ["no JSON", "nonsense"],
  ["no object", "5"],
  ["another kind", '{"e":"step"}'],
  ["a completion of an unknown problem", '{"completion":"x","of":"y","finish":"eos","text":""}'],
  ["a verdict on an unknown completion", '{"verdict":{},"on":"x","version":1}'],
])("a damaged line before the last is named: %s", async (_, line) => {
  write(false, [request("a"), CORRECT]);
  appendFileSync(path, `${line}\n${linesOf()[0]}\n`);
  await expect(wholeJournal(path)).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringContaining("verdicts.jsonl:4: not a line"),
  });
});

test("what cannot be read or written is a typed error", async () => {
  await expect(wholeJournal(path)).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  expect(() => new VerdictJournal("/dev/null/verdicts.jsonl")).toThrow(
    expect.objectContaining({ code: "HONE_ERR_IO" }),
  );
  using full = new VerdictJournal("/dev/full");
  expect(() => full.add([request("a")], [CORRECT])).toThrow(expect.objectContaining({ code: "HONE_ERR_IO" }));
  const closed = new VerdictJournal(path);
  closed[Symbol.dispose]();
  closed[Symbol.dispose]();
  expect(() => closed.add([request("a")], [CORRECT])).toThrow(
    expect.objectContaining({ code: "HONE_ERR_STATE" }),
  );
});

test("entries come while the file is read: a completion once, then each verdict on it", async () => {
  write(false, [request("a"), CORRECT], [request("b"), LOST], [request("a"), CORRECT]);
  const entries: unknown[] = [];
  for await (const entry of readVerdictJournal(path))
    entries.push(entry.kind === "completion" ? entry.text : entry.verdict.status);
  expect(entries).toEqual(["a", "correct", "b", "unscored", "correct"]);
  const first = readVerdictJournal(path);
  await first.next();
  rmSync(path);
  await first.return(undefined);
});

test(
  "everything handed on before kill -9 is there afterwards",
  async () => {
    const child = spawn(
      process.execPath,
      [...(await childProgram(fileURLToPath(new URL("../journal-child.ts", import.meta.url)))), path],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let told = "";
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        told += chunk;
        if (told.split("\n").length > 200) child.kill("SIGKILL");
      });
      child.on("exit", () => resolve());
    });
    const last = Number(told.trimEnd().split("\n").at(-1));
    const texts = (await wholeJournal(path)).map(({ text }) => text);
    expect(texts.length).toBeGreaterThan(last);
    expect(texts.slice(0, last + 1)).toEqual(Array.from({ length: last + 1 }, (_, i) => `text ${i}`));
  },
  patient(30_000),
);

test("token ids are kept for the verifiers that may ask for them, and for no other", async () => {
  const [asking, other] = [problem(1, "x", "reward:a"), problem(2, "x", "reward:b")];
  const tokens = Int32Array.from([5, 70_000, 0]);
  {
    using journal = new VerdictJournal(path, { tokensFor: new Set(["reward:a"]) });
    for (const of of [asking, other]) journal.add([{ ...request("t", of), tokens }], [CORRECT]);
  }
  const read = [];
  for await (const entry of readVerdictJournal(path))
    if (entry.kind === "completion") read.push([entry.problem.verifier, entry.tokens]);
  expect(read).toEqual([
    ["reward:a", tokens],
    ["reward:b", undefined],
  ]);
});
