import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../../lib/config/index.ts";
import { RUN_FILES, writeRunManifest } from "../../../lib/metrics/index.ts";
import { createRun, replayRun } from "../../../lib/orchestration/index.ts";
import { recordedTeacher } from "../../../lib/orchestration/replay/recorded-teacher.ts";
import { noAddon } from "../../e2e/native-core.ts";
import { tinyInput } from "../../e2e/tiny-recipe.ts";
import { LocalServer } from "../../fixtures/local-server.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";

const root = mkdtempSync(join(tmpdir(), "hone-recorded-teacher-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Divides its log-probs by the number of requests so far, so that a second request gets other values. */
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
  expect(() => recordedTeacher(root, listed)).toThrow("which the rollout record does not contain");
});

describe("a record", () => {
  const recipe = recipeOf("http://localhost:1/v1", true);
  const batch = { tokens: new Int32Array(5), cuSeqlens: new Int32Array([0, 3, 5]) } as unknown as Parameters<
    ReturnType<NonNullable<ReturnType<typeof recordedTeacher>>>
  >[0];
  const said = (...logprobs: number[]) => Buffer.from(Float32Array.from(logprobs).buffer).toString("base64");

  /** A run folder whose first step has these rollouts. */
  function recorded(name: string, rollouts: readonly object[]): string {
    const dir = join(root, name);
    mkdirSync(join(dir, RUN_FILES.rollouts), { recursive: true });
    writeRunManifest(dir, { name, config: recipe, seeds: {}, versions: {} });
    const lines = [{ schema: 1, step: 1 }, { rollouts }].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(join(dir, RUN_FILES.rollouts, "step-000001.jsonl"), lines.join(""));
    return dir;
  }

  test("has what the server said of each answer's tokens, at their places", async () => {
    const dir = recorded("said", [
      { sequence: 1, teacher: said(-1) },
      { attempt: 1 }, // this rollout trained nothing, so the server was not asked
      { sequence: 0, teacher: said(-2, -3) },
    ]);
    const { logprobs } = (await recordedTeacher(dir, recipe)!(1)(batch))!;
    expect([...logprobs!]).toEqual([0, -2, -3, 0, -1]);
  });

  test("in which a trained answer lacks that is refused, and so is a step that was not recorded", async () => {
    const dir = recorded("unsaid", [{ sequence: 0, teacher: said(-1) }, { sequence: 1 }]);
    const teach = recordedTeacher(dir, recipe)!;
    const refusal = (step: number) => ({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining(
        `what the server of teacher.endpoint said in step ${step} is not in the record`,
      ),
    });
    await expect(teach(1)(batch)).rejects.toMatchObject(refusal(1));
    await expect(teach(2)(batch)).rejects.toMatchObject(refusal(2));
  });
});
