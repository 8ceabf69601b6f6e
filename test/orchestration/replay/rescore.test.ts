// Deliberate faults (mutants) that these tests detect: another version's verdict is reused, an unscored verdict is
// reused, the last verdict counts as the run's, the journal gets no entry, --all has no effect, the domain is
// ignored, the means include unscored ones.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { math } from "../../../lib/domains/math/verify.ts";
import { RUN_FILES, writeRunManifest } from "../../../lib/metrics/index.ts";
import { createRun, rescoreRun } from "../../../lib/orchestration/index.ts";
import { VerdictJournal } from "../../../lib/orchestration/records/verdict-journal.ts";
import type { Verifiers } from "../../../lib/orchestration/setup/episodes.ts";
import type { Problem, Verdict } from "../../../lib/records.ts";
import { lockFolder } from "../../../lib/shared/files/folder-lock.ts";
import { long } from "../../long.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";
import { wholeJournal } from "../whole-journal.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-rescore-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const scored = (score: number): Verdict => {
  const status = score === 1 ? "correct" : score > 0 ? "partial" : "wrong";
  return { status, score, reason: `scored ${score}` };
};
const LOST: Verdict = { status: "unscored", cause: "worker lost" };

interface Kept {
  readonly text: string;
  readonly verdict: Verdict;
  /** The verifier's version. Default: the current one. */
  readonly version?: number;
  readonly domain?: string;
  readonly verifier?: string;
}

/** Writes a run folder with these completions and their verdicts. */
function runFolder(kept: readonly Kept[]): void {
  writeRunManifest(dir, { name: "r", config: smallRecipe(), seeds: { run: 7 }, versions: {} });
  const path = join(dir, RUN_FILES.verdicts);
  for (const { text, verdict, version, domain = "math", verifier = "math" } of kept) {
    const problem: Problem = { id: 1, domain, family: "f", level: 0, question: "?", verifier, reference: {} };
    {
      using journal = new VerdictJournal(path, { append: true });
      journal.add([{ problem, text, finish: "eos" }], [verdict]);
    }
    if (version === undefined) continue;
    const present = `"version":${math.version}}\n`;
    writeFileSync(path, `${readFileSync(path, "utf8").slice(0, -present.length)}"version":${version}}\n`);
  }
}

/** Scores a completion by the number in its text, and records its requests. */
function stubVerifiers() {
  const asked: string[] = [];
  const verifiers: Verifiers = {
    verify: async (group) => {
      asked.push(...group.map(({ text }) => text));
      return group.map(({ text }) => (text === "lost" ? LOST : scored(Number(text))));
    },
    stats: () => ({}),
  };
  return { asked, verifiers };
}

test("verdicts of the present version are taken from the journal, others are judged again and added to it", async () => {
  runFolder([
    { text: "1", verdict: scored(0) },
    { text: "0", verdict: scored(1), version: math.version - 1 },
    { text: "0.5", verdict: LOST },
    { text: "1.0", verdict: scored(1), version: math.version + 1 },
  ]);
  const first = stubVerifiers();
  const rescoring = await rescoreRun(dir, { verifiers: first.verifiers });
  expect(first.asked).toEqual(["0", "0.5", "1.0"]);
  expect(rescoring).toEqual({
    domains: [
      {
        domain: "math",
        completions: 4,
        judged: 3,
        scoreBefore: 2 / 3,
        scoreAfter: 1.5 / 4,
        solvedBefore: 2 / 3,
        solvedAfter: 1 / 4,
        unscoredBefore: 1,
        unscoredAfter: 0,
        changed: 2,
      },
    ],
    changes: [
      { domain: "math", problem: 1, family: "f", before: scored(1), after: scored(0) },
      { domain: "math", problem: 1, family: "f", before: LOST, after: scored(0.5) },
    ],
  });
  const second = stubVerifiers();
  const again = await rescoreRun(dir, { verifiers: second.verifiers });
  expect(second.asked).toEqual([]);
  expect(again.changes).toEqual(rescoring.changes);
});

test("while a run is under way its journal is left alone, down to the line that it is writing", async () => {
  runFolder([{ text: "1", verdict: scored(0), version: math.version - 1 }]);
  const path = join(dir, RUN_FILES.verdicts);
  appendFileSync(path, '{"verdict":{"sta');
  const before = readFileSync(path, "utf8");
  using _ = await lockFolder(dir);
  const { asked, verifiers } = stubVerifiers();
  await expect(rescoreRun(dir, { verifiers })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  expect([asked, readFileSync(path, "utf8")]).toEqual([[], before]);
});

test("all judges everything again, and a domain judges that alone", async () => {
  runFolder([
    { text: "1", verdict: scored(0) },
    { text: "0", verdict: scored(0), domain: "logic" },
  ]);
  const logic = stubVerifiers();
  const { domains } = await rescoreRun(dir, { all: true, domain: "logic", verifiers: logic.verifiers });
  expect([logic.asked, domains.map(({ domain, judged }) => [domain, judged])]).toEqual([
    ["0"],
    [["logic", 1]],
  ]);
  const both = stubVerifiers();
  const { changes } = await rescoreRun(dir, { all: true, verifiers: both.verifiers });
  expect([both.asked, changes.length]).toEqual([["1", "0"], 1]);
});

test("verdicts of users' own verifiers are always judged again", async () => {
  runFolder([{ text: "1", verdict: scored(1), verifier: "mine" }]);
  const stub = stubVerifiers();
  await rescoreRun(dir, { verifiers: stub.verifiers });
  await rescoreRun(dir, { verifiers: stub.verifiers });
  expect(stub.asked).toEqual(["1", "1"]);
});

test("what stays without a score is counted and enters no mean", async () => {
  runFolder([
    { text: "lost", verdict: scored(1), version: math.version - 1 },
    { text: "1", verdict: scored(1) },
  ]);
  const { domains } = await rescoreRun(dir, { verifiers: stubVerifiers().verifiers });
  expect(domains[0]).toMatchObject({ unscoredAfter: 1, scoreAfter: 1, solvedAfter: 1, changed: 1 });
});

test("progress is told in batches", async () => {
  const kept = Array.from({ length: 100 }, (_, i) => ({ text: `0.${i}`, verdict: LOST }));
  runFolder(kept);
  const told: number[][] = [];
  await rescoreRun(dir, { verifiers: stubVerifiers().verifiers, onProgress: (...seen) => told.push(seen) });
  expect(told).toEqual([
    [64, 100],
    [100, 100],
  ]);
});

test("a completion that came twice is judged once, and one whose verdict was never written not at all", async () => {
  runFolder([
    { text: "1", verdict: LOST },
    { text: "0", verdict: LOST },
    { text: "1", verdict: scored(1) },
  ]);
  const path = join(dir, RUN_FILES.verdicts);
  const whole = readFileSync(path, "utf8").trimEnd().split("\n");
  const problem = whole.find((line) => line.includes('"reference"'))!;
  const { problem: of } = JSON.parse(problem) as { problem: string };
  const orphan = JSON.stringify({ completion: "f".repeat(32), of, finish: "eos", text: "0.5" });
  writeFileSync(path, `${[...whole, orphan].join("\n")}\n{"verdict":{"sta`);
  const stub = stubVerifiers();
  const { domains } = await rescoreRun(dir, { all: true, verifiers: stub.verifiers });
  expect([stub.asked, domains[0]!.completions]).toEqual([["1", "0"], 2]);
  expect(domains[0]).toMatchObject({ unscoredBefore: 2, unscoredAfter: 0, scoreAfter: 0.5 });
});

test.runIf(long)(
  "texts are held a batch at a time: 64 MB of them are judged in less than 24 MB",
  async () => {
    const path = join(dir, RUN_FILES.verdicts);
    writeRunManifest(dir, { name: "r", config: smallRecipe(), seeds: { run: 7 }, versions: {} });
    const problem = {
      problem: "p",
      id: 1,
      domain: "math",
      family: "f",
      level: 0,
      verifier: "math",
      reference: {},
    };
    const lines = [JSON.stringify(problem)];
    for (let i = 0; i < 1024; ++i) {
      const [completion, text] = [`${i}`, `${i}${"x".repeat(65_536)}`];
      lines.push(JSON.stringify({ completion, of: "p", finish: "eos", text }));
      lines.push(JSON.stringify({ verdict: LOST, on: completion, version: math.version }));
    }
    writeFileSync(path, `${lines.splice(0).join("\n")}\n`);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const held = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const [before, seen, sizes] = [held(), [] as string[], [] as number[]];
    const verifiers: Verifiers = {
      verify: async (group) => {
        seen.push(...group.map(({ text }) => text.slice(0, 4)));
        sizes.push(held() - before);
        return group.map(() => scored(1));
      },
      stats: () => ({}),
    };
    await rescoreRun(dir, { verifiers });
    expect(seen).toEqual(Array.from({ length: 1024 }, (_, i) => `${i}xxxx`.slice(0, 4)));
    expect(sizes).toHaveLength(16);
    expect(Math.max(...sizes)).toBeLessThan(24e6);
  },
);

test("a real run keeps its completions, and a rescoring changes nothing", async () => {
  {
    await using run = await createRun(smallRecipe({ steps: 2 }), {
      verifiers: inlineVerifiers,
      dir,
      core: standInCore(),
    });
    await run.finished;
  }
  const kept = await wholeJournal(join(dir, RUN_FILES.verdicts));
  expect(kept.length).toBeGreaterThan(8);
  expect(new Set(kept.map(({ problem }) => problem.domain)).size).toBeGreaterThan(1);
  const { domains, changes } = await rescoreRun(dir, { all: true, verifiers: inlineVerifiers });
  expect(changes).toEqual([]);
  expect(domains.reduce((sum, { judged }) => sum + judged, 0)).toBe(kept.length);
});

test("a run that keeps no journal has nothing to rescore, and says how to keep one", async () => {
  {
    const recipe = smallRecipe({ steps: 1 }, { verification: { journal: false } });
    await using run = await createRun(recipe, { verifiers: inlineVerifiers, dir, core: standInCore() });
    await run.finished;
  }
  expect(existsSync(join(dir, RUN_FILES.verdicts))).toBe(false);
  await expect(rescoreRun(dir, { verifiers: inlineVerifiers })).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    hint: expect.stringContaining("verification.journal"),
  });
});

test("a new run in the same folder starts a new journal", async () => {
  runFolder([{ text: "of the run before", verdict: scored(0) }]);
  {
    await using run = await createRun(smallRecipe({ steps: 1 }), {
      verifiers: inlineVerifiers,
      dir,
      core: standInCore(),
    });
    await run.finished;
  }
  expect(readFileSync(join(dir, RUN_FILES.verdicts), "utf8")).not.toContain("of the run before");
});
