import { type Command, Option } from "commander";

/** Adds one command to the program; `ends` turns its action's number into the exit code. */
export type Verb = (hone: Command, ends: Ends) => void;

export type Ends = <A extends unknown[]>(
  action: (...args: A) => Promise<number>,
) => (...args: A) => Promise<void>;

export interface Common {
  readonly json?: boolean;
}

export const SETTING = "--set <path=value>";
/** An option of every command that reads a model; lib/inference/model-facts.ts applies it. */
export const STRICT_CONFIG = [
  "--strict-config",
  "refuse unknown fields of the model's config.json instead of warning",
] as const;
/** An option of commands that sample from a model or score with it. @param fallback the behaviour without it */
export const weightsOption = (fallback = "as config.json says"): Option =>
  new Option(
    "--weights <name>",
    `storage type of matrices, keys and values on the CPU (default: ${fallback}); bf16 multiplies in bf16 where the processor can`,
  ).choices(["f32", "bf16"]);
export const collect = (value: string, before: readonly string[]): string[] => [...before, value];

/** Prints a result to stdout: as text or, with --json, only as a JSON value. */
export function print({ json }: Common, value: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text}\n`);
}
