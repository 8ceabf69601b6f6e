/** Trains a run, in a separate process (run-child.ts) if a test orders it to kill itself, otherwise in this one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { childProgram } from "../fixtures/child-program.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { tinyInput } from "./tiny-recipe.ts";

const CHILD = await childProgram(join(import.meta.dirname, "run-child.ts"));

/**
 * Starts or resumes the run in `dir`, and trains to its end or until its process has printed `lastLine` and killed
 * itself.
 * @returns how it ended, with the hash of its weights, or its last line
 */
export async function runOrKill(
  dir: string,
  training: Partial<RecipeInput["training"]>,
  more: Partial<RecipeInput>,
  lastLine = "",
): Promise<string> {
  const resume = existsSync(dir) ? "auto" : "never";
  if (lastLine === "") {
    const recipe = defineRecipe({ ...tinyInput(training), ...more });
    await using run = await createRun(recipe, { dir, resume, verifiers });
    const { reason, steps } = await run.finished;
    const name = `step-${String(steps).padStart(6, "0")}`;
    return `${reason} ${steps} ${weightsHash(join(dir, "checkpoints", name))}`;
  }
  const args = [...CHILD, dir, resume, JSON.stringify(training), JSON.stringify(more)];
  const env = { ...process.env, HONE_TEST_LAST_LINE: lastLine };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (errors += text));
  const [, signal] = await once(child, "close");
  expect(signal, errors).toBe("SIGKILL");
  return out.trim().split("\n").at(-1)!;
}
