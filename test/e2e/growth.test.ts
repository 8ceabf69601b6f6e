import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { trainAndEvaluate } from "../../lib/cli/session.ts";
import { overrideRecipe } from "../../lib/config/index.ts";
import { RUN_FILES, readRunLog } from "../../lib/metrics/index.ts";
import { RunLog } from "../../lib/metrics/run-log.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import { readRunFolder } from "../../lib/report/run-reader.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart } from "../fixtures/small-quickstart.ts";
import { longest, soak } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";
import { noAddon } from "./native-core.ts";
import { tinyRecipe } from "./tiny-recipe.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-growth-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const STEPS = soak ? 100_000 : longest ? 5000 : 1500;
/** 50 MiB over 100,000 steps, plus what garbage collection varies by. */
const ALLOWED = (50 * 2 ** 20 * STEPS) / 100_000 + 2 ** 20;
/**
 * The process's resident memory may grow by 50 MiB over any number of steps, because its allocators keep freed pages.
 */
const ALLOWED_RSS = 50 * 2 ** 20;

/** The memory in use after garbage collection. */
async function held(): Promise<{ heap: number; rss: number }> {
  await turn();
  global.gc!();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, rss };
}

/** Measures ten times, starting when caches and pools have their final size; prints the measurements. */
function lookAt(steps: number, begin: number) {
  const looks: { heap: number; rss: number }[] = [];
  const every = Math.floor((steps - begin) / 9);
  const afterStep = async ({ step }: { step: number }) => {
    if (step >= begin && (step - begin) % every === 0) looks.push(await held());
    return undefined;
  };
  const grown = (what: "heap" | "rss") => Math.max(...looks.map((look) => look[what] - looks[0]![what]));
  const told = () => `MiB resident: ${looks.map(({ rss }) => (rss / 2 ** 20).toFixed(1)).join(", ")}`;
  return { afterStep, grown, told, looks };
}

test.runIf(longest)(
  `memory is flat over ${STEPS} steps, the journal's index included`,
  async () => {
    const core = standInCore({
      onStep: () => {
        core.trainers[0]!.steps.length = 0; // the stand-in keeps its batches
        return {};
      },
    });
    const { afterStep, grown, told, looks } = lookAt(STEPS, 500);
    const recipe = smallRecipe({ steps: STEPS, groupsPerStep: 4 }, { checkpoint: { everySteps: 0 } });
    await using run = await createRun(recipe, { dir, verifiers, core, hooks: { afterStep } });
    for await (const _ of run); // takes the records, of which the run otherwise keeps a thousand
    await run.finished;
    console.log(told());
    expect(looks.length).toBeGreaterThanOrEqual(10);
    expect(grown("heap"), "bytes of JavaScript's heap").toBeLessThan(ALLOWED);
    expect(grown("rss"), told()).toBeLessThan(ALLOWED_RSS);
    const { steps } = readRunFolder(dir);
    expect(steps.length).toBeLessThanOrEqual(2000);
  },
  longest || soak ? 3_600_000 : 180_000,
);

const SESSION_STEPS = 1500;
/** A session that kept its steps would grow ten times as much. */
const ALLOWED_A_THOUSAND = 2 * 2 ** 20;

test.runIf(longest).each([
  { where: "on a terminal", isTTY: true },
  { where: "elsewhere", isTTY: false },
])(
  "a whole session $where, with evaluation and report, holds nothing of its steps",
  async ({ isTTY }) => {
    const core = standInCore({
      onStep: () => {
        core.trainers[0]!.steps.length = 0;
        return {};
      },
    });
    const looks: { step: number; heap: number }[] = [];
    const afterStep = async ({ step }: { step: number }) => {
      if (step >= 300 && step % 300 === 0) looks.push({ step, ...(await held()) });
      return undefined;
    };
    const recipe = smallRecipe(
      { steps: SESSION_STEPS, groupsPerStep: 2 },
      { checkpoint: { everySteps: 0 }, evaluation: { problemsPerDomain: 2 } },
    );
    const terminal = { isTTY, columns: 80, rows: 24, write: () => {} };
    const { report } = await trainAndEvaluate(recipe, {
      dir,
      verifiers,
      core,
      terminal,
      hooks: { afterStep },
    });
    expect(report).toBeDefined();
    const [first, last] = [looks[0]!, looks.at(-1)!];
    const slope = (1000 * (last.heap - first.heap)) / (last.step - first.step);
    console.log(`${where(isTTY)}: ${(slope / 2 ** 20).toFixed(2)} MiB of heap a thousand steps`);
    expect(slope).toBeLessThan(ALLOWED_A_THOUSAND);
  },
  600_000,
);

const where = (isTTY: boolean) => (isTTY ? "on a terminal" : "elsewhere");

const COMMAND_STEPS = 4000;
/**
 * Growth of the process's resident memory from step 400 on. Without limits it was 120 MiB after 3,000 steps, and more
 * for the report.
 */
const ALLOWED_BY_COMMAND = { training: 30 * 2 ** 20, report: 50 * 2 ** 20 };

test.runIf(longest && noAddon === undefined)(
  `hone run grows by no more than its bounds over ${COMMAND_STEPS} steps, the report included`,
  async () => {
    const at = join(dir, "run");
    const settings = [
      ...smallQuickstart(COMMAND_STEPS),
      "warmStart.steps=0",
      "training.groupsPerStep=2",
      "rollouts.groupSize=2",
      "rollouts.maxOutputTokens=8",
      "lengthPenalty.bufferTokens=4",
      "checkpoint.everySteps=0",
    ];
    const words = ["run", QUICKSTART, "--dir", at, ...asWords(settings)];
    const child = spawn(process.execPath, [...HONE, ...words], { cwd: ROOT, stdio: "ignore" });
    const ended = once(child, "exit");
    const looks: { step: number; rss: number }[] = [];
    while (child.exitCode === null) {
      const step = stepIn(join(at, "line.json"));
      const rss = residentOf(child.pid!);
      if (step >= COMMAND_STEPS / 10 && rss > 0) looks.push({ step, rss });
      await pause(200);
    }
    expect(await ended).toEqual([0, null]);
    expect(looks.at(-1)!.step).toBe(COMMAND_STEPS);
    const most = (some: typeof looks) => Math.max(...some.map(({ rss }) => rss)) - looks[0]!.rss;
    const training = most(looks.filter(({ step }) => step < COMMAND_STEPS));
    const grown = { training, report: most(looks) };
    console.log(
      `${(training / 2 ** 20).toFixed(0)} MiB in training, ${(grown.report / 2 ** 20).toFixed(0)} at the end`,
    );
    expect(grown.training).toBeLessThan(ALLOWED_BY_COMMAND.training);
    expect(grown.report).toBeLessThan(ALLOWED_BY_COMMAND.report);
  },
  900_000,
);

/** The step in the file; 0 if the file is missing or just being replaced. */
function stepIn(file: string): number {
  try {
    return JSON.parse(readFileSync(file, "utf8")).step ?? 0;
  } catch {
    return 0;
  }
}

/** The process's resident bytes; 0 if it has ended. */
function residentOf(pid: number): number {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const REPORT_STEPS = 6000;

/** Prints the process's peak resident memory at its exit: from /proc, because resourceUsage starts with the parent's peak. */
const TELLS_MOST = `data:text/javascript,${encodeURIComponent(`
import { readFileSync } from "node:fs";
process.on("exit", () => process.stderr.write(readFileSync("/proc/self/status", "utf8")));`)}`;

test.runIf(longest)(
  `the report of ${REPORT_STEPS} steps takes at most 50 MiB more than that of one, without a digest too`,
  async () => {
    writeSyntheticRun(dir, 1);
    const most = async () => {
      const words = ["--import", TELLS_MOST, ...HONE, "report", dir];
      const { stderr } = await promisify(execFile)(process.execPath, words, { cwd: ROOT });
      return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(stderr)![1]);
    };
    const least = await most();
    const [first] = readRunLog(join(dir, RUN_FILES.log));
    const names = Object.keys(first!.metrics);
    for (const of of ["log", "digest"] as const) rmSync(join(dir, RUN_FILES[of]));
    const log = new RunLog(join(dir, RUN_FILES.log), join(dir, RUN_FILES.digest));
    for (let step = 1; step <= REPORT_STEPS; step++) {
      const metrics = Object.fromEntries(names.map((name, k) => [name, Math.sin(step * 1.3 + k)]));
      log.write({ step, version: step, metrics });
    }
    log.close();
    for (const digested of [true, false]) {
      if (!digested) rmSync(join(dir, RUN_FILES.digest));
      const more = (await most()) - least;
      console.log(`${digested ? "with" : "without"} its digest: ${(more / 2 ** 20).toFixed(0)} MiB more`);
      expect(more).toBeLessThan(ALLOWED_RSS);
    }
  },
  600_000,
);

const NATIVE_STEPS = soak ? 10_000 : longest ? 1500 : 200;

test.skipIf(noAddon !== undefined)(
  `memory is flat over ${NATIVE_STEPS} steps of the native core`,
  async () => {
    const { afterStep, grown, told } = lookAt(NATIVE_STEPS, Math.min(100, NATIVE_STEPS / 4));
    const recipe = overrideRecipe(tinyRecipe({ steps: NATIVE_STEPS, groupsPerStep: 2 }), [
      "rollouts.groupSize=2",
      "rollouts.maxOutputTokens=24",
      "lengthPenalty.bufferTokens=8",
      "warmStart.steps=0",
      "checkpoint.everySteps=0",
    ]);
    await using run = await createRun(recipe, { dir, verifiers, hooks: { afterStep } });
    for await (const _ of run);
    await run.finished;
    console.log(told());
    expect(grown("rss"), told()).toBeLessThan(ALLOWED_RSS);
  },
  longest || soak ? 3_600_000 : 180_000,
);

/** Verifiers in a separate process, the default, and on the test's thread. */
describe.each([
  { where: "in processes", given: undefined, cycles: longest || soak ? 25 : 2 },
  { where: "inline", given: verifiers, cycles: longest || soak ? 200 : 20 },
])("runs with verifiers $where, disposed of", ({ given, cycles }) => {
  test.runIf(longest)(
    `leave no thread, process or descriptor behind in ${cycles} cycles, and no memory`,
    async () => {
      const handles = () => ({
        descriptors: readdirSync("/proc/self/fd").length,
        threads: readdirSync("/proc/self/task").length,
        children: childrenOf(process.pid),
      });
      const cycle = async () => {
        await using run = await createRun(smallRecipe({ steps: 2 }), {
          dir,
          ...(given !== undefined && { verifiers: given }),
          core: standInCore(),
          overwrite: true,
        });
        await run.finished;
      };
      for (let i = 0; i < (longest || soak ? 3 : 1); i++) await cycle();
      const before = { handles: handles(), memory: await held() };
      for (let i = 0; i < cycles; i++) await cycle();
      const after = { handles: handles(), memory: await held() };
      expect(after.handles.descriptors).toBeLessThanOrEqual(before.handles.descriptors);
      expect(after.handles.threads).toBeLessThanOrEqual(before.handles.threads);
      expect(after.handles.children).toEqual(before.handles.children);
      const grown = (after.memory.rss - before.memory.rss) / 2 ** 20;
      console.log(`${cycles} cycles: ${grown.toFixed(1)} MiB more resident`);
      expect(grown).toBeLessThan(ALLOWED_RSS / 2 ** 20);
    },
    longest || soak ? 3_600_000 : 300_000,
  );
});

/** The median growth per cycle over all pairs of measurements, so that a single outlier does not count. */
function pace(looks: readonly { cycle: number; rss: number }[]): number {
  const paces = looks.flatMap((one, i) =>
    looks.slice(i + 1).map((later) => (later.rss - one.rss) / (later.cycle - one.cycle)),
  );
  return paces.sort((a, b) => a - b)[Math.floor(paces.length / 2)]!;
}

const CYCLES = 200;
const WARM_UP = 50;
const MADE_BY = "test/e2e/run-cycles.mjs";

/**
 * Runs as a user does: the built package, verifiers in processes, nothing else in the process. The C library gets a
 * single arena: otherwise each thread of the verifier pool may get its own, whose free pages the library keeps, so
 * that resident memory would depend on how many threads ran at once.
 */
test.runIf(longest && soak && noAddon === undefined)(
  `${CYCLES} cycles of the built package hold nothing`,
  async () => {
    const args = ["--expose-gc", MADE_BY, dir, String(WARM_UP + CYCLES)];
    const env = { ...process.env, MALLOC_ARENA_MAX: "1" };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    const looks = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ cycle }) => cycle >= WARM_UP);
    const first = looks[0]!;
    const most = (what: "rss" | "heap") => Math.max(...looks.map((look) => look[what] - first[what]));
    console.log(`MiB resident: ${looks.map(({ rss }) => (rss / 2 ** 20).toFixed(0)).join(", ")}`);
    expect(looks).toHaveLength(CYCLES / 10 + 1);
    expect(most("rss"), "bytes resident").toBeLessThan(ALLOWED_RSS);
    expect(most("heap"), "bytes that JavaScript holds").toBeLessThan(2 * 2 ** 20);
    expect(pace(looks.slice(-10)) * CYCLES, "bytes, at the pace of the last hundred").toBeLessThan(
      ALLOWED_RSS,
    );
    for (const { cycle, descriptors, threads, children } of looks) {
      expect({ cycle, descriptors, threads, children }).toEqual({ ...handlesOf(first), cycle });
    }
  },
  3_600_000,
);

const handlesOf = ({ descriptors, threads, children }: Record<string, unknown>) => ({
  descriptors,
  threads,
  children,
});

/** The ids of the process's living children, over all its threads. */
function childrenOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
  return lists.flatMap((list) => list.split(" ").filter((child) => child !== ""));
}
