/** Loads the function of a custom objective from its module, calls it, and checks its results. */

import type {
  SlopesFunction,
  SlopesInput,
  SlopesModule,
  SlopesRequest,
  StepTokens,
} from "../../custom-objective.ts";
import { HoneError } from "../../errors.ts";
import { loadHashed } from "../../hashed-module.ts";

const USE = {
  what: "objective.slopes",
  code: "HONE_ERR_CONFIG",
  hint: "Every process that trains reads it from this path.",
} as const;

/**
 * The exported function of a module, cached once loaded. Throws HONE_ERR_CONFIG for a file that does not exist, has
 * another hash, cannot be imported, or exports no such function.
 */
export const loadSlopes = (module: SlopesModule): Promise<SlopesFunction> => loadHashed(module, USE);

/** Settings of the recipe's `objective` that a function receives. */
export type SlopesSettings = Pick<SlopesInput, "clipLow" | "clipHigh" | "sequenceWeight">;

/**
 * Calls the function for slopes and losses of a micro-batch. Returns true if each sequence has its own loss;
 * false if there is one loss for all, stored at one sequence. Throws HONE_ERR_OBJECTIVE naming the fault of
 * the result, or with the function's exception as its cause.
 */
export function askSlopes(
  slopes: SlopesFunction,
  { losses, ...request }: SlopesRequest,
  { clipLow, clipHigh, sequenceWeight }: SlopesSettings,
): boolean {
  const name = slopes.name || "objective.slopes";
  const tokens = request.out.length;
  const bounds = { clipLow: Math.fround(clipLow), clipHigh: Math.fround(clipHigh) };
  const answer = called(name, slopes, { ...request, ...bounds, sequenceWeight });
  if (request.out.length !== tokens) {
    throw fault(
      `${name} transferred the memory of \`out\`: it has ${request.out.length} entries instead of ${tokens}`,
    );
  }
  for (let t = 0; t < tokens; t++) {
    if (Number.isFinite(request.out[t])) continue;
    const sequence = sequenceOf(t, request.sequences);
    throw fault(`${name} gave token ${t} the slope ${request.out[t]}`, { token: t, sequence });
  }
  return takeLosses(name, answer, request.sequences, losses);
}

/**
 * Calls a function's `firstPass` on a step's tokens. Throws HONE_ERR_OBJECTIVE naming the fault of the result, or
 * with its exception as its cause.
 */
export function askFirstPass(slopes: SlopesFunction, tokens: StepTokens): Float64Array {
  const name = `${slopes.name || "objective.slopes"}.firstPass`;
  const bounds = { clipLow: Math.fround(tokens.clipLow), clipHigh: Math.fround(tokens.clipHigh) };
  const answer = called(name, slopes.firstPass!, { ...tokens, ...bounds });
  if (answer instanceof Promise) answer.catch(() => {}); // a promise is refused as a result; its rejection must not be unhandled
  const wanted = tokens.logprobs.length;
  if (!(answer instanceof Float64Array) || answer.length !== wanted)
    throw fault(`${name} must return a Float64Array of ${wanted}, a number for each token of the step`);
  const bad = answer.findIndex((one) => !Number.isFinite(Math.fround(one)));
  if (bad >= 0) throw fault(`${name} returned ${answer[bad]} for token ${bad}`, { token: bad });
  return answer;
}

function called<Input>(name: string, slopes: (input: Input) => unknown, input: Input): unknown {
  try {
    return slopes(input);
  } catch (cause) {
    throw fault(`${name} threw: ${cause instanceof Error ? cause.message : String(cause)}`, {}, cause);
  }
}

/** Stores a single loss at the first non-empty sequence, because the trainer adds up all losses. */
function takeLosses(name: string, answer: unknown, sequences: Int32Array, losses: Float64Array): boolean {
  const all = typeof answer === "number" ? [answer] : answer instanceof Float64Array ? answer : undefined;
  if (all === undefined) {
    // a promise is reported as a wrong result; its rejection must not be unhandled
    if (answer instanceof Promise) answer.catch(() => {});
    const what = answer instanceof Promise ? "a promise" : answer === null ? "null" : `${typeof answer}`;
    throw fault(
      `${name} returned ${what}; it must return the loss: a number, or a Float64Array of one a sequence`,
    );
  }
  if (typeof answer !== "number" && all.length !== losses.length) {
    throw fault(`${name} returned ${all.length} losses for ${losses.length} sequences`);
  }
  const bad = [...all].findIndex((loss) => !Number.isFinite(loss));
  if (bad >= 0) throw fault(`${name} returned the loss ${all[bad]}`, { sequence: bad });
  if (typeof answer !== "number") losses.set(all);
  else losses[losses.findIndex((_, i) => sequences[i + 1]! > sequences[i]!)] = answer;
  return typeof answer !== "number" || losses.length === 1;
}

function sequenceOf(token: number, sequences: Int32Array): number {
  return sequences.findIndex((begin) => begin > token) - 1;
}

function fault(message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown): HoneError {
  return new HoneError("HONE_ERR_OBJECTIVE", message, {
    details,
    ...(cause !== undefined && { cause }),
    hint: "The weights are those before the step. `hone check` tries the function on its own.",
  });
}
