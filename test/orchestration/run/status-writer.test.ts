import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readPipelineStatus } from "../../../lib/metrics/index.ts";
import { createRun, replayRun } from "../../../lib/orchestration/index.ts";
import { readEvents } from "../../../lib/orchestration/records/event-log.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-board-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function ask(id: string, action: string): void {
  mkdirSync(join(dir, "requests"), { recursive: true });
  const path = join(dir, "requests", `${id}.json`);
  writeFileSync(path, JSON.stringify({ schema: 1, id, action, by: "the test" }));
}
const status = () => readPipelineStatus(dir)!;

test("another process sees where the run is, pauses it, lets it go on, has it saved and stopped; all of it is logged", async () => {
  await using run = await createRun(smallRecipe({ steps: 100_000 }), { verifiers, dir, core: standInCore() });
  await vi.waitFor(() => expect(status()?.step).toBeGreaterThan(0), { timeout: 60_000 });
  expect(status()).toMatchObject({
    phase: { name: "training" },
    steps: 100_000,
    paused: false,
    pid: process.pid,
  });
  expect(status().stages.map(({ name }) => name)).toEqual([
    "prompts",
    "engine",
    "verifiers",
    "batcher",
    "trainer",
  ]);
  ask("a", "pause");
  await vi.waitFor(() => expect(status().waits.sentence).toMatch(/^paused after step/), { timeout: 60_000 });
  const { step } = run;
  ask("b", "checkpoint");
  ask("c", "resume");
  await vi.waitFor(() => expect(run.step).toBeGreaterThan(step + 1), { timeout: 60_000 });
  ask("d", "stop");
  expect(await run.finished).toMatchObject({ reason: "stopped" });
  expect(status()).toMatchObject({ end: "stopped", step: run.step });
  const notes = readEvents(join(dir, "events.jsonl")).flatMap((event) =>
    event.e === "note" && event.k === "control" ? [event.m] : [],
  );
  for (const action of ["pause", "resume", "checkpoint"])
    expect(notes).toContain(`${action}, requested by the test: done`);
  expect(notes).toContain("stop, requested by the test");
}, 30_000);

test("a run with notes in its log is replayed to the bit", async () => {
  {
    const hooks = { afterStep: () => "checkpoint" as const };
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore(), hooks });
    await run.finished;
  }
  expect(readFileSync(join(dir, "events.jsonl"), "utf8")).toContain('"e":"note"');
  await replayRun(dir, { core: standInCore(), verifiers });
});

test("a run that fails says why", async () => {
  const hooks = {
    afterStep: () => {
      throw new Error("my hook broke");
    },
  };
  await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore(), hooks });
  await expect(run.finished).rejects.toThrow();
  expect(status()).toMatchObject({
    end: "failed",
    waits: { sentence: expect.stringContaining("my hook broke") },
  });
});
