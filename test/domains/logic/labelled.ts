import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

/** Cases that the reference implementation labelled; [] if they are missing beside the checkout. */
export interface LabelledCase {
  readonly puzzle: string;
  readonly task: string;
  readonly kind: string;
  readonly response: string;
  readonly expected: string;
}

export const LABELLED_FOLDER = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data/logic");

function rows<T>(file: string): T[] {
  const path = resolve(LABELLED_FOLDER, file);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

export const labelledCases: readonly LabelledCase[] = rows("cases.jsonl");

export const labelledPuzzles: readonly {
  readonly id: string;
  readonly task: string;
  readonly game_data: Readonly<Record<string, unknown>>;
}[] = rows("puzzles.jsonl");
