import { z } from "zod";
import { fileHash } from "../trust.ts";
import { pythonPlace } from "../user-module.ts";
import { count, LONGEST_TIMER_MS } from "./numbers.ts";
import { variableNames } from "./variable-names.ts";

/** Something in a Python file, "rewards.py#accuracy"; `withFileHash` writes the hash beside it when the recipe is defined. */
export const inPython = {
  python: z.string().regex(/^[^#]+(?:#[^#]+)?$/, 'it must be a file and a name in it: "rewards.py#accuracy"'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "it must be a hash of the file")
    .optional(),
};

/** A zod refinement: without a hash, `withFileHash` found no file. */
export function checkFile(
  { sha256 }: { readonly sha256?: string | undefined },
  check: z.RefinementCtx,
): void {
  if (sha256 !== undefined) return;
  const message = `no such file relative to the working folder, ${process.cwd()}`;
  check.addIssue({ code: "custom", path: ["python"], message });
}

type Fields = Readonly<Record<string, unknown>>;

/** Adds the hash of the Python file, unless a record already has one or the file does not exist. */
export function withFileHash(choice: Fields, place: string): Fields {
  if (choice["sha256"] !== undefined) return choice;
  try {
    return { ...choice, sha256: fileHash(pythonPlace(place).file) };
  } catch {
    return choice;
  }
}

/** The Python interpreter that calls functions of Python files, and the number and environment of its processes. */
export const pythonSchema = z.strictObject({
  /** Command that starts Python: "python3", "./venv/bin/python", or with arguments ["uv", "run", "python"]. */
  bin: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).default("python3"),
  /** Environment variables passed to its processes, in addition to those that every program needs. */
  env: variableNames,
  /** Number of concurrent processes; each imports the file. */
  processes: count(256).default(1),
  /** Limit of one call, which rates a group or more. */
  timeoutSeconds: z
    .number()
    .min(0.001)
    .max(LONGEST_TIMER_MS / 1000)
    .default(60),
});

export type PythonSettings = Omit<z.output<typeof pythonSchema>, "bin"> & { readonly bin: readonly string[] };

/** A recipe's settings with every default, `bin` as a list. */
export function pythonSettings({
  python,
}: {
  readonly python?: z.output<typeof pythonSchema> | undefined;
}): PythonSettings {
  const { bin, ...rest } = pythonSchema.parse(python ?? {});
  return { ...rest, bin: typeof bin === "string" ? [bin] : bin };
}
