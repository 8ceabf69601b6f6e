// kill -9 at random points: every counted completion is kept, nothing is asked twice, and the result equals that of an
// undisturbed evaluation.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CounterRandom } from "../../lib/random.ts";
import { readRecord } from "../../lib/suites/record.ts";
import { childProgram } from "../fixtures/child-program.ts";
import { tinyModel } from "../fixtures/model-folder.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { evaluation } from "../suites/killed-evaluation.ts";
import { scratchFolder } from "../suites/scripted.ts";

const CHILD = await childProgram(fileURLToPath(new URL("../suites/evaluation-child.ts", import.meta.url)));

/**
 * Runs an evaluation that kills itself once it has counted `until` completions; @returns the last count that it
 * printed, and whether it ended by itself
 */
async function evaluate(
  model: string,
  dir: string,
  until: number,
): Promise<{ counted: number; ended: boolean }> {
  const child = spawn(process.execPath, [...CHILD, model, dir, String(until)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let counted = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    counted = Number(text.trim().split("\n").at(-1));
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { counted, ended: code === 0 };
}

const WANTED = 240;

test.runIf(longest)(
  "a killed evaluation goes on where it stopped and loses no completion",
  async () => {
    const model = await tinyModel(scratchFolder());
    const [whole, dir] = [scratchFolder(), scratchFolder()];
    await evaluation(model, whole);
    const random = new CounterRandom(Date.now());
    const kills = [0.2, 0.6].map((share) => Math.max(1, random.int(0, 40) + Math.floor(share * WANTED)));
    let before = 0;
    for (const until of kills) {
      const { counted } = await evaluate(model, dir, until);
      const { draws } = readRecord(dir);
      expect(draws.size).toBeGreaterThanOrEqual(counted);
      expect(draws.size).toBeGreaterThanOrEqual(before);
      before = draws.size;
    }
    expect(existsSync(join(dir, "results.json"))).toBe(false);
    expect((await evaluate(model, dir, Number.POSITIVE_INFINITY)).ended).toBe(true);
    const [a, b] = [whole, dir].map((folder) => readFileSync(join(folder, "results.json"), "utf8"));
    expect(b).toBe(a);
    const lines: string[] = [];
    readRecord(dir, (line) => {
      if ("drawn" in line) lines.push(`${line.of} ${line.attempt} ${line.seed}`);
    });
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines).toHaveLength(WANTED);
  },
  patient(120_000),
);
