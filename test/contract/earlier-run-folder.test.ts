// Today's version reads a run folder that commit c432c4e5 wrote, here with shortened data of our own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ANSWERS } from "../../lib/live/answers.ts";
import { writeReport } from "../../lib/live/index.ts";
import { Watch } from "../../lib/live/watch.ts";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import { compareRuns, listRuns } from "../../lib/runs/index.ts";
import { problems, SampleIndex } from "../../lib/samples/index.ts";

/** In c432c4e5 two draws of a row had two ids and nothing recorded that they were the same row. */
const drawn = (problem: string, id: number) => ({
  problem,
  id,
  domain: "sorting",
  family: "jsonl",
  level: 0,
  verifier: "reward:sorting",
  reference: { prompt: "1012", verifier: "sorting", reference: "0112" },
  prompt: "<bos>1012",
});
const member = (completion: string, attempt: number, weights: number, score: number) => ({
  completion,
  attempt,
  tokens: 4,
  versions: [0, weights],
  status: score > 0 ? "partial" : "wrong",
  score,
  reward: score,
  penaltyScale: 0,
  penalty: 0,
  advantage: score,
});
const said = (of: string, completion: string, text: string, score: number) => [
  { completion, of, finish: "length", text },
  {
    verdict: { status: score > 0 ? "partial" : "wrong", score, reason: `reward ${score}` },
    on: completion,
    version: 0,
  },
];
const [FIRST, SECOND] = ["81486182b5e535d75a284557ab8ce3c3", "02a5bc59d2bcad8ca04737d281a3f9f6"] as const;
const JOURNAL = [
  drawn(FIRST, 3),
  ...said(FIRST, "1db3242b40dd2adb4a6d8450169f7918", "uF-K", 0),
  ...said(FIRST, "7891087f30c0df3eb79f373e48d68116", "Glevel\\.", 0),
  {
    step: 1,
    group: 3,
    of: FIRST,
    submittedVersion: 0,
    dropped: "zero-advantage",
    members: [
      member("1db3242b40dd2adb4a6d8450169f7918", 0, 0, 0),
      member("7891087f30c0df3eb79f373e48d68116", 1, 0, 0),
    ],
  },
  drawn(SECOND, 920),
  ...said(SECOND, "fabe3466ff66fc90660734be99bd2b49", "table\npFill", 0),
  ...said(SECOND, "a0750f8b6f1b4c3c8a9d4f3e2b1a0c9d", "0moveattic,", 0.25),
  {
    step: 2,
    group: 920,
    of: SECOND,
    submittedVersion: 1,
    members: [
      member("fabe3466ff66fc90660734be99bd2b49", 0, 1, 0),
      member("a0750f8b6f1b4c3c8a9d4f3e2b1a0c9d", 1, 1, 0.25),
    ],
  },
];
const MANIFEST = {
  schema: 1,
  name: "sorting",
  config: {
    name: "sorting",
    seed: 0,
    domains: { sorting: { weight: 1, source: "jsonl:digits.jsonl" } },
    training: { steps: 2 },
    verification: { journal: true },
  },
  clock: "2026-11-29T02:07:37.775Z",
  seeds: { run: 0 },
  versions: { hone: "0.1.0", isa: "avx512", threads: 2, node: "v20.20.2", platform: "linux-x64" },
  startedAt: "2026-11-29T02:07:38.019Z",
  commit: null,
};
const metrics = (score: number, calls: number) => ({
  "score/mean": score,
  "score/mean/sorting": score,
  "success/sorting": 0,
  "lag/share/1": 1,
  "speed/generated": 7694.957,
  "time/step": 0.1987,
  "verifier/calls/reward:sorting": calls,
  "verifier/judged/reward:sorting": calls,
  "utilisation/trainer": 0.9963,
});
const score = (value: number, standardError: number) => {
  const mean = { score: value, solveRate: 0, meanTokens: 3.9957, truncation: 0.9957, n: 232, standardError };
  return [
    {
      temperature: 1,
      topP: 1,
      version: 2,
      domains: { sorting: { ...mean, tokensStandardError: 0.0043 } },
      mean: { ...mean, tokensStandardError: 0.0043 },
    },
  ];
};
const SUMMARY = {
  schema: 2,
  name: "sorting",
  seed: 0,
  state: "done",
  startedAt: "2026-11-29T02:07:37.729Z",
  finishedAt: "2026-11-29T02:07:47.456Z",
  steps: 2,
  version: 2,
  changedSteps: 2,
  before: score(0.0003, 0.0003),
  after: score(0.0231, 0.0049),
  seconds: { "warm start": 0, "evaluation before": 0.16, training: 8.73, "evaluation after": 0.01 },
  peakRssBytes: 233902080,
  tokens: { generated: 81447, trained: 38208 },
  tokensPerSecond: { generated: 9329.2, trained: 4376.5 },
};

function earlierRun(): string {
  const dir = mkdtempSync(join(tmpdir(), "hone-earlier-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const jsonl = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const steps = [0.0012, 0.009].map((mean, i) => ({
    step: i + 1,
    version: i + 1,
    metrics: metrics(mean, 512),
  }));
  writeFileSync(join(dir, RUN_FILES.manifest), JSON.stringify(MANIFEST));
  writeFileSync(join(dir, RUN_FILES.log), jsonl(steps));
  writeFileSync(join(dir, RUN_FILES.verdicts), jsonl(JOURNAL));
  writeFileSync(join(dir, RUN_FILES.summary), JSON.stringify(SUMMARY));
  return dir;
}

test("its row is one problem, by what was asked, and its groups, completions and results are shown", async () => {
  const dir = earlierRun();
  const listed = await problems(await SampleIndex.open(dir));
  expect(listed.problems).toEqual([
    expect.objectContaining({ problem: 3, groups: 2, judged: 4, solved: 0, begins: "1012" }),
  ]);
  const watch = new Watch([dir]);
  onTestFinished(() => watch.close());
  const ask = (name: string, query = "") => ANSWERS[name]!({ query: new URLSearchParams(query), watch });
  expect(await ask("overview")).toMatchObject({
    runs: [{ state: "done", rows: 2, steps: 2, journal: true }],
  });
  expect(await ask("groups", "run=0")).toMatchObject({
    total: 2,
    samples: 4,
    groups: [
      { step: 2, begins: "1012", members: 2, solved: 0, rewards: [0, 0.25], rows: [2, 3] },
      { step: 1, begins: "1012", members: 2, solved: 0, rewards: [0, 0] },
    ],
  });
  expect(await ask("sample", "run=0&row=3")).toMatchObject({ response: "0moveattic,", drawn: 920 });
  expect(await ask("before-after", "run=0&kind=all")).toBeNull();
  expect(await ask("hints", "run=0")).toEqual([]);
  expect(await ask("verifiers", "run=0")).toMatchObject([{ name: "reward:sorting", calls: 1024 }]);
  const { headline } = (await ask("summary", "run=0")) as { headline: { change: { points: number } } };
  expect(headline.change.points).toBeCloseTo(100 * (0.0231 - 0.0003), 6);
  const groups = /"groups":\[\{"step":\d,"group":\d+,"domain":"sorting","problem":3,"members":2/;
  expect(groups.test(readFileSync(await writeReport(dir), "utf8"))).toBe(true);
});

test("it is listed and compared as a run of today is", async () => {
  const dir = earlierRun();
  expect(await listRuns(dir)).toMatchObject({
    runs: [{ name: "sorting", state: "finished", steps: 2 }],
    unreadable: [],
  });
  const { recipe, differences } = await compareRuns([dir, earlierRun()]);
  expect(recipe).toEqual([]);
  expect(differences).toHaveLength(1);
  expect(differences[0]!.results).toContainEqual(
    expect.objectContaining({
      measure: "score",
      domain: "sorting",
      difference: { mean: 0, n: 1 },
      is: "noise",
      standardError: expect.closeTo(0.0049 * Math.SQRT2, 9),
    }),
  );
});
