import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { trainAndEvaluate } from "../../lib/cli/session.ts";
import type { RunSummary } from "../../lib/report/index.ts";
import { readStatus } from "../../lib/runs/status.ts";
import { isLocked, lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { patient } from "../patience.ts";

let dir: string;
let printed: string;
const terminal = {
  write: (text: string) => {
    printed += text;
  },
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-session-"));
  printed = "";
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const recipe = smallRecipe({ steps: 4 }, { evaluation: { problemsPerDomain: 4 } });
const saved = () => JSON.parse(readFileSync(join(dir, "summary.json"), "utf8")) as RunSummary;

test("evaluates before and after at both temperatures, and leaves table, summary and report", async () => {
  const policies: [string, number][] = [];
  let ended = "";
  const watching = {
    write(text: string): void {
      if (/^phase="evaluation after" done=\d+ seconds/.test(text))
        ended = `report ${existsSync(join(dir, "report.html"))}`;
      terminal.write(text);
    },
  };
  const { outcome, report } = await trainAndEvaluate(recipe, {
    dir,
    terminal: watching,
    verifiers,
    core: standInCore(),
    onPolicy: async (when, { version }) => {
      policies.push([when, version]);
    },
  });
  expect(outcome).toMatchObject({ reason: "done", steps: 4 });
  expect(policies).toEqual([
    ["before", 0],
    ["after", 4],
  ]);
  const summary = saved();
  expect(summary).toMatchObject({ schema: 2, state: "done", seed: 7, steps: 4 });
  for (const side of [summary.before, summary.after]) {
    expect(side.map((t) => [t.temperature, t.topP])).toEqual([
      [1, 1],
      [0.6, 0.95],
    ]);
    expect(Object.keys(side[0]!.domains)).toEqual(["math", "logic", "code"]);
    expect(side[0]!.mean.n).toBe(12);
  }
  expect(Object.keys(summary.seconds)).toEqual([
    "warm start",
    "evaluation before",
    "training",
    "evaluation after",
  ]);
  expect(summary.tokens.generated).toBeGreaterThan(0);
  expect(summary.peakRssBytes).toBeGreaterThan(2 ** 20);
  expect(printed).toContain("before -> after");
  expect(ended, "the phase ends with the evaluation, not with the report").toBe("report false");
  expect(readFileSync(report!, "utf8")).toContain("<html");
});

test("a recipe that evaluates nothing trains at once, ends as done and has no scores", async () => {
  const off = smallRecipe({ steps: 2 }, { evaluation: { problemsPerDomain: 0 } });
  const { interrupted } = await trainAndEvaluate(off, { dir, terminal, verifiers, core: standInCore() });
  expect([interrupted, saved().state, saved().before, saved().after]).toEqual([false, "done", [], []]);
  expect(printed).not.toContain('phase="evaluation');
  expect(existsSync(join(dir, "report.html"))).toBe(true);
});

test("an interrupted session says so and can be gone on with, keeping what it looked like before", async () => {
  const controller = new AbortController();
  const stopAfter = { ...terminal, write: (t: string) => t.startsWith("step=1 ") && controller.abort() };
  const common = { dir, verifiers, core: standInCore() };
  const long = smallRecipe({ steps: 40 }, { evaluation: { problemsPerDomain: 4 } });
  const first = await trainAndEvaluate(long, { ...common, terminal: stopAfter, signal: controller.signal });
  expect(first.outcome.reason).toBe("aborted");
  expect(saved()).toMatchObject({ state: "stopped", after: [] });
  const before = saved().before;
  const second = await trainAndEvaluate(long, { ...common, terminal, resume: "auto", core: standInCore() });
  expect(second.summary).toMatchObject({ state: "done", steps: 40, before });
});

test("hooks hear what a run's hooks hear: the first after the evaluation before, and each may change the run", async () => {
  const told: string[] = [];
  let groups = 0;
  const { outcome, summary } = await trainAndEvaluate(recipe, {
    dir,
    terminal,
    verifiers,
    core: standInCore(),
    hooks: {
      beforeTraining: (run) => {
        told.push(`before ${run.step}, evaluated ${existsSync(join(dir, "before.json"))}`);
      },
      onGroup: ({ problem, rollouts }) => {
        groups += 1;
        return problem.domain === "math" ? "drop" : { rewards: rollouts.map((_, i) => i) };
      },
      afterStep: ({ step }) => {
        told.push(`after ${step}`);
        return step === 2 ? "stop" : undefined;
      },
    },
  });
  expect(told).toEqual(["before 0, evaluated true", "after 1", "after 2"]);
  expect(outcome).toMatchObject({ reason: "stopped", steps: 2 });
  expect(summary).toMatchObject({ state: "stopped", after: [] });
  expect(groups).toBeGreaterThan(0);
  const steps = readFileSync(join(dir, "steps.jsonl"), "utf8").trim().split("\n");
  const { metrics } = JSON.parse(steps.at(-1)!) as { metrics: Record<string, number> };
  expect(metrics["dropped/total/hook/math"]).toBeGreaterThan(0);
  // every group has the rewards 0 to 3, whatever the verdicts are
  expect(metrics["reward/mean"]).toBe(1.5);
});

test("who looks while the session evaluates is told so, and not of a hook that nobody gave", async () => {
  const sentence = () =>
    (JSON.parse(readFileSync(join(dir, "line.json"), "utf8")) as { waits: { sentence: string } }).waits
      .sentence;
  const told: string[] = [];
  const look = () =>
    vi.waitFor(
      () => expect(told.push(sentence()) && told.at(-1)).toMatch(/^before training/),
      patient(10_000),
    );
  await trainAndEvaluate(recipe, {
    dir,
    terminal,
    verifiers,
    core: standInCore(),
    onPolicy: async (when) => void (when === "before" && (await look())),
  });
  expect(told.at(-1)).toBe("before training: the evaluation of the initial policy");
});

test("the folder is the session's until all that it tells has been sent", async () => {
  const told: string[] = [];
  const sink = {
    name: "mine",
    write: () => {},
    close: async () => void told.push(`closed, ${(await isLocked(dir)) ? "held" : "free"}`),
  };
  const onPolicy = async (when: string) => {
    if (when !== "after") return;
    await expect(lockFolder(dir)).rejects.toThrow(`${dir} belongs to a run that is under way`);
    const line = join(dir, "line.json");
    const long = { ...JSON.parse(readFileSync(line, "utf8")), writtenMs: Date.now() - 60_000 };
    writeFileSync(line, JSON.stringify(long));
    told.push((await readStatus(dir)).state);
  };
  await trainAndEvaluate(recipe, { dir, terminal, verifiers, core: standInCore(), onPolicy, sinks: [sink] });
  expect(told).toEqual(["running", "closed, held"]);
  expect(await isLocked(dir)).toBe(false);
});

test("a run that trained nothing says so and how many steps it had", async () => {
  const hooks = { onGroup: () => "drop" as const };
  const { summary } = await trainAndEvaluate(recipe, {
    dir,
    terminal,
    verifiers,
    hooks,
    core: standInCore(),
  });
  expect(summary).toMatchObject({ steps: 4, changedSteps: 0, state: "done" });
  expect(printed).toContain(
    "warning: 0 of 4 steps changed the weights: no group was kept whose rewards differ",
  );
  printed = "";
  rmSync(dir, { recursive: true });
  await trainAndEvaluate(recipe, { dir, terminal, verifiers, core: standInCore() });
  expect(printed).not.toContain("changed the weights");
});

test("a report that cannot be written is a warning with the error of the process that writes it", async () => {
  const onPolicy = async (when: string) => {
    if (when === "after") mkdirSync(join(dir, "report.html", "in-the-way"), { recursive: true });
  };
  const { report } = await trainAndEvaluate(recipe, {
    dir,
    terminal,
    verifiers,
    core: standInCore(),
    onPolicy,
  });
  expect(report).toBeUndefined();
  expect(printed).toMatch(/^warning: the report could not be written: HONE_ERR_IO {2}.*report\.html/m);
  expect(saved().state).toBe("done");
});

test("a folder that is in use, or holds a run, is refused before any process of the run starts", async () => {
  vi.stubEnv("HONE_STORE", "nats://no-store-at-all"); // a store for which the run's processes would be refused
  onTestFinished(() => void vi.unstubAllEnvs());
  const several = smallRecipe({ steps: 4 }, { hardware: { processes: { actors: 1, trainers: 0 } } });
  const begin = () => trainAndEvaluate(several, { dir, terminal, verifiers });
  {
    using _ = await lockFolder(dir);
    await expect(begin()).rejects.toThrow(`${dir} belongs to a run that is under way`);
  }
  mkdirSync(join(dir, "checkpoints"));
  await expect(begin()).rejects.toThrow(`${dir} holds a run with checkpoints`);
  rmSync(join(dir, "checkpoints"), { recursive: true });
  await expect(begin()).rejects.toThrow("nats://no-store-at-all");
});
