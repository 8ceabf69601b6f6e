import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { overrideRecipe } from "../../lib/config/index.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { type Core, nativeCore } from "../../lib/orchestration/setup/core.ts";
import { CounterRandom } from "../../lib/random.ts";
import { longest, soak } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyRecipe } from "./tiny-recipe.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-pauses-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Blocks this thread alone; engine and trainer continue. */
const stand = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Wraps the core so that JavaScript pauses before each call; `pause` returns the milliseconds. */
function paused(core: Core, pause: () => number): Core {
  const slowly = <T extends object>(face: T): T =>
    new Proxy(face, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          stand(pause());
          return Reflect.apply(member, target, args.map(unwrapped));
        };
      },
    });
  const faces = new WeakMap<object, object>();
  const unwrapped = (value: unknown) =>
    typeof value === "object" && value !== null ? (faces.get(value) ?? value) : value;
  const wrap = <T extends object>(face: T): T => {
    const wrapped = slowly(face);
    faces.set(wrapped, face);
    return wrapped;
  };
  return {
    info: () => core.info(),
    engine: (...args) => wrap(core.engine(...args)),
    trainer: (...args) => wrap(core.trainer(...args)),
  };
}

const REPLAYS = soak ? 1000 : longest ? 50 : 3;

test.skipIf(noAddon !== undefined)(
  `${REPLAYS} replays of an asynchronous run, JavaScript standing still at random, are the same to the bit`,
  async () => {
    const recipe = overrideRecipe(tinyRecipe({ maxLag: 3, steps: 12, groupsPerStep: 4 }), [
      "rollouts.groupSize=2",
      "engine.maxRunning=64",
      "warmStart.steps=0",
      "checkpoint.everySteps=0",
    ]);
    const core = await nativeCore();
    {
      await using run = await createRun(recipe, { dir, verifiers, core });
      await run.finished;
    }
    let failed = 0;
    for (let replay = 0; replay < REPLAYS; replay++) {
      const random = new CounterRandom(replay, 0, 0, 0);
      const pause = () => (random.next() < 0.1 ? 30 : 0);
      await replayRun(dir, { verifiers, core: paused(core, pause) }).catch((error: unknown) => {
        failed += 1;
        console.error(`replay ${replay}:`, error);
      });
    }
    expect(failed).toBe(0);
  },
  longest || soak ? 3_600_000 : 60_000,
);
