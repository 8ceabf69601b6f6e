import { type Recipe, slopesFunction } from "../../config/index.ts";
import type { SlopesFunction, SlopesInput, SlopesRequest } from "../../custom-objective.ts";
import { HoneError } from "../../errors.ts";

type Objective = Recipe["objective"];

/**
 * What a custom objective's function is called through; undefined for a built-in objective. Throws HONE_ERR_USAGE where
 * the recipe knows its function by name alone, as one read from a run folder does.
 */
export function customSlopes(objective: Objective): ((request: SlopesRequest) => void) | undefined {
  if (objective.kind !== "custom") return undefined;
  const slopes = slopesFunction(objective);
  if (slopes === undefined) {
    throw new HoneError(
      "HONE_ERR_USAGE",
      `objective.slopes is the function ${objective.slopes?.function} of the run's entry script, which was not loaded`,
      { hint: "Give the recipe file as well: `--recipe FILE`." },
    );
  }
  return (request) => askSlopes(slopes, request, objective);
}

/**
 * Asks for slopes and losses of a micro-batch. Throws HONE_ERR_OBJECTIVE naming what is wrong with the answer, or with
 * what the function threw as its cause.
 */
export function askSlopes(
  slopes: SlopesFunction,
  { losses, ...request }: SlopesRequest,
  { clipLow, clipHigh, sequenceWeight }: Pick<Objective, "clipLow" | "clipHigh" | "sequenceWeight">,
): void {
  const name = slopes.name || "objective.slopes";
  const tokens = request.out.length;
  const bounds = { clipLow: Math.fround(clipLow), clipHigh: Math.fround(clipHigh) };
  const answer = called(name, slopes, { ...request, ...bounds, sequenceWeight });
  if (request.out.length !== tokens) {
    throw fault(
      `${name} gave the memory of \`out\` away: it has ${request.out.length} entries instead of ${tokens}`,
    );
  }
  for (let t = 0; t < tokens; t++) {
    if (Number.isFinite(request.out[t])) continue;
    const sequence = sequenceOf(t, request.sequences);
    throw fault(`${name} gave token ${t} the slope ${request.out[t]}`, { token: t, sequence });
  }
  takeLosses(name, answer, request.sequences, losses);
}

function called(name: string, slopes: SlopesFunction, input: SlopesInput): unknown {
  try {
    return slopes(input);
  } catch (cause) {
    throw fault(`${name} threw: ${cause instanceof Error ? cause.message : String(cause)}`, {}, cause);
  }
}

/** One number is the first sequence's that has tokens: the trainer adds them all up. */
function takeLosses(name: string, answer: unknown, sequences: Int32Array, losses: Float64Array): void {
  const all = typeof answer === "number" ? [answer] : answer instanceof Float64Array ? answer : undefined;
  if (all === undefined) {
    if (answer instanceof Promise) answer.catch(() => {}); // told of as a promise, whatever comes of it
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
