import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { RecipeInput } from "../../lib/config/index.ts";
import { replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { runOrKill } from "./killed-run.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const root = mkdtempSync(join(tmpdir(), "hone-curriculum-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const rows = join(root, "rows.jsonl");
writeFileSync(
  rows,
  Array.from(
    { length: 40 },
    (_, n) => `${JSON.stringify({ question: `Apply to ${n}: +4`, answer: `${n + 4}` })}\n`,
  ).join(""),
);
// depends on everything that a checkpoint must restore
const weights = join(root, "weights.mjs");
writeFileSync(
  weights,
  "export default ({ solveRate = 0.5, attempts, since = 3, step }) => (1 + solveRate + since + (step % 3)) / (1 + attempts);\n",
);

const curriculum = { solveRate: { floor: 0.2 }, weight: weights };
const domainsOf = (chosen: object) => ({
  math: { weight: 0.6, source: `jsonl:${rows}`, ...chosen },
  logic: { weight: 0.4, source: "procedural/logic" },
});

/** Trains to the end, or until its process has printed `lastLine` and killed itself. @returns its last line */
async function train(
  name: string,
  training: Partial<RecipeInput["training"]>,
  chosen: object = { curriculum },
  lastLine = "",
): Promise<string> {
  const dir = join(root, name);
  const { warmStart } = tinyInput();
  const more: Partial<RecipeInput> = {
    domains: domainsOf(chosen),
    warmStart: { ...warmStart!, mixture: { logic: 1 } },
    checkpoint: { everySteps: 2, keepLast: 10 },
    advantages: { filter: "none" },
    objective: { entropyCoef: 0.05 },
  };
  return runOrKill(dir, training, more, lastLine);
}

const drawn = (name: string) =>
  readEvents(join(root, name, "events.jsonl")).flatMap((event) =>
    event.e === "submit" ? [{ domain: event.d, index: event.i }] : [],
  );

describe.skipIf(noAddon !== undefined)("a run with a curriculum", () => {
  test(
    "chooses within a domain alone: the domains come as without one",
    async () => {
      const training = { steps: 6, groupsPerStep: 6, schedule: "sync" } as const;
      await train("plain", training, {});
      await train("chosen", training);
      const [plain, chosen] = [drawn("plain"), drawn("chosen")];
      expect(chosen.map(({ domain }) => domain)).toEqual(plain.map(({ domain }) => domain));
      expect(chosen).not.toEqual(plain);
      const of = (domain: string) => chosen.filter((one) => one.domain === domain).map(({ index }) => index);
      expect(of("logic")).toEqual(of("logic").map((_, i) => i));
      expect(new Set(of("math")).size).toBe(of("math").length);
    },
    patient(120_000),
  );

  test(
    "killed by SIGKILL after a step it goes on as the run that nothing ended",
    async () => {
      const training = { steps: 7, groupsPerStep: 6, schedule: "sync" } as const;
      const straight = await train("straight", training);
      await train("killed", training, { curriculum }, "step 5");
      expect(await train("killed", training)).toBe(straight);
    },
    patient(120_000),
  );

  test(
    "asynchronous, killed and resumed, it replays to the bit, without its function where the file is gone",
    async () => {
      const training = { steps: 6, groupsPerStep: 4, maxLag: 2 };
      await train("async", training, { curriculum }, "step 3");
      await train("async", training);
      rmSync(weights);
      expect(await replayRun(join(root, "async"), { verifiers })).toMatchObject({
        steps: 6,
        weightsCompared: true,
      });
    },
    patient(120_000),
  );
});
