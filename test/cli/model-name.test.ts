import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chatOf, modelFolder } from "../../lib/cli/model-name.ts";
import { StandInHub } from "../fixtures/hub-server.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-name-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a download is told on one line, and what is there already on none", async () => {
  await using hub = new StandInHub({ "config.json": "{}", "model.safetensors": Buffer.alloc(2048) });
  const env = { HF_HOME: dir, HF_ENDPOINT: await hub.listen() };
  let said = "";
  const told = {
    say(text: string) {
      said += text;
    },
    isLive: true,
  };
  const folder = await modelFolder("org/tiny", { env }, told);
  expect(said).toMatch(/\rmodel\.safetensors {2}2\.0 KiB of 2\.0 KiB \(100 %\)\s*\n$/);
  said = "";
  expect(await modelFolder("org/tiny", { env }, told)).toBe(folder);
  expect(await modelFolder(dir, {}, told)).toBe(dir);
  expect(said).toBe("");
});

test("Ctrl-C is heard only meanwhile", async () => {
  const before = process.listenerCount("SIGINT");
  await expect(modelFolder("./nowhere")).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  expect(process.listenerCount("SIGINT")).toBe(before);
});

test("a run asks as its recipe says, any other model as its folder says", () => {
  const checkpoint = join(dir, "checkpoints/step-000001");
  mkdirSync(checkpoint, { recursive: true });
  const chatTemplate = { variables: { enable_thinking: false } };
  const config = { name: "r", chatTemplate, rollouts: { stopIds: [7] } };
  writeFileSync(join(dir, "run.json"), JSON.stringify({ schema: 1, config }));
  for (const name of [dir, checkpoint, `${dir}@1`])
    expect(chatOf(name)).toEqual({ ...chatTemplate, stopIds: [7] });
  expect(chatOf("org/tiny")).toEqual({});
});
