import { z } from "zod";
import { count, LONGEST_TIMER_MS } from "./numbers.ts";
import { modulePlace } from "./reward.ts";
import { variableNames } from "./variable-names.ts";

/** Processes and user modules that judge completions. */
export const verificationSchema = z
  .strictObject({
    workers: count(64).default(1),
    timeoutMs: z.number().min(1).max(LONGEST_TIMER_MS).default(5_000),
    /** Verifiers of your own: name to a `.ts` or `.js` module, by URL or by a path from the working folder. */
    modules: z.record(z.string().min(1), modulePlace).default({}),
    /**
     * Environment variables for verifier modules and for rewards that are modules: the processes that run them get no
     * other secrets.
     */
    env: variableNames,
    /** Keep completions and verdicts in the run folder (verdicts.jsonl), for `hone rescore`. */
    journal: z.boolean().default(true),
  })
  .prefault({});
