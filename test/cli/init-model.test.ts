import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { lookAtModel } from "../../lib/cli/init-model.ts";
import type { KeptRow } from "../../lib/data/index.ts";
import { tinyConfig, writeModelFiles } from "../fixtures/model-folder.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-init-model-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

function model(name: string, change = {}): string {
  const folder = join(dir, name);
  mkdirSync(folder);
  writeModelFiles(folder, tinyConfig(change));
  writeFileSync(join(folder, "model.safetensors"), ""); // the weights are not read
  return folder;
}
const row = (question: string) => ({ question }) as KeptRow;

test("lengths are those of the model's own tokens, in steps of 64, within half its positions", async () => {
  const folder = model("own");
  const short = await lookAtModel(folder, [row("a"), row("bb")]);
  expect(short).toMatchObject({ maxPromptTokens: 64, maxOutputTokens: 448 });
  // 300 letters that the small tokenizer encodes as bytes
  const long = await lookAtModel(folder, [row("a"), row("#@".repeat(150))]);
  expect(long.maxPromptTokens).toBe(256);
  expect(long.maxOutputTokens).toBe(256);
  expect(long.said).toMatch(
    /^512 positions; prompts up to \d+ tokens, of which 1 are left out because they have more than 256 tokens/,
  );
});

test("a narrow model gets the rate of a new one, a wide one the default", async () => {
  expect((await lookAtModel(model("narrow"), [row("a")])).lr).toBe(2.5e-4);
  expect((await lookAtModel(model("wide", { hidden_size: 1024 }), [row("a")])).lr).toBeUndefined();
});

test("of a published model that is not here, its known config serves, and prompts are guessed", async () => {
  vi.stubEnv("HF_HOME", join(dir, "empty"));
  vi.stubEnv("HF_HUB_OFFLINE", "1");
  const found = await lookAtModel("Qwen/Qwen3-0.6B", [row("x".repeat(300))]);
  expect(found).toMatchObject({ maxPromptTokens: 192, maxOutputTokens: 512, lr: undefined });
  expect(found.said).toMatch(/prompts up to 164 tokens, estimated from their characters/);
  await expect(lookAtModel("org/nowhere", [row("a")])).rejects.toMatchObject({
    code: "HONE_ERR_HUB",
    message: expect.stringContaining("is not in the"), // the message ends with "cache": no request was sent
  });
});

test("rows of which no prompt fits are refused", async () => {
  const rows = [row("#@".repeat(150)), row("#@".repeat(200))];
  await expect(
    lookAtModel(model("narrow-window", { max_position_embeddings: 256 }), rows),
  ).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringMatching(
      /256 positions, of which prompts may take 128; the prompts of all of the first rows/,
    ) as string,
  });
});

test("a model without room for a prompt and an answer is refused", async () => {
  await expect(lookAtModel(model("short", { max_position_embeddings: 64 }), [row("a")])).rejects.toThrow(
    /64 positions; prompts take at least 64, which leaves none/,
  );
});
