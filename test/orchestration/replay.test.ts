import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readEvents } from "../../lib/orchestration/event-log.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { readHistory } from "../../lib/orchestration/replay.ts";
import { inlineVerifiers as verifiers } from "./inline-verifiers.ts";
import { smallRecipe } from "./small-recipe.ts";
import { standInCore } from "./stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-replay-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a replay of an asynchronous run reproduces every rollout and the weights", async () => {
  const core = standInCore();
  {
    await using run = await createRun(smallRecipe({ steps: 12, maxLag: 2 }), { verifiers, dir, core });
    await run.finished;
  }
  const mixed = readEvents(join(dir, "events.jsonl")).some(
    (e) => e.e === "group" && e.r.some((r) => r.length > 5),
  );
  expect(mixed, "no rollout saw two weight versions: the replay would prove nothing").toBe(true);
  expect(await replayRun(dir, { verifiers, core: standInCore() })).toMatchObject({
    steps: 12,
    rollouts: 192,
    weightsCompared: true,
  });
});

test("a replay names the first rollout that came out differently", async () => {
  {
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore() });
    await run.finished;
  }
  const log = join(dir, "events.jsonl");
  const lines = readFileSync(log, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"e":"group"') && line.includes('"g":5'));
  const group = JSON.parse(lines[at]!) as { r: [number, number, string][] };
  group.r[2]![2] = "0123456789abcdef";
  lines[at] = JSON.stringify(group);
  writeFileSync(log, lines.join("\n"));
  await expect(replayRun(dir, { verifiers, core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_REPLAY",
    details: { group: 5, attempt: 2 },
  });
});

const step = (s: number, v = s + 1) => ({ e: "step", s, v, k: [] }) as const;

test("a resume takes back the steps after its checkpoint and what they took", () => {
  const group = (g: number) => ({ e: "group", g, r: [] }) as const;
  const submit = (g: number, i: number) => ({ e: "submit", g, d: "math", i, v: 0 }) as const;
  const history = readHistory([
    ...[submit(0, 7), group(0), step(0), submit(1, 8), group(1), step(1), group(2)],
    ...[{ e: "end", s: 2, v: 2, w: "old" } as const, { e: "resume", s: 1 } as const],
    ...[submit(1, 8), group(1), step(1), { e: "end", s: 2, v: 2, w: "new" } as const],
  ]);
  expect(history.steps.map(({ groups }) => groups.map(({ g }) => g))).toEqual([[0], [1]]);
  expect(history.drawn.get(1)).toEqual({ domain: "math", index: 8 });
  expect(history.weights).toBe("new");
});
