// Tests the metrics that Prometheus scrapes from each process of a run: real roles, over HTTP.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { statusText } from "../../lib/cli/status-table.ts";
import { openProcesses } from "../../lib/fleet/index.ts";
import { createRun, nativeCore } from "../../lib/orchestration/index.ts";
import { readStatus } from "../../lib/runs/index.ts";
import { until } from "../fleet/small-engine.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-process-metrics-"));
beforeAll(() => void vi.stubEnv("HONE_METRICS", "0"));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true });
});

const recipe = smallRecipe(
  { steps: 3, schedule: "sync" },
  { advantages: { divideBy: "none", filter: "none" }, objective: { entropyCoef: 0.1 } },
);

/** The numbers at an address, by metric name without labels. */
async function scraped(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(url)).text();
  const rows = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(rows.map((row) => [row.split("{")[0]!, Number(row.split(" ").at(-1))]));
}

test(
  "an actor and a trainer say version, lag, tokens and restarts, also after they were replaced; hone status says where",
  async () => {
    // a process that waits for a processor must not count as hanging
    const settings = { beatMs: 50, aliveMs: patient(3000), leaseMs: 3000 };
    const core = await nativeCore();
    await using processes = await openProcesses({ actors: 1, trainers: 1, core, settings });
    const { board } = processes.core;
    const of = async (name: string) => {
      const url = board.metrics.get(name);
      return url === undefined ? {} : await scraped(url).catch(() => ({}) as Record<string, number>);
    };
    const seen: Record<string, number>[] = [];
    const afterStep = async ({ step }: { readonly step: number }) => {
      if (step === 1) {
        for (const name of ["actor.0", "trainer.0"])
          await until(async () => (await of(name))["hone_process_version"] === 1, `version 1 of ${name}`);
        seen.push(await of("actor.0"), await of("trainer.0"));
        expect(board.look().map(({ name, metrics }) => [name, metrics])).toEqual([
          ["actor.0", board.metrics.get("actor.0")],
          ["trainer.0", board.metrics.get("trainer.0")],
        ]);
        process.kill(board.look()[0]!.pid!, "SIGKILL");
      }
      if (step === 2) {
        const isNew = { hone_process_restarts_total: 1, hone_process_version: 2 };
        const has = (now: Record<string, number>) => Object.entries(isNew).every(([k, v]) => now[k] === v);
        await until(async () => has(await of("actor.0")), "version 2 of the new actor");
        seen.push(await of("actor.0"));
        const shown = async () => statusText(await readStatus(join(dir, "run")), 100, Date.now());
        const address = `actor.0 metrics ${board.metrics.get("actor.0")}`;
        await until(
          async () => (await shown()).includes(address),
          "line.json, which is written once a second",
        );
      }
      return undefined;
    };
    const options = { verifiers, dir: join(dir, "run"), core: processes.core, hooks: { afterStep } };
    await using run = await createRun(recipe, options);
    expect(await run.finished).toMatchObject({ reason: "done", steps: 3 });
    const [actor, trainer, replaced] = seen;
    expect(actor).toMatchObject({ hone_process_lag: 0, hone_process_restarts_total: 0 });
    expect(trainer).toMatchObject({ hone_process_lag: 0, hone_process_restarts_total: 0 });
    expect(actor!["hone_process_tokens_total"]).toBeGreaterThan(0);
    expect(trainer!["hone_process_tokens_total"]).toBeGreaterThan(0);
    expect(replaced).toMatchObject({ hone_process_version: 2, hone_process_restarts_total: 1 });
  },
  patient(60_000),
);
