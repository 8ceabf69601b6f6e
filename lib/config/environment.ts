import { createHash } from "node:crypto";
import { z } from "zod";
import { ENVIRONMENTS, type Environment } from "../domains/index.ts";
import { count, LONGEST_TIMER_MS, tokens } from "./numbers.ts";
import { checkFile, inPython, withFileHash } from "./python.ts";
import { sourceHash } from "./source-hash.ts";

/** An environment of the entry script as recorded in run.json: the names of its functions and a hash of their source. */
const writtenSchema = z.strictObject({
  functions: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "it must be a hash of the functions' source"),
  /** Functions of an environment; they exist in the main process only and are called there. */
  process: z.literal("main"),
  /**
   * Functions that the policy may call, as JSON, so that a replay without the object writes the same prompts.
   */
  tools: z.string().optional(),
});
type Written = z.output<typeof writtenSchema>;

/** A class of a Python file: "env.py#Env". */
const pythonSchema = z
  .strictObject({
    ...inPython,
    /** Functions that the policy may call, in JSON Schema, for chat templates that show them. */
    tools: z.array(z.record(z.string(), z.unknown())).optional(),
  })
  .superRefine(checkFile);
export type PythonWritten = z.output<typeof pythonSchema>;

const builtIn = z.enum(Object.keys(ENVIRONMENTS) as [string, ...string[]]);

/** Schema fields for the environment in which the problems of a domain or validation set are played over several turns. */
export const domainEnvironment = {
  /**
   * A built-in environment by name, an object of the entry script with reset, step and score, or a class of a
   * Python file (docs/how-to/environments.md).
   */
  environment: z.union([builtIn, writtenSchema, pythonSchema]).optional() as unknown as z.ZodOptional<
    z.ZodType<string | Written | PythonWritten, string | Written | PythonWritten | Environment>
  >,
  episode: z
    .strictObject({
      /** Maximum number of the policy's messages. */
      maxTurns: count(2 ** 16).default(8),
      /**
       * Maximum tokens of one message; `rollouts.maxOutputTokens` bounds the episode, observations included.
       */
      maxTurnTokens: tokens().optional(),
      /** Limit for the wall time of one call of the environment, in milliseconds. */
      timeoutMs: z.number().min(1).max(LONGEST_TIMER_MS).default(10_000),
    })
    .optional(),
};

/** Key under which the recipe's placeholder of an environment holds the object, in the process that received it. */
const OBJECT = Symbol.for("hone.recipe.environment");
const FUNCTIONS = ["reset", "step", "score"] as const;

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Environments of the entry script by domain or validation set. */
export type Environments = ReadonlyMap<string, Environment>;

/** A recipe's input with names and a hash in the place of every environment, which JSON cannot hold. */
export function takeEnvironments(input: unknown): {
  readonly plain: unknown;
  readonly environments: Environments;
} {
  const environments = new Map<string, Environment>();
  const plain = inPlayed(input, (name, one) => {
    const given = one["environment"];
    if (isFields(given) && typeof given["python"] === "string")
      return { ...one, environment: withFileHash(given, given["python"]) };
    const own = environmentIn(given);
    if (own === undefined) return one;
    environments.set(name, own);
    return { ...one, environment: writtenOf(own) };
  });
  return { plain, environments };
}

/** The inverse of takeEnvironments: puts environments back into a recipe that is to be defined again. */
export function putEnvironments<T>(input: T, { domains, evaluation }: Played): T {
  const written = { ...evaluation.sets, ...domains };
  return inPlayed(input, (name, one) => {
    const own =
      typeof one["environment"] === "string" ? undefined : environmentOf(written[name]?.environment);
    return own === undefined ? one : { ...one, environment: own };
  }) as T;
}

type Judged = Readonly<Record<string, { readonly environment?: string | object | undefined }>>;
type Played = { readonly domains: Judged; readonly evaluation: { readonly sets: Judged } };

/** A shallow copy in which `change` replaced every domain and validation set. No two of them have the same name. */
export function inPlayed(input: unknown, change: (name: string, one: Fields) => unknown): unknown {
  if (!isFields(input)) return input;
  const changed = (all: Fields) =>
    Object.fromEntries(
      Object.entries(all).map(([name, one]) => [name, isFields(one) ? change(name, one) : one]),
    );
  const { domains, evaluation } = input;
  return {
    ...input,
    ...(isFields(domains) && { domains: changed(domains) }),
    ...(isFields(evaluation) &&
      isFields(evaluation["sets"]) && { evaluation: { ...evaluation, sets: changed(evaluation["sets"]) } }),
  };
}

function environmentIn(value: unknown): Environment | undefined {
  if (!isFields(value)) return undefined;
  const kept = (value as { [OBJECT]?: Environment })[OBJECT];
  if (kept !== undefined) return kept;
  return FUNCTIONS.every((name) => typeof value[name] === "function")
    ? (value as unknown as Environment)
    : undefined;
}

function writtenOf(environment: Environment): Written {
  const names = environment.expert === undefined ? FUNCTIONS : ([...FUNCTIONS, "expert"] as const);
  const joined = names.map((name) => sourceHash(environment[name] as Environment["step"])).join();
  const sha256 = createHash("sha256").update(joined).digest("hex");
  const tools = environment.tools && { tools: JSON.stringify(environment.tools) };
  return { functions: names.join(), sha256, process: "main", ...tools };
}

/** True if a recipe's environment has an expert, even if its object is not in this process. */
export function hasExpert(written: string | object): boolean {
  if (typeof written === "string") return ENVIRONMENTS[written]?.expert !== undefined;
  return !inPythonFile(written) && (written as Written).functions.split(",").includes("expert");
}

/** True if a recipe's environment is a class of a Python file. */
export const inPythonFile = (written: string | object): written is PythonWritten =>
  typeof written === "object" && "python" in written;

/** Attaches environments to a defined recipe's domains and validation sets. */
export function keepEnvironments({ domains, evaluation }: Played, environments: Environments): void {
  for (const [name, value] of environments) {
    const written = (domains[name] ?? evaluation.sets[name])?.environment;
    if (typeof written === "object") Object.defineProperty(written, OBJECT, { value });
  }
}

/** Environment of a domain; undefined if it has none or its object is not in this process. */
export function environmentOf(written: string | object | undefined): Environment | undefined {
  if (typeof written === "string") return ENVIRONMENTS[written];
  return (written as { [OBJECT]?: Environment } | undefined)?.[OBJECT];
}
