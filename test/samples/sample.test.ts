import { join } from "node:path";
import { expect, test } from "vitest";
import { VerdictJournal } from "../../lib/orchestration/records/verdict-journal.ts";
import { SampleIndex, sampleOf, wholeSample, wholeSamples } from "../../lib/samples/index.ts";
import { boxed, ConstructedRun } from "./constructed-run.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();

const HOSTILE = `<think>\u0000\u001b[2J\ud800\u202e</think><script>alert(1)</script>\n${"x".repeat(10_000_000)}`;

test("of an episode it is told who said what, and that its turns ended it", async () => {
  {
    using written = new ConstructedRun(folder.path);
    written.step({ said: [{ text: "cat_a_ map", given: [3, 7], finish: "turns" }, { text: "plain" }] });
  }
  const index = await SampleIndex.open(folder.path);
  const [played, plain] = await wholeSamples(index, [0, 1]);
  expect(played).toMatchObject({
    finish: "turns",
    turns: [
      { by: "policy", text: "cat" },
      { by: "environment", text: "_a_ " },
      { by: "policy", text: "map" },
    ],
  });
  expect(plain).not.toHaveProperty("turns");
});

test("everything that is known of a completion, its texts as they were written", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({
      problem: 5,
      reference: { answer: [1, "二"] },
      dropped: "zero-advantage",
      said: [
        {
          text: boxed(3, " hm "),
          status: "wrong",
          reason: "not equal",
          reward: -0.25,
          tokens: 6,
          versions: [4, 7],
        },
        { text: HOSTILE, status: "unscored", reason: "worker lost", finish: "length" },
      ],
    });
  }
  const index = await SampleIndex.open(folder.path);
  const [first, second] = await wholeSamples(index, [0, 1]);
  expect(first).toEqual({
    row: 0,
    step: 1,
    group: 1,
    attempt: 0,
    domain: "math",
    problem: 5,
    drawn: 5,
    family: "chain",
    level: 2,
    status: "wrong",
    finish: "eos",
    tokens: 6,
    chars: boxed(3, " hm ").length,
    thoughtChars: 2,
    versions: [4, 7],
    versionRuns: [0, 4, 3, 7],
    score: 0,
    reward: -0.25,
    penaltyScale: 0.5,
    penalty: -0.5,
    advantage: 0,
    dropped: "zero-advantage",
    completion: expect.stringMatching(/^[0-9a-f]{32}$/),
    prompt: "<bos>question 5",
    text: boxed(3, " hm "),
    thought: " hm ",
    response: "\\boxed{3}",
    reference: { answer: [1, "二"] },
    verifier: "math",
    reason: "not equal",
  });
  expect(second!.text === HOSTILE).toBe(true);
  expect(second).toMatchObject({ status: "unscored", reason: "worker lost", finish: "length" });
  expect(Object.keys(second!)).not.toContain("reward");
});

test("a text that was sampled twice, judged once and lost once, is each time what it was", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({
      said: [
        { text: "same", status: "unscored", reason: "worker lost" },
        { text: "same", status: "correct", reason: "equal" },
      ],
    });
  }
  const index = await SampleIndex.open(folder.path);
  const reasons = (await wholeSamples(index, [0, 1])).map(({ status, reason }) => [status, reason]);
  expect(reasons).toEqual([
    ["unscored", "worker lost"],
    ["correct", "equal"],
  ]);
});

test("a later verdict is told beside the run's own", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({
      said: [
        { text: "a", status: "wrong" },
        { text: "b", status: "wrong" },
      ],
    });
  }
  const index = await SampleIndex.open(folder.path);
  {
    using journal = new VerdictJournal(join(folder.path, "verdicts.jsonl"), { append: true });
    const { completion } = await wholeSample(index, 1);
    journal.addVerdict(completion, 9, { status: "correct", score: 1, reason: "now equal" });
  }
  await index.update();
  expect([0, 1].map((row) => sampleOf(index, row).rescored)).toEqual([undefined, "correct"]);
  expect(await wholeSample(index, 1)).toMatchObject({ status: "wrong", reason: "because" });
});

test("a run that began anew under an index is a typed error, not another completion", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({ said: [{ text: "a".repeat(500) }] });
  }
  const index = await SampleIndex.open(folder.path);
  {
    using run = new ConstructedRun(folder.path);
    run.step({ said: [{ text: "b" }] });
  }
  await expect(wholeSample(index, 0)).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
});
