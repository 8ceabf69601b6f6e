import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ProceduralSource } from "../data/procedural-source.ts";
import type { DatasetKind } from "./datasets.ts";
import { asFamily } from "./logic/drawing/puzzle.ts";
import { PUZZLES } from "./logic/puzzles.ts";
import { I3_LOGIC_TASKS } from "./logic/read/i3-logic.ts";

const sums = (): unknown[] =>
  [2, 3, 5, 7, 11].map((n) => [
    { from: "human", value: `What is $${n}^2 + ${n}$?` },
    { from: "assistant", ground_truth: { value: String(n * n + n) } },
  ]);

const programs = (): unknown[] =>
  [2, 3, 4, 5, 6].map((factor) => ({
    question: `Read an integer and print ${factor} times its value.`,
    input_output: JSON.stringify({ inputs: ["1\n", "-3\n"], outputs: [`${factor}\n`, `${-3 * factor}\n`] }),
    difficulty: "EASY",
    solutions: JSON.stringify([`print(${factor} * int(input()))`]),
  }));

const wishes = (): unknown[] =>
  ["rivers", "clocks", "bread", "maps", "owls"].map((topic) => ({
    key: topic,
    messages: [{ role: "user", content: `Write about ${topic} in at least five words, without commas.` }],
    ground_truth:
      "[{'instruction_id': ['punctuation:no_comma', 'length_constraints:number_words'], 'kwargs': [None, {'relation': 'at least', 'num_words': 5}]}]",
  }));

/** Puzzles of our own in the published shape. */
function puzzles(): unknown[] {
  const known: readonly string[] = I3_LOGIC_TASKS;
  const source = new ProceduralSource(PUZZLES.filter(({ task }) => known.includes(task)).map(asFamily), 0, 0);
  return Array.from({ length: 5 }, (_, i) => {
    const { question, reference } = source.problem(i);
    return { question, info: JSON.stringify(reference) };
  });
}

const calls = (): unknown[] =>
  ["Lima", "Oslo", "Accra", "Quito", "Hanoi"].map((city, i) => ({
    id: `simple_python_${i}`,
    category: "simple_python",
    question: [[{ role: "user", content: `What is the weather in ${city}?` }]],
    function: [
      {
        name: "weather.now",
        description: "The weather in a city.",
        parameters: { type: "dict", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ],
    ground_truth: [{ "weather.now": { city: [city] } }],
  }));

/** A file name the reader takes, and a few rows made for this package in the shape of the published ones. */
const SAMPLES: Partial<Record<DatasetKind, readonly [file: string, rows: () => unknown[]]>> = {
  "open-reasoner-zero": ["train.jsonl", sums],
  taco: ["train.jsonl", programs],
  "if-rlvr": ["train.jsonl", wishes],
  "i3-logic": ["train.jsonl", puzzles],
  bfcl: ["simple_python.jsonl", calls],
};

/**
 * Writes a few rows of a training set into a folder of its own below `folder`, to try its reader, prompts and verifier
 * where the set itself is not at hand. Returns that folder; undefined for a kind without rows (the benchmarks).
 */
export function writeSampleRows(kind: DatasetKind, folder: string): string | undefined {
  const found = SAMPLES[kind];
  if (found === undefined) return undefined;
  const [file, rows] = found;
  const path = join(folder, kind, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    rows()
      .map((row) => JSON.stringify(row))
      .join("\n"),
  );
  return dirname(path);
}
