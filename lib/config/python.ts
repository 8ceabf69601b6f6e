import { z } from "zod";
import { count, LONGEST_TIMER_MS } from "./numbers.ts";
import { variableNames } from "./variable-names.ts";

/** The Python that calls functions of Python files, and its processes. */
export const pythonSchema = z.strictObject({
  /** Command that starts Python: "python3", "./venv/bin/python", or with arguments ["uv", "run", "python"]. */
  bin: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).default("python3"),
  /** Environment variables that its processes are given beside those that every program needs. */
  env: variableNames,
  /** Processes at the same time; each imports the file. */
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
