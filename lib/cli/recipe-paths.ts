import { existsSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { isModulePlace } from "../user-module.ts";

type Fields = Readonly<Record<string, unknown>>;
type Change = (value: unknown) => unknown;

/** Fields of a recipe that name files, by path; * stands for every name of an object and every index of a list. */
const PATHS = [
  "model.folder",
  "model.adapter",
  "chatTemplate.file",
  "python.bin",
  "objective.slopes",
  "verification.modules.*",
  ...["domains.*", "evaluation.sets.*"].flatMap((judged) => [
    `${judged}.source`,
    `${judged}.source.path`,
    `${judged}.source.path.*`,
    `${judged}.source.drops`,
    `${judged}.source.heldOut`,
    `${judged}.source.map`,
    `${judged}.reward`,
    `${judged}.reward.python`,
    `${judged}.rewards.*.reward`,
    `${judged}.rewards.*.reward.python`,
    `${judged}.environment.python`,
  ]),
];

/**
 * Resolves relative paths of a recipe against its file first and the working folder second. Rewrites paths that exist
 * to be relative to the working folder, as a script of the same recipe would write them.
 */
export function besideFile(recipe: unknown, file: string): unknown {
  const folder = dirname(resolve(file));
  if (folder === process.cwd()) return recipe;
  return PATHS.reduce((at, path) => changed(at, path.split("."), (value) => found(value, folder)), recipe);
}

/** A copy with the values at a path changed; a missing value stays missing. */
function changed(value: unknown, [key, ...rest]: readonly string[], change: Change): unknown {
  if (key === undefined) return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return key === "*" ? value.map((one) => changed(one, rest, change)) : value;
  const fields = value as Fields;
  const keys = key === "*" ? Object.keys(fields) : Object.hasOwn(fields, key) ? [key] : [];
  const own = keys.map((name) => [name, changed(fields[name], rest, change)] as const);
  return Object.fromEntries([...Object.entries(fields), ...own]);
}

/**
 * Rewrites the path in "kind:path#name" relative to the working folder; returns the text unchanged if the recipe's
 * folder has no such file.
 */
function found(value: unknown, folder: string): unknown {
  if (typeof value !== "string") return value;
  const [, kind = "", path = "", name = ""] =
    /^((?!file:|hf:)[\w-]+:(?!\/\/))?([^#]*)(#.*)?$/s.exec(value) ?? [];
  const there = resolve(folder, path);
  if (path === "" || isAbsolute(path) || /^(?:hf|file):/.test(path) || !existsSync(there)) return value;
  const seen = relative("", there);
  return `${kind}${isModulePlace(path) && !isModulePlace(seen) ? "./" : ""}${seen}${name}`;
}
