import { chmodSync } from "node:fs";
import { join, resolve } from "node:path";
import { expectRoles, type Recipe } from "../config/index.ts";
import { devicesANode, type Job, type JobFile, placeProcesses } from "../launch/index.ts";
import { writeWhole } from "../metrics/index.ts";
import { honeCommand } from "./hone-command.ts";

/** Options of `hone launch` for every launcher. */
export interface LaunchFlags {
  /** Default: the number in the recipe. */
  readonly nodes?: number;
  readonly name?: string;
  readonly dir?: string;
  readonly store?: string;
  readonly set: readonly string[];
  readonly grace: number;
  readonly restarts: number;
  readonly out?: string;
  /** Beginning of the command on a node. */
  readonly hone?: string;
  /** Path of the recipe on the nodes, if it differs from the path on this machine. */
  readonly recipeThere?: string;
  /** Parent folder of `dir` unless that is given. Default "runs". */
  readonly runs?: string;
}

/**
 * Data of a job file. Keeps paths as they are on this machine, so every node must see them under the same names.
 * Throws HONE_ERR_USAGE if the recipe does not give the numbers of sampling and training processes, or a node would
 * be idle.
 */
export function jobOf(recipe: Recipe, file: string, flags: LaunchFlags): Job {
  const { nodes = recipe.hardware?.nodes ?? 1, grace, restarts, store, hone } = flags;
  const placements = placeProcesses(expectRoles(recipe), nodes);
  const dir = resolve(flags.dir ?? join(flags.runs ?? "runs", recipe.name));
  const settings = flags.set.flatMap((setting) => ["--set", setting]);
  return {
    name: flags.name ?? recipe.name.toLowerCase(),
    nodes,
    gpusPerNode: needsGpus(recipe) ? devicesANode(placements) : 0,
    hone: hone === undefined ? honeCommand() : hone.split(" "),
    agent: [flags.recipeThere ?? resolve(file), "--dir", dir, ...settings],
    dir,
    ...(store !== undefined && { store }),
    graceSeconds: grace,
    maxRestarts: restarts,
  };
}

/** True if a recipe needs GPUs: it sets the device, or counts GPUs. */
export const needsGpus = ({ device, hardware }: Recipe): boolean =>
  device !== "cpu" || (hardware?.gpus ?? 1) > 1;

/** Writes the file; prints the commands that submit it. */
export function writeJob({ text, submit }: JobFile, path: string): string {
  if (path === "-") return text;
  writeWhole(path, text);
  if (text.startsWith("#!")) chmodSync(path, 0o755);
  return [`wrote ${path}; submit it:`, ...submit(path).map((line) => `  ${line}`)].join("\n");
}
