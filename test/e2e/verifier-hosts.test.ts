import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openProcesses } from "../../lib/fleet/index.ts";
import { readPipelineStatus } from "../../lib/metrics/index.ts";
import { createRun, nativeCore, replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { long, longest } from "../long.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";
import { FaultInjector, readFaults } from "./process-faults.ts";

vi.setConfig({ testTimeout: patient(150_000) });

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-verifier-hosts-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const STEPS = 4;
/** A process that only waits for a processor must not count as hanging, because the tests count restarts. */
const settings = { leaseMs: 2000, beatMs: 100, aliveMs: patient(3000) };
const module = new URL("../fixtures/verifiers/brief.mjs", import.meta.url).href;

/**
 * These rewards depend on the completion's text as if at random: one domain has a user's module, one a function. So a
 * verdict of another completion, or a missing one, would change the weights.
 */
const recipe = (schedule: "sync" | "async") =>
  smallRecipe(
    { steps: STEPS, schedule, maxLag: 1 },
    {
      domains: {
        math: { weight: 0.5, source: "procedural/math", reward: module },
        logic: { weight: 0.3, source: "procedural/logic" },
        code: {
          weight: 0.2,
          source: "procedural/code",
          reward: ({ completion }) => 1 / (1 + completion.length),
        },
      },
      objective: { entropyCoef: 0.1 },
      optimizer: { lr: 1e-3, warmupSteps: 0 },
      verification: { workers: 2, timeoutMs: 20_000 },
    },
  );

async function runOf(name: string, schedule: "sync" | "async", verifiers: number, faults = "") {
  const core = await nativeCore();
  await using processes = await openProcesses({ actors: 1, trainers: 0, verifiers, core, settings });
  const injector = new FaultInjector(readFaults(faults), processes);
  const at = join(dir, name);
  await using run = await createRun(recipe(schedule), { dir: at, core: processes.core });
  expect(await run.finished).toMatchObject({ reason: "done", steps: STEPS });
  expect(injector.unmet).toEqual([]);
  const rows = Object.fromEntries(readPipelineStatus(at)!.processes!.map((row) => [row.name, row]));
  return { at, rows, weights: weightsHash(join(at, "checkpoints", `step-00000${STEPS}`)) };
}

async function weightsOfOne(): Promise<string> {
  await using run = await createRun(recipe("sync"), { dir: join(dir, "one") });
  await run.finished;
  return weightsHash(join(dir, "one", "checkpoints", `step-00000${STEPS}`));
}
let alone: Promise<string> | undefined;

test.runIf(longest)(
  "what a killed host held is judged by its next process, a long time before its lease runs out",
  async () => {
    const judging = join(dir, "judging");
    vi.stubEnv("HONE_TEST_JUDGING", judging); // the fleet's processes inherit the variable
    const core = await nativeCore();
    const slow = { leaseMs: 3_600_000, beatMs: 100 };
    await using processes = await openProcesses({
      actors: 1,
      trainers: 0,
      verifiers: 1,
      core,
      settings: slow,
    });
    const once = new URL("../fixtures/verifiers/first-for-ever.mjs", import.meta.url).href;
    const domains = { math: { weight: 1, source: "procedural/math" as const, reward: once } };
    const verification = { workers: 2, timeoutMs: 600_000, env: ["HONE_TEST_JUDGING"] };
    const training = { steps: 1, schedule: "sync" as const };
    await using run = await createRun(smallRecipe(training, { domains, verification }), {
      dir: join(dir, "hour"),
      core: processes.core,
    });
    await vi.waitFor(() => expect(existsSync(judging)).toBe(true), {
      timeout: patient(120_000),
      interval: 20,
    });
    new FaultInjector(readFaults("verifier.0@t=0s:sigkill"), processes);
    expect(await run.finished).toMatchObject({ reason: "done", steps: 1 });
    expect(unscoredIn(join(dir, "hour"))).toBe(0);
  },
);

/** The number of unscored verdicts in the journal. */
const unscoredIn = (at: string): number =>
  readFileSync(join(at, "verdicts.jsonl"), "utf8").split('"unscored"').length - 1;

test("a host judges, is killed amid a step and judges again: the weights are one process's", async () => {
  alone ??= weightsOfOne();
  const { at, rows, weights } = await runOf("killed", "sync", 1, "verifier.0@step=1:sigkill");
  expect(weights).toBe(await alone);
  expect(unscoredIn(at)).toBe(0);
  expect(rows["verifier.0"]).toMatchObject({ restarts: 1, ended: { how: "by SIGKILL" } });
  expect(rows["verifier.1"], "there is no pool beside it").toBeUndefined();
  const groups = readEvents(join(at, "events.jsonl")).flatMap((e) => (e.e === "step" ? e.k : []));
  expect(new Set(groups).size).toBe(groups.length);
});

test.runIf(longest)("of two hosts both are killed and one is stopped: the same weights", async () => {
  alone ??= weightsOfOne();
  const faults = "verifier.1@step=1:sigkill,verifier.0@step=2:sigstop=8s,verifier.1@step=3:sigkill";
  const { at, weights } = await runOf("two", "sync", 2, faults);
  expect(weights).toBe(await alone);
  expect(unscoredIn(at)).toBe(0);
});

test.runIf(long)("an asynchronous run of two hosts replays on one process, with its verdicts", async () => {
  const { at } = await runOf("async", "async", 2, "verifier.0@step=1:sigkill");
  expect(await replayRun(at, { recipe: recipe("async") })).toMatchObject({
    steps: STEPS,
    weightsCompared: true,
  });
});
