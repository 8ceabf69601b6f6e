/** Reads labelled cases beside the checkout; returns none if they are missing. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

export const CASE_FOLDER = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data/ifeval");

export function sharedRows<T>(file: string): T[] {
  const path = resolve(CASE_FOLDER, file);
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
