// Requests checkpoints at any moment, one after another: each has the weights of its own step.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createRun, type Run } from "../../lib/orchestration/index.ts";
import { weightsAfter } from "../fixtures/small-quickstart.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const STEPS = 8;
const dir = mkdtempSync(join(tmpdir(), "hone-asked-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function weightsOfSteps(
  name: string,
  async: boolean,
  beside: (run: Run) => Promise<void>,
): Promise<string[]> {
  const at = join(dir, name);
  const recipe = smallRecipe(
    { steps: STEPS, schedule: "sync", groupsPerStep: 2 },
    {
      advantages: { divideBy: "none", filter: "none" },
      objective: { entropyCoef: 0.1 },
      optimizer: { lr: 1e-3, warmupSteps: 0 },
      checkpoint: { everySteps: 1, keepLast: STEPS + 1, async },
    },
  );
  await using run = await createRun(recipe, { verifiers, dir: at });
  await Promise.all([run.finished, beside(run)]);
  return Array.from({ length: STEPS }, (_, step) => weightsAfter(at, step + 1));
}

test.each([true, false])("checkpoint.async %s", async (async) => {
  const undisturbed = await weightsOfSteps(`undisturbed-${async}`, async, async () => {});
  expect(new Set(undisturbed).size).toBe(STEPS);
  let asked = 0;
  const asking = async (run: Run) => {
    let [over, waiting] = [false, 0];
    void run.finished.finally(() => (over = true));
    while (!over) {
      if (run.step > 0 && waiting < 3) {
        waiting += 1;
        run
          .checkpoint()
          .then(() => (asked += 1))
          .finally(() => (waiting -= 1))
          .catch(() => {}); // the request came after the run had ended
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  expect(await weightsOfSteps(`asked-${async}`, async, asking)).toEqual(undisturbed);
  expect(asked).toBeGreaterThan(STEPS);
});
