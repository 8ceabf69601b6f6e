// Updates of weights of the size of Qwen3-0.6B, random ones in bf16, between processes on the CPU. Takes 6 GB and some
// minutes.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { overrideRecipe } from "../../lib/config/index.ts";
import { openProcesses } from "../../lib/fleet/index.ts";
import { PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
import type { TrainerOptions } from "../../lib/native/face.ts";
import { Generations } from "../../lib/native/generations.ts";
import { info } from "../../lib/native/index.ts";
import { nativeCore } from "../../lib/orchestration/index.ts";
import { sizesOf } from "../../lib/plan/buffers.ts";
import { cpuActor } from "../../lib/plan/rows.ts";
import { ENGINE, OPTIMIZER, request } from "../fleet/small-engine.ts";
import { longest } from "../long.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";

const CONFIG = JSON.stringify(PUBLISHED_CONFIGS["Qwen/Qwen3-0.6B"]);
const TYPES = { weightStorage: "bf16", arithmetic: "bf16", device: "cpu" } as const;
const LORA = { rank: 16, alpha: 32, targets: ["all-linear"], seed: 1n };

/** What `hone plan` counts for an actor. */
function planned(adapted: boolean): number {
  const { maxRunning, pages, pageTokens, stepTokens } = ENGINE;
  const engine = Object.entries({ maxRunning, pages, pageTokens, stepTokens });
  const recipe = overrideRecipe(smallRecipe(), [
    ...engine.map(([name, value]) => `engine.${name}=${value}`),
    "model.weightStorage=bf16",
    "evaluation.everySteps=0",
    ...(adapted ? ["lora.rank=16"] : []),
  ]);
  return cpuActor(recipe, sizesOf(recipe, CONFIG, "cpu", 1)).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The most memory that a process had. */
const peakOf = (pid: number): number =>
  1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);

describe.skipIf(!longest || info().gloo.version === null)("at 0.6B", () => {
  test.each<[string, Pick<TrainerOptions, "lora">]>([
    ["all weights", {}],
    ["adapters", { lora: LORA }],
  ])(
    "an actor has %s of each version within the first deadline, in the memory that is planned",
    async (_, trained) => {
      const core = await nativeCore();
      await using processes = await openProcesses({ actors: 1, trainers: 1, core });
      const { updates, board } = processes.core;
      const announced: number[] = [];
      const say = updates.say.bind(updates);
      updates.say = (control) => {
        if (control.kind === "update") announced.push(control.version);
        return say(control);
      };
      const options = { optimizer: OPTIMIZER, packedTokens: 64, ...TYPES, ...trained };
      const trainer = processes.core.trainer(CONFIG, options);
      const engine = { ...ENGINE, ...TYPES };
      const generations = new Generations((handlers) => processes.core.engine(CONFIG, engine, handlers));
      await trainer.initialize(3n);
      for (const version of [1, 2, 3]) {
        await trainer.setVersion(version);
        await trainer.publish(generations.engine);
        const [first] = await generations.generate(request(version, 1, 2));
        expect(first!.versions[0]).toBe(version);
      }
      expect(announced).toEqual([1, 2, 3]); // one that is late is announced again
      const { pid } = board.look().find(({ name }) => name === "actor.0")!;
      const [peak, plan] = [peakOf(pid!), planned(trained.lora !== undefined)];
      expect(peak).toBeLessThan(plan + 0.3 * 2 ** 30); // Node, libraries, buckets on their way
      expect(peak).toBeGreaterThan(0.8 * plan);
      await generations.close();
      await trainer.close();
    },
    patient(600_000),
  );
});
