import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exportRun, exportText } from "../../lib/cli/export-run.ts";
import { generate } from "../../lib/cli/generate.ts";
import { modelFolder } from "../../lib/cli/model-name.ts";
import { defineRecipe } from "../../lib/config/index.ts";
import { QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { type Scoreboard, writeValidations } from "../../lib/evaluation/index.ts";
import { writeRunManifest } from "../../lib/metrics/index.ts";
import { Trainer } from "../../lib/native/index.ts";
import { checkpointName, newModelConfig } from "../../lib/orchestration/index.ts";
import { LexiconTokenizer } from "../../lib/text/index.ts";
import { minimal } from "../config/recipes.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { readFolder } from "../fixtures/safetensors.ts";
import { modelConfig, trainerOptions } from "../native/small-model.ts";

let dir: string;
let run: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-export-"));
  run = join(dir, "run");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Writes the run.json of a run whose model lacks the procedural vocabulary, unless a test asks for it. */
const manifest = (model: object, tokenizer = "model") => {
  const config = { ...defineRecipe(minimal()), tokenizer, model };
  return writeRunManifest(run, { name: "r", config, seeds: {}, versions: {} });
};

async function checkpoint(name: string, seed: bigint, config = modelConfig): Promise<string> {
  const path = join(run, "checkpoints", name);
  mkdirSync(join(run, "checkpoints"), { recursive: true });
  const trainer = new Trainer(config, trainerOptions);
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
    expect(readdirSync(join(dir, "out")).sort()).toEqual(["README.md", "config.json", "model.safetensors"]);
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

test("hone export takes a step by its number, or the best of those that were evaluated", async () => {
  manifest({ config: { width: 16 } });
  for (const step of [2, 4, 10]) await checkpoint(checkpointName(step), BigInt(step));
  const scores = [
    [2, 0.5],
    [4, 0.7],
    [10, 0.6],
  ] as const;
  writeValidations(
    join(run, "validation.json"),
    scores.map(([step, score]) => {
      const boards = [{ mean: { score, standardError: 0 } }] as unknown as Scoreboard[];
      return { step, version: step, seconds: 1, tokens: 1, boards, problems: [] };
    }),
  );
  const exported = async (...which: string[]) => {
    const out = join(dir, `out ${which.join(" ")}`);
    const words = ["export", "--run", run, "--out", out, ...which, "--json"];
    const { status, stdout, stderr } = await honeHere(words);
    return status === 0 ? basename((JSON.parse(stdout) as { checkpoint: string }).checkpoint) : stderr;
  };
  expect(await exported("--step", "best")).toBe("step-000004");
  expect(await exported("--step", "2")).toBe("step-000002");
  expect(await exported("--step", "3")).toContain("has no step-000003");
  expect(await exported("--step", "2", "--checkpoint", "step-000004")).toContain("cannot be used with");
});

/** The model's tensors, without the optimizer's moments. */
function modelTensors(folder: string) {
  return new Map([...readFolder(folder)].filter(([name]) => !/^[mv]\./.test(name)));
}

test("a run that went on from a model is written as that model", async () => {
  manifest({ folder: "org/base" });
  const base = await checkpoint("step-000001", 1n);
  const source = join(dir, "base");
  mkdirSync(source);
  for (const name of ["config.json", "model.safetensors"])
    writeFileSync(join(source, name), readFileSync(join(base, name)));
  writeFileSync(join(source, "tokenizer.json"), "{}");
  writeFileSync(join(source, "README.md"), "---\nlicense: apache-2.0\n---\n# The base, which scores 99\n");
  const trained = await checkpoint("step-000005", 5n);
  const asked: string[] = [];
  const report = await exportRun({ run, target: join(dir, "out") }, async (name) => {
    asked.push(name);
    return source;
  });
  expect(asked).toEqual(["org/base"]);
  expect(report).toMatchObject({ source, checkpoint: trained, copied: ["config.json", "tokenizer.json"] });
  expect(readFolder(join(dir, "out"))).toEqual(modelTensors(trained));
  const card = readFileSync(join(dir, "out", "README.md"), "utf8");
  expect(card).not.toContain("The base, which scores 99");
  expect(card).toMatch(/^---\nbase_model: "org\/base"\nlicense: apache-2.0\n/);
  expect(card).toContain("step-000005, objective gspo, learning rate 0.00025");
  expect(card).toContain("| math | 1 | `procedural/math` |");
  expect(card).toContain("the run ended before its closing evaluation");
});

test("a step too small for bf16 is told with both figures, a model that did not change too", async () => {
  manifest({ folder: "org/base" });
  const trained = await checkpoint("step-000005", 5n);
  const source = join(dir, "base");
  const shifted = (difference: number) => {
    cpSync(trained, source, { recursive: true });
    const bytes = readFileSync(join(source, "model.safetensors"));
    const start = 8 + Number(bytes.readBigUInt64LE());
    for (let at = start; at < bytes.length; at += 4)
      bytes.writeUInt32LE(bytes.readUInt32LE(at) + difference, at);
    writeFileSync(join(source, "model.safetensors"), bytes);
  };
  const exported = (options: object) =>
    exportRun({ run, target: join(dir, "out"), force: true, ...options }, async () => source);
  shifted(300); // changes the mantissa's low bits, which bf16 drops
  const half = await exported({ dtype: "bf16" });
  expect(half.changeInF32!.changed).toBe(half.changeInF32!.weights);
  expect(half.change!.changed).toBeLessThan(half.change!.weights / 100);
  expect(exportText(half, "1 MiB")).toMatch(
    /% of [\d,]+ weights differ from .*base\nwarning: in f32 100\.0 % of the weights differ: rounding .* --dtype f32 keeps them$/s,
  );
  expect(exportText(await exported({}), "")).not.toContain("warning");
  shifted(0);
  expect(exportText(await exported({}), "")).toMatch(/warning: none of [\d,]+ weights differs/);
});

test("a model of the procedural vocabulary gets a tokenizer, and answers by its run folder or what was exported", async () => {
  const { model } = defineRecipe(minimal());
  const lexicon = new LexiconTokenizer(QUICKSTART_LEXICON);
  manifest(model, "lexicon/quickstart");
  const path = await checkpoint("step-000003", 3n, newModelConfig(model.config!, lexicon.vocabularySize));
  await exportRun({ run, target: join(dir, "out") }, never);
  const request = {
    prompt: "Solve 2x+1=0 mod 3",
    raw: false,
    sampling: { temperature: 1 },
    maxTokens: 8,
    seed: 1n,
  };
  const answers = [];
  for (const named of [join(dir, "out"), run, path]) {
    const directory = await modelFolder(named);
    answers.push(await generate({ ...request, directory }, () => {}));
  }
  const prompt = [lexicon.special.bos, ...lexicon.encode(request.prompt)];
  for (const { promptIds, ids } of answers) {
    expect(promptIds).toEqual(prompt);
    expect(ids).toEqual(answers[0]!.ids);
  }
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
      hint: "The run has saved no checkpoint yet.",
    });
    await checkpoint("step-000002", 2n);
    for (const wanted of ["step-000003", "../../x", ".."])
      await expect(
        exportRun({ run, checkpoint: wanted, target: join(dir, "out") }, never),
      ).rejects.toMatchObject({
        code: "HONE_ERR_CHECKPOINT",
        hint: "The run has step-000002.",
      });
  });
});
