import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../../lib/config/index.ts";
import { createRun, replayRun } from "../../../lib/orchestration/index.ts";
import { recordedTeacher } from "../../../lib/orchestration/replay/recorded-teacher.ts";
import { noAddon } from "../../e2e/native-core.ts";
import { tinyInput } from "../../e2e/tiny-recipe.ts";
import { LocalServer } from "../../fixtures/local-server.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";

const root = mkdtempSync(join(tmpdir(), "hone-recorded-teacher-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Likes each token twice as well as the last time, so that a second request gets other log-probs. */
class Moody extends LocalServer {
  asked = 0;
  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt } = (await json(request)) as { prompt: number[] };
    const mood = ++this.asked;
    const said = prompt.map((token, i) =>
      i === 0 ? null : { [token]: { logprob: -((token % 5) + 1) / mood } },
    );
    response.end(JSON.stringify({ choices: [{ prompt_logprobs: said }] }));
  }
}

const { advantages: _, lengthPenalty: __, ...input } = tinyInput({ groupsPerStep: 2, steps: 3 });
const recipeOf = (url: string, record: boolean, rest: Partial<RecipeInput> = {}) =>
  defineRecipe({
    ...input,
    objective: { kind: "dapo", clipLow: 0.2, clipHigh: 0.28 },
    teacher: { endpoint: { url, model: "big" } },
    rollouts: { ...input.rollouts, record },
    ...rest,
  });

describe.skipIf(noAddon !== undefined)("a run with a teacher behind a server", () => {
  test("learns from what it says, and is replayed to the bit by what it said then, without asking it", async () => {
    await using server = new Moody();
    const dir = join(root, "run");
    await using run = await createRun(recipeOf(`${await server.listen()}/v1`, true), { dir, verifiers });
    await run.finished;
    const metrics = JSON.parse(readFileSync(join(dir, "steps.jsonl"), "utf8").split("\n")[0]!).metrics;
    expect(metrics["kl/teacher/k1"]).toBeTypeOf("number");
    const { asked } = server;
    expect(asked).toBeGreaterThan(10);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 3, weightsCompared: true });
    expect(server.asked).toBe(asked);
  });

  test("is not replayed without its record, which the error says", async () => {
    await using server = new Moody();
    const dir = join(root, "unrecorded");
    await using run = await createRun(recipeOf(`${await server.listen()}/v1`, false), { dir, verifiers });
    await run.finished;
    await expect(replayRun(dir, { verifiers })).rejects.toMatchObject({
      hint: expect.stringMatching(/rollouts: \{ record: "last:20" \}, or true/),
    });
  });
});

test("a teacher that computes here is asked again, and listed tokens are in no record", () => {
  const { teacher: __, ...rest } = recipeOf("http://localhost:1/v1", true);
  expect(recordedTeacher(root, rest)).toBeUndefined();
  const listed = recipeOf("http://localhost:1/v1", true, {
    teacher: { endpoint: { url: "http://localhost:1/v1", model: "big" }, divergence: { topK: 5 } },
  });
  expect(() => recordedTeacher(root, listed)).toThrow("which its record does not have");
});
