import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type HeldOutMoment, HeldOutRecord } from "../../lib/evaluation/index.ts";
import { beforeAfter } from "../../lib/samples/index.ts";
import { heldOutRun } from "./held-out-run.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();

test("what each problem gained and lost, between the first evaluation and the last", async () => {
  heldOutRun(folder.path);
  const found = (await beforeAfter(folder.path))!;
  expect(found.moments.map(({ when, step }: HeldOutMoment) => [when, step])).toEqual([
    ["before", 0],
    ["validation", 5],
    ["after", 9],
  ]);
  expect([found.before.step, found.after.step]).toEqual([0, 9]);
  expect(found.counts).toEqual({ gained: 2, lost: 1, wrong: 1, same: 1 });
  expect(
    found.problems.map(({ problem, change, solved, judged }) => [problem, change, ...solved, ...judged]),
  ).toEqual([
    [1, "gained", 0, 2, 2, 2], // the solve rate changes by 1
    [2, "lost", 2, 1, 2, 2], // the solve rate changes by 1/2
    [5, "gained", 1, 1, 2, 1], // an attempt without a verdict is not counted: 1 of 1 after, 1 of 2 before
    [3, "wrong", 0, 0, 2, 2],
    [4, "same", 1, 1, 2, 2],
  ]);
  const [first] = found.problems;
  expect(first).toMatchObject({ domain: "math", question: "Question 1", reference: "1" });
  expect(first!.before.map(({ text, status }) => [text, status])).toEqual([
    ["before 1.0", "wrong"],
    ["before 1.1", "wrong"],
  ]);
  expect(first!.after.map(({ text, attempt }) => [text, attempt])).toEqual([
    ["after 1.0", 0],
    ["after 1.1", 1],
  ]);
});

test("by kind, by domain or validation set, by the later evaluation, a page at a time", async () => {
  heldOutRun(folder.path);
  const ids = async (asked: Parameters<typeof beforeAfter>[1]) =>
    (await beforeAfter(folder.path, asked))?.problems.map(({ problem }) => problem);
  expect(await ids({ kind: "gained" })).toEqual([1, 5]);
  expect(await ids({ kind: "lost" })).toEqual([2]);
  expect(await ids({ kind: "wrong" })).toEqual([3]);
  expect(await ids({ offset: 1, limit: 2 })).toEqual([2, 5]);
  expect(await ids({ domain: "extra" })).toEqual([5]);
  expect(await ids({ domain: "math", kind: "gained" })).toEqual([1]);
  expect((await beforeAfter(folder.path, { at: 5 }))!.after.when).toBe("validation");
  expect(await ids({ at: 5, kind: "gained" })).toEqual([]);
  expect(await ids({ at: 7 })).toBeUndefined();
});

test("an evaluation that was cut short is none; a step evaluated again counts as it was last", async () => {
  heldOutRun(folder.path);
  const path = join(folder.path, "held-out-completions.jsonl");
  {
    using record = new HeldOutRecord(path);
    record.begin({ when: "after", step: 20, version: 20 }).note({ problem: heldOutRun.problem(1) }, []);
  }
  expect((await beforeAfter(folder.path))!.after.step).toBe(9);
  {
    using record = new HeldOutRecord(path);
    const again = record.begin({ when: "after", step: 9, version: 9 });
    again.note({ problem: heldOutRun.problem(1) }, [heldOutRun.answer("new", "wrong")]);
    again.end();
  }
  const found = (await beforeAfter(folder.path))!;
  expect(found.moments).toHaveLength(3);
  expect(found.problems.map(({ problem, change }) => [problem, change])).toEqual([[1, "wrong"]]);
});

test("a problem whose attempts got no verdict, as in an outage, is neither lost nor gained", async () => {
  heldOutRun(folder.path);
  {
    using record = new HeldOutRecord(join(folder.path, "held-out-completions.jsonl"));
    const outage = record.begin({ when: "after", step: 20, version: 20 });
    const none = {
      ...heldOutRun.answer("none", "wrong"),
      verdict: { status: "unscored", cause: "down" },
    } as const;
    outage.note({ problem: heldOutRun.problem(2) }, [none]); // both attempts solved it before
    outage.note({ problem: heldOutRun.problem(1) }, [heldOutRun.answer("new", "correct")]);
    outage.end();
  }
  const found = (await beforeAfter(folder.path))!;
  expect(found.counts).toEqual({ gained: 1, lost: 0, wrong: 0, same: 0 });
  expect(found.problems.map(({ problem }) => problem)).toEqual([1]);
});

test("none where the run kept none, or one; a damaged line is named by its byte", async () => {
  expect(await beforeAfter(folder.path)).toBeUndefined();
  const path = join(folder.path, "held-out-completions.jsonl");
  {
    using record = new HeldOutRecord(path);
    record.begin({ when: "before", step: 0, version: 0 }).end();
  }
  expect(await beforeAfter(folder.path)).toBeUndefined();
  appendFileSync(path, '{"odd":1}\n');
  await expect(beforeAfter(folder.path)).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringMatching(/held-out-completions\.jsonl, byte \d+/),
  });
});
