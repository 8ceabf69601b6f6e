// Every argument of the command tree that takes a folder, with a command line for it.
import { join } from "node:path";
import type { Command } from "commander";
import { at, type Mark, step } from "./hostile-run.ts";

/** Verbs that wait for signals, or whose processes outlive a test. */
export const OWN_PROCESS = /^(?:run|agent|sweep)\b/;

/** How a test passes the folder to a verb, and what it expects. */
export interface Case {
  readonly args: (dir: string) => readonly string[];
  /** The modules that the verb runs with --trust; absent if it has no such option. */
  readonly runs?: readonly Mark[];
  /** The verb's exit code without --trust. Default: 0. */
  readonly ends?: number;
  /** True if another test covers the argument. */
  readonly apart?: true;
}

const MODEL = (verb: string, more: () => readonly string[]): Case => ({
  args: (dir) => [verb, "--model", dir, ...more()],
});
const PLAIN = (...words: string[]): Case => ({ args: (dir) => [...words, dir] });
const WITH = ["--set", 'hardware.processes={"actors":1,"trainers":1}'];

/** A case for each argument of the command tree that takes a folder. */
export const CASES: Readonly<Record<string, Case>> = {
  "run --dir": {
    args: (dir) => [
      "run",
      at("mine.mjs"),
      "--dir",
      dir,
      "--resume",
      "--set",
      "evaluation.problemsPerDomain=1",
    ],
  },
  "run --start-from": {
    args: (dir) => [
      "run",
      at("mine.mjs"),
      "--dir",
      at("fresh"),
      "--start-from",
      join(dir, "checkpoints/step-000006"),
    ],
  },
  "run --resume": {
    args: (dir) => ["run", at("mine.mjs"), "--dir", dir, "--resume", join(dir, "checkpoints/step-000005")],
  },
  "watch folder": { args: () => [], runs: ["slopes"], apart: true },
  "status run": PLAIN("status"),
  "plan recipe-or-model": { ...PLAIN("plan"), ends: 3 },
  "simulate --fit": { args: (dir) => ["simulate", at("mine.mjs"), "--fit", dir] },
  "simulate --answers": { args: (dir) => ["simulate", at("mine.mjs"), "--fit", dir, "--answers", dir] },
  "launch slurm --dir": {
    args: (dir) => ["launch", "slurm", at("mine.mjs"), ...WITH, "--nodes", "1", "--out", "-", "--dir", dir],
  },
  "launch kubernetes --dir": {
    args: (dir) => [
      "launch",
      "kubernetes",
      at("mine.mjs"),
      ...WITH,
      "--image",
      "i",
      "--claim",
      "c",
      "--out",
      "-",
      "--dir",
      dir,
    ],
  },
  "launch mpirun --dir": {
    args: (dir) => ["launch", "mpirun", at("mine.mjs"), ...WITH, "--out", "-", "--dir", dir],
  },
  "agent --dir": { args: (dir) => ["agent", at("mine.mjs"), ...WITH, "--dir", dir], ends: 78 },
  "data check recipe-or-data": { ...PLAIN("data", "check"), ends: 4 }, // held-out.json is not a file of rows
  "data count recipe-or-data": { ...PLAIN("data", "count"), ends: 4 },
  "init --model": {
    args: (dir) => [
      "init",
      at("new.ts"),
      "--model",
      dir,
      "--data",
      at("sums.jsonl"),
      "--reward",
      "math",
      "--yes",
    ],
    ends: 3,
  },
  "init --data": {
    args: (dir) => ["init", at("new.ts"), "--model", dir, "--data", dir, "--reward", "math", "--yes"],
    ends: 4,
  },
  "sweep --dir": {
    args: (dir) => ["sweep", at("mine.mjs"), "--seeds", "1", "--set", "training.steps=0", "--dir", dir],
  },
  "replay folder": { args: (dir) => ["replay", dir], runs: ["map", "slopes", "source"] },
  "report folder": PLAIN("report"),
  "runs folder": PLAIN("runs"),
  "diff a": { args: (dir) => ["diff", dir, dir] },
  "diff b": { args: (dir) => ["diff", dir, dir] },
  "track send run": { args: (dir) => ["track", "send", dir] },
  "track list run": PLAIN("track", "list"),
  "eval --model": MODEL("eval", () => [
    "--suite",
    "procedural/math",
    "--limit",
    "1",
    "--max-tokens",
    "4",
    "--out",
    at("evals"),
  ]),
  "eval --out": {
    args: (dir) => ["eval", "--model", dir, "--suite", "procedural/math", "--limit", "1", "--out", dir],
  },
  "eval --data": {
    args: (dir) => ["eval", "--model", dir, "--suite", "gsm8k", "--data", dir, "--out", at("evals2")],
    ends: 4,
  },
  "data useful evaluation": { args: (dir) => ["data", "useful", dir], ends: 2 },
  "compare first": { args: (dir) => ["compare", dir, dir], ends: 2 },
  "compare more": { args: (dir) => ["compare", dir, dir], ends: 2 },
  "traces first": PLAIN("traces"),
  "traces second": { args: (dir) => ["traces", dir, dir], ends: 2 },
  "traces --out": { args: (dir) => ["traces", dir, "--out", dir] },
  "rescore folder": { args: (dir) => ["rescore", dir, "--all"], runs: ["reward", "verifier"] },
  "rollouts folder": { args: (dir) => ["rollouts", dir, "--step", "1", "--json"] },
  "samples run": { args: (dir) => ["samples", dir, "--show"] },
  "explain folder": {
    args: (dir) => [
      "explain",
      dir,
      "--step",
      "2",
      "--problem",
      `${step.problem}`,
      "--attempt",
      `${step.attempt}`,
    ],
    runs: ["slopes"],
  },
  "generate --model": MODEL("generate", () => ["--prompt", "1+1", "--max-tokens", "2", "--raw"]),
  "inspect model": { ...PLAIN("inspect"), ends: 3 },
  "convert model": { args: (dir) => ["convert", dir, at("converted")] },
  "convert target": { args: (dir) => ["convert", join(dir, "checkpoints/step-000006"), dir], ends: 2 },
  "export --run": { args: (dir) => ["export", "--run", dir, "--out", at("exported")] },
  "export --out": { args: (dir) => ["export", "--run", dir, "--out", dir], ends: 2 },
  "push folder": { args: (dir) => ["push", dir, "org/name", "--dry-run"], ends: 3 },
  "score --model": MODEL("score", () => ["--file", at("ids.jsonl")]),
  "tokenize --model": MODEL("tokenize", () => ["--file", at("texts.jsonl")]),
};

/** Names of arguments and option values that are or may be a folder. */
export const FOLDERS =
  /^(?:folder|folder-or-name|source|run|evaluation|a|b|first|second|more|model|target|checkpoint|recipe-or-(?:data|model))$/;
/** Names of the others. A file that a verb runs (a recipe, a suite) is the user's own, which the verb trusts. */
export const OTHERS =
  /^(?:recipe|file|cases\.jsonl|ids\.jsonl|jsonl|path=value|name|names|number|n|n\|a\.\.b|id|k|t|p|d|s|step|which|kind|format|mode|address|url|seconds|seed|seeds|axes|axis|parts|limit|size|sizes|amount|actors|hosts|command|path|word|prompt|text|domain|shell|modules|module|device)$/;

interface Place {
  readonly name: string;
  readonly kind: string;
  readonly trusts: boolean;
}

/** Returns every argument and option of the command tree that takes a value. */
export function placesOf(command: Command, path: readonly string[] = []): Place[] {
  if (command.commands.length > 0)
    return command.commands.flatMap((one) => placesOf(one, [...path, one.name()]));
  const verb = path.join(" ");
  const trusts = command.options.some(({ long }) => long === "--trust");
  const flags = command.options.flatMap(({ long, flags }) => {
    const [, kind] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? [];
    return kind === undefined ? [] : [{ name: `${verb} ${long}`, kind, trusts }];
  });
  const own = command.registeredArguments.map((one) => ({
    name: `${verb} ${one.name()}`,
    kind: one.name(),
    trusts,
  }));
  return [...own, ...flags];
}
