import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exportRun } from "../../lib/cli/export-run.ts";
import { writeRunManifest } from "../../lib/metrics/index.ts";
import { Trainer } from "../../lib/native/index.ts";
import { readFolder } from "../fixtures/safetensors.ts";
import { modelConfig, trainerOptions } from "../native/small-model.ts";

let dir: string;
let run: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-export-"));
  run = join(dir, "run");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const manifest = (model: object) =>
  writeRunManifest(run, { name: "r", config: { model }, seeds: {}, versions: {} });

async function checkpoint(name: string, seed: bigint): Promise<string> {
  const path = join(run, "checkpoints", name);
  mkdirSync(join(run, "checkpoints"), { recursive: true });
  const trainer = new Trainer(modelConfig, trainerOptions);
  await trainer.initialize(seed);
  await trainer.save(path, "");
  await trainer.close();
  return path;
}

const never = () => Promise.reject(new Error("asked for a folder"));

describe("a run from random weights", () => {
  test("gives its newest checkpoint as a model of its own", async () => {
    manifest({ config: { width: 16 } });
    await checkpoint("step-000002", 2n);
    const newest = await checkpoint("step-000010", 10n);
    await checkpoint("warm-start", 0n);
    const report = await exportRun({ run, target: join(dir, "out") }, never);
    expect(report.checkpoint).toBe(newest);
    expect(report).not.toHaveProperty("source");
    expect(readdirSync(join(dir, "out")).sort()).toEqual(["config.json", "model.safetensors"]);
    expect(readFolder(join(dir, "out"))).toEqual(modelTensors(newest));
  });

  test("or the one that is named", async () => {
    manifest({});
    const first = await checkpoint("step-000002", 2n);
    await checkpoint("step-000010", 10n);
    const options = { run, checkpoint: "step-000002", target: join(dir, "out"), dtype: "f32" as const };
    expect((await exportRun(options, never)).checkpoint).toBe(first);
    expect(readFolder(join(dir, "out"))).toEqual(modelTensors(first));
  });
});

/** Without the moments beside them. */
function modelTensors(folder: string) {
  return new Map([...readFolder(folder)].filter(([name]) => !/^[mv]\./.test(name)));
}

test("a run that went on from a model is written as that model", async () => {
  manifest({ folder: "org/base" });
  const base = await checkpoint("step-000001", 1n);
  const source = join(dir, "base");
  mkdirSync(source);
  for (const name of ["config.json", "model.safetensors"])
    writeFileSync(
      join(source, name),
      await import("node:fs").then(({ readFileSync }) => readFileSync(join(base, name))),
    );
  writeFileSync(join(source, "tokenizer.json"), "{}");
  const trained = await checkpoint("step-000005", 5n);
  const asked: string[] = [];
  const report = await exportRun({ run, target: join(dir, "out") }, async (name) => {
    asked.push(name);
    return source;
  });
  expect(asked).toEqual(["org/base"]);
  expect(report).toMatchObject({ source, checkpoint: trained, copied: ["config.json", "tokenizer.json"] });
  expect(readFolder(join(dir, "out"))).toEqual(modelTensors(trained));
});

describe("what is not there is named", () => {
  test("the run", async () => {
    await expect(exportRun({ run, target: join(dir, "out") }, never)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
    });
  });

  test("a checkpoint", async () => {
    manifest({});
    await expect(exportRun({ run, target: join(dir, "out") }, never)).rejects.toMatchObject({
      code: "HONE_ERR_CHECKPOINT",
      hint: "The run saved none yet.",
    });
    await checkpoint("step-000002", 2n);
    for (const wanted of ["step-000003", "../../x", ".."])
      await expect(
        exportRun({ run, checkpoint: wanted, target: join(dir, "out") }, never),
      ).rejects.toMatchObject({
        code: "HONE_ERR_CHECKPOINT",
        hint: "There: step-000002.",
      });
  });
});
