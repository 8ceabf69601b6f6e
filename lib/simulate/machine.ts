import { z } from "zod";
import { HoneError } from "../errors.ts";
import { readJson } from "../metrics/index.ts";

const seconds = () => z.number().min(0);
const positive = () => z.number().positive();

/** A positive random quantity of mean `mean`, lognormal; its standard deviation is cv times the mean. */
const spreadSchema = z.strictObject({ mean: positive(), cv: z.number().min(0) });

const workloadSchema = z.strictObject({
  /** Tokens of an answer before it is cut at rollouts.maxOutputTokens. */
  length: spreadSchema,
  /** Fraction of the variance of log length that is due to the problem: attempts at one problem are correlated. */
  alike: z.number().min(0).max(1).default(0.3),
  promptTokens: positive(),
  /** Share of groups that the filter leaves to be trained on. */
  keep: positive().max(1),
  /** Seconds of a worker for a verdict. */
  verify: spreadSchema,
});

export const machineSchema = z.strictObject({
  /** Source of the numbers, for display. */
  from: z.string(),
  /** Devices that generate, each with an engine, and devices that train; one that does both counts as both. */
  actors: z.int().positive(),
  trainers: z.int().positive(),
  /** Number of GPUs of the machine, which may be 0. */
  gpus: z.int().min(0),
  actor: z.strictObject({
    maxRunning: z.int().positive(),
    /** Number of tokens whose keys and values the engine can hold. */
    keyValueTokens: positive(),
    /** Seconds of a step of generation: fixed + perSequence B + perContextToken C (docs/how-to/simulate.md). */
    decode: z.strictObject({
      fixed: seconds(),
      perSequence: seconds(),
      perContextToken: seconds(),
    }),
    /** Seconds per token of a prompt. */
    prefillPerToken: seconds(),
    /** Seconds of decoding lost while an engine takes new weights. */
    updatePause: seconds(),
    /** Seconds to move a token's keys and values to host memory or back. */
    swapPerToken: seconds().default(0),
    /** Relative speed of an engine while a step trains: 1 if no hardware is shared. */
    speedDuringStep: positive().max(1).default(1),
  }),
  trainer: z.strictObject({
    /** Seconds of an optimizer step of all trainers together. */
    fixed: seconds(),
    perToken: seconds(),
    /** Attention: seconds per square of a sequence's length. */
    perSquaredToken: seconds().default(0),
    /** Time from the end of a step until the next batch is requested. */
    between: seconds().default(0),
    /**
     * A weight update: bytes of the weights, and seconds from the end of a step until the actors have them, in which
     * they begin no group. Without it a step's time includes the update.
     */
    update: z.strictObject({ bytes: z.number().min(0), seconds: seconds() }).optional(),
  }),
  /** Cores of one machine that engines and trainer share; without this field each of them has a machine of its own. */
  shared: z
    .strictObject({
      cores: positive(),
      /** Cores used by a busy engine, and by a step of the trainer. */
      engine: positive(),
      trainer: positive(),
      /**
       * Cost of a group outside the engine (messages, accounting, verdicts) in seconds, and on how many cores; groups
       * are served one after the other for all engines, since one process does the accounting.
       */
      perGroup: seconds(),
      service: positive(),
      /** Seconds that the trainer needs in each step to give one engine the weights. */
      update: seconds(),
    })
    .optional(),
  verifierWorkers: z.int().positive(),
  /** An engine fails every `mtbf` seconds on average and returns after `restart`; its work starts again. */
  failures: z.strictObject({ mtbf: positive(), restart: seconds() }).optional(),
  domains: z.record(z.string(), workloadSchema),
});

/** Durations of a machine's operations, and statistics of a run's answers. */
export type Machine = z.output<typeof machineSchema>;
export type Workload = Machine["domains"][string];
export type Spread = z.output<typeof spreadSchema>;

/** Reads a machine file. Throws HONE_ERR_IO, or HONE_ERR_FORMAT naming every wrong field. */
export function readMachine(path: string): Machine {
  const parsed = machineSchema.safeParse(readJson(path));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path: at, message }) => `${at.join(".") || "all"}: ${message}`);
  throw new HoneError("HONE_ERR_FORMAT", `${path} is not a machine file: ${faults.join("; ")}`, {
    hint: "`hone simulate <recipe> --json` prints one as `machine`.",
  });
}

/** Throws HONE_ERR_USAGE naming the domains of a recipe that the machine does not describe. */
export function expectDomains(machine: Machine, domains: readonly string[]): void {
  const missing = domains.filter((domain) => !Object.hasOwn(machine.domains, domain));
  if (missing.length === 0) return;
  throw new HoneError("HONE_ERR_USAGE", `the machine has no lengths of answers for ${missing.join(", ")}`, {
    hint: "Take them from a run (`--fit <run folder>`), or write them in a file (`--machine`, docs/how-to/simulate.md).",
  });
}
