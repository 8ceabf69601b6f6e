// Makes a run folder from an unknown source, whose modules create a mark when they run, and runs commands on it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { createRun, readRolloutRecord } from "../../lib/orchestration/index.ts";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { patient } from "../patience.ts";
import { tinyInput } from "./tiny-recipe.ts";

/** The modules by their role in a recipe; each writes a file of its name into `marks` when it runs. */
const CODE = {
  source: `const rows = ["one", "two", "three"];
    export const openSource = () => ({
      domain: "words", heldOutCount: 1, report: undefined,
      problem: (index) => ({ id: index % 3, domain: "words", family: "words", level: 0, question: rows[index % 3], verifier: "own", reference: "x" }),
      heldOut: () => ({ id: 7, domain: "words", family: "words", level: 0, question: "seven", verifier: "own", reference: "x" }),
    });`,
  verifier: `export default { name: "own", version: 1, parseReference: (x) => x,
    verify: ({ text }) => text.length % 2 ? { status: "correct", score: 1, reason: "odd" } : { status: "wrong", score: 0, reason: "even" } };`,
  map: "export default ({ text, n }) => ({ question: text, reference: n });",
  reward: "export default ({ completion }) => (completion.length % 3 === 0 ? 1 : 0);",
  slopes: `export default function mine({ out, sequences }) {
      for (let s = 0; s + 1 < sequences.length; s++) for (let t = sequences[s]; t < sequences[s + 1]; t++) out[t] = -1e-3;
      return 0.5;
    }`,
} as const;
export type Mark = keyof typeof CODE;
/** Enough steps for hone simulate --fit. */
const STEPS = 6;

const home = mkdtempSync(join(tmpdir(), "hone-hostile-"));
export const at = (...names: string[]) => join(home, ...names);
export const run = at("run");
/** A rollout of the recorded run's second step, for hone explain. */
export const step = { problem: 0, attempt: 0 };
/** The modules that have run since the last test. */
export const marks = (): string[] => readdirSync(at("marks")).sort();
export const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Record<string, never>;

/** Writes a module of the user's own with the same code at another path; it creates no mark. */
function quiet(name: Mark): string {
  writeFileSync(at(`own-${name}.mjs`), CODE[name]);
  return at(`own-${name}.mjs`);
}

function module(name: Mark): string {
  const mark = JSON.stringify(at("marks", name));
  writeFileSync(
    at(`${name}.mjs`),
    `import { writeFileSync } from "node:fs"; writeFileSync(${mark}, "");\n${CODE[name]}`,
  );
  return at(`${name}.mjs`);
}

function recipeWith(place: (name: Mark) => string, steps = STEPS): RecipeInput {
  const input = tinyInput({ steps, schedule: "sync" });
  return {
    ...input,
    domains: {
      math: { weight: 0.5, source: "procedural/math", reward: place("reward") },
      words: { weight: 0.5, source: place("source") },
    },
    warmStart: { steps: 2, batchSize: 8, mixture: { math: 1 } },
    advantages: { divideBy: "none", filter: "none" },
    objective: { kind: "custom", slopes: place("slopes") },
    verification: { modules: { own: place("verifier") } },
    evaluation: {
      problemsPerDomain: 2,
      sets: {
        rows: { source: { kind: "jsonl", path: at("rows.jsonl"), verifier: "own", map: place("map") } },
      },
    },
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 1 },
  };
}

/** Records a run with these modules; a user who receives the folder must not run them. */
export async function recordRun(): Promise<void> {
  mkdirSync(at("marks"));
  writeFileSync(at("rows.jsonl"), '{"text": "seven", "n": 7}\n');
  await using trained = await createRun(defineRecipe(recipeWith(module)), { dir: run });
  await trained.finished;
  for await (const line of readRolloutRecord(run, 2)) {
    if (!("rollouts" in line)) continue;
    Object.assign(step, { problem: line.problem, attempt: line.rollouts[0]!.attempt });
    break;
  }
  writeFileSync(at("mine.mjs"), `export default ${JSON.stringify(recipeWith(quiet, STEPS + 1))};`);
  writeFileSync(at("ids.jsonl"), '{"ids": [1, 2, 3]}\n');
  writeFileSync(at("sums.jsonl"), '{"question": "1 + 1", "answer": "2"}\n');
  writeFileSync(at("texts.jsonl"), '{"text": "a"}\n');
}

export const removeAll = (): void => rmSync(home, { recursive: true, force: true });

export function clearMarks(): void {
  for (const mark of marks()) rmSync(at("marks", mark));
}

interface Outcome {
  readonly status: number | null;
  readonly said: string;
}

export const SECRETS = { HF_TOKEN: "hf_secret", HONE_ENDPOINT_KEY: "sk-secret" };

export function hone(args: readonly string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...HONE, ...args], {
    encoding: "utf8",
    cwd: home,
    env: { ...process.env, ...SECRETS, HF_HUB_OFFLINE: "1" },
    timeout: patient(60_000),
  });
  return { status, said: `${stdout}\n${stderr}` };
}

/**
 * Runs the command in this process, which saves a second. A module that runs twice leaves a mark only the first time,
 * which is enough.
 */
export async function honeQuick(args: readonly string[]): Promise<Outcome> {
  const { status, stdout, stderr } = await honeHere(args, { ...SECRETS, HF_HUB_OFFLINE: "1" });
  return { status, said: `${stdout}\n${stderr}` };
}

/** The parts of a recorded recipe that a test changes. */
export interface Config {
  readonly domains: { readonly math: object; readonly words: object };
  readonly objective: object;
  readonly verification: object;
  readonly evaluation: { readonly sets: { readonly rows: { readonly source: object } } };
}

/** Copies the run and changes its record. */
export function tampered(change: (config: Config) => unknown, where = ["run.json", "events.jsonl"]): string {
  const dir = at("tampered");
  rmSync(dir, { recursive: true, force: true });
  cpSync(run, dir, { recursive: true });
  const changed = (config: unknown) => {
    change(config as Config);
    return config;
  };
  if (where.includes("run.json")) {
    const manifest = read(join(dir, "run.json"));
    writeFileSync(
      join(dir, "run.json"),
      JSON.stringify({ ...manifest, config: changed(manifest["config"]) }),
    );
  }
  if (!where.includes("events.jsonl")) return dir;
  const lines = readFileSync(join(dir, "events.jsonl"), "utf8").trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as { e: string; c?: unknown });
  for (const event of events) if (event.e === "start") changed(event.c);
  expect(events.some(({ e, c }) => e === "start" && c !== undefined)).toBe(true);
  writeFileSync(join(dir, "events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  return dir;
}
