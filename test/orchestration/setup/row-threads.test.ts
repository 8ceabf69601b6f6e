import { writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { PartReader, type RowThread } from "../../../lib/data/index.ts";
import { judgeOf } from "../../../lib/domains/index.ts";
import { admissionOf } from "../../../lib/orchestration/setup/admission.ts";
import { openPrompts } from "../../../lib/orchestration/setup/prompt-format.ts";
import { openRowThread, type RowThreadTask } from "../../../lib/orchestration/setup/row-threads.ts";
import { fixture, scratch } from "../../data/filtered.ts";

const path = scratch("threads.jsonl");
const rows = [
  { question: "1+1?", answer: "2" },
  { question: "2+2?", answer: "4" },
  { question: "too long ".repeat(40), answer: "3" },
  { question: "no answer" },
];
writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const task = (verifier?: string): RowThreadTask => ({
  rows: { spec: { kind: "jsonl", path }, place: { domain: "math", needsReference: verifier === undefined } },
  limits: { rollouts: { maxPromptTokens: 64 }, verification: { modules: {} } },
  prompts: {},
  verifier,
});
const part = { path, from: 0, to: 1 << 20 };

let thread: RowThread;
afterEach(() => thread.close());

test.each([undefined, "reward:math"])(
  "a thread judges rows as this one does (verifier: %s)",
  async (verifier) => {
    const given = task(verifier);
    thread = openRowThread(given);
    const admit = admissionOf(given.limits, openPrompts({}).format);
    const judge = judgeOf(given.rows, (problem) =>
      admit(verifier === undefined ? problem : { ...problem, verifier }),
    );
    const marks = await thread.marks(part, 1);
    expect(marks).toEqual(await new PartReader(judge).marks(part, 1));
    expect(marks.refused.map(({ reason }) => reason)).toEqual([
      "prompt longer than 64 tokens",
      ...(verifier === undefined ? ["row: neither reference nor answer"] : []),
    ]);
  },
);

test("what a thread cannot read is an error of that part alone", async () => {
  thread = openRowThread(task());
  await expect(thread.marks({ ...part, path: `${path}.gone` }, 1)).rejects.toThrow("ENOENT");
  expect((await thread.marks(part, 1)).rows).toBe(4);
});

test("a thread that cannot begin refuses every part", async () => {
  thread = openRowThread({ ...task(), prompts: { folder: fixture("no-such-model") } });
  await expect(thread.marks(part, 1)).rejects.toThrow("a thread that reads rows has ended");
  await expect(thread.marks(part, 1)).rejects.toThrow("a thread that reads rows has ended");
});
