/**
 * A training run in a separate process, for tests that kill it: run-child.ts <folder> <resume> <training as JSON>
 * [more of the recipe as JSON]. Prints one line for each step and checkpoint, and the hash of the final weights.
 * Kills itself after the line HONE_TEST_LAST_LINE, because a test that reads the line would kill it late.
 */
import { join } from "node:path";
import { exitCodeOf, interruptSignal, runMain } from "../../lib/cli/exit.ts";
import { defineRecipe } from "../../lib/config/index.ts";
import { createRun, nativeCore } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/weights-hash.ts";
import { inlineVerifiers } from "../orchestration/inline-verifiers.ts";
import { tinyInput } from "./tiny-recipe.ts";

const say = (line: string) => {
  process.stdout.write(`${line}\n`);
  if (line === process.env["HONE_TEST_LAST_LINE"]) process.kill(process.pid, "SIGKILL");
};

await runMain(async () => {
  const [dir, resume, training, more = "{}"] = process.argv.slice(2) as [string, string, string, string?];
  const signal = interruptSignal(say);
  const recipe = defineRecipe({ ...tinyInput(JSON.parse(training)), ...JSON.parse(more) });
  const { processes } = recipe.hardware ?? {};
  // Imported on demand: a chaos test starts ninety of these processes, which do not need it.
  const fleetModule = processes && (await import("../../lib/fleet/index.ts"));
  await using fleet =
    fleetModule && (await fleetModule.openProcesses({ ...processes, core: await nativeCore() }));
  await using run = await createRun(recipe, {
    dir,
    resume,
    signal,
    verifiers: inlineVerifiers,
    ...(fleet && { core: fleet.core }),
  });
  run.on("checkpoint", (_, step) => say(`checkpoint ${step}`));
  for await (const { step } of run) say(`step ${step}`);
  const { reason, steps } = await run.finished;
  const name = `step-${String(steps).padStart(6, "0")}`;
  say(`${reason} ${steps} ${weightsHash(join(dir, "checkpoints", name))}`);
  return reason === "aborted" ? exitCodeOf(signal.reason) : 0;
});
