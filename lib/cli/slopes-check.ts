import type { SlopesFunction, SlopesRequest } from "../custom-objective.ts";
import { HoneError } from "../errors.ts";
import { CounterRandom } from "../random.ts";
import { askFirstPass, askSlopes, type SlopesSettings } from "../shared/objectives/slopes-function.ts";

/** Comparison of a custom objective's slopes with differences of its loss. */
export interface SlopesFinding {
  readonly ok: boolean;
  readonly said: string;
}

/** Log-probs of the policy and of the sampler: the inputs that the differences vary. */
interface Point {
  readonly logprobs: Float64Array;
  readonly behaviorLogprobs: Float64Array;
}

const STEP = 1e-6;
/** Allowed error relative to the largest slope; for a smooth loss f64 differences are a hundred times closer. */
const TOLERANCE = 1e-5;
/** If the two one-sided differences differ by more than this fraction of the largest slope, the loss has a kink there. */
const KINK = 1e-3;
/** Spread of log-ratios, by sequence: within every clip range, at the edge of a narrow one, across wide ones. */
const SPREADS = [1e-4, 4e-3, 0.3];

/**
 * Compares a custom objective's slopes with central differences of the loss it returns, in f64, on a made-up
 * micro-batch of uneven sequences, one of them empty. If an objective stops the gradient through its ratios,
 * as CISPO does, the differences shift the behaviour log-probs as well, which keeps the ratios constant.
 * Tokens near a kink are left out.
 */
export function checkSlopes(slopes: SlopesFunction, settings: SlopesSettings): SlopesFinding {
  try {
    const batch = weighed(slopes, settings, madeUp());
    const { out } = ask(slopes, settings, batch, batch);
    const again = ask(slopes, settings, batch, batch).out;
    const other = out.findIndex((slope, t) => !Object.is(slope, again[t]));
    if (other >= 0)
      return fault(
        `two calls with equal arguments gave token ${other} the slopes ${out[other]} and ${again[other]}`,
      );
    return judge(out, (t, along) => difference(slopes, settings, batch, t, along));
  } catch (error) {
    if (HoneError.is(error)) return fault(error.message);
    throw error;
  }
}

const fault = (said: string): SlopesFinding => ({ ok: false, said });

/** Central difference of the loss by one log-prob, and the distance between its one-sided differences. */
type Difference = { readonly slope: number; readonly apart: number };

function judge(out: Float64Array, difference: (t: number, along: boolean) => Difference): SlopesFinding {
  const largest = out.reduce((most, slope) => Math.max(most, Math.abs(slope)), 0);
  if (largest === 0) return fault("every slope is 0: nothing would be learned");
  const misses = [false, true].map((along) => {
    const tokens = [...out.keys()].map((t) => ({ t, ...difference(t, along) }));
    const smooth = tokens.filter(({ apart }) => apart <= KINK * largest);
    return {
      along,
      smooth: smooth.length,
      miss: smooth.find(({ t, slope }) => !near(slope, out[t]!, largest)),
    };
  });
  const right = misses.find(({ smooth, miss }) => smooth > 0 && miss === undefined);
  if (right !== undefined) {
    const how = right.along ? ", ratios held constant" : "";
    return {
      ok: true,
      said: `slopes are the central differences of the loss${how}: ${right.smooth} tokens, within ${TOLERANCE} of the largest`,
    };
  }
  const [plain, held] = misses;
  const { t, slope } = plain!.miss ?? held!.miss!;
  return fault(
    `token ${t} has the slope ${out[t]}; the loss changes by ${slope} per unit of its log-prob, or, if the behavior log-prob changes with it, by ${difference(t, true).slope}`,
  );
}

const near = (a: number, b: number, scale: number): boolean => Math.abs(a - b) <= TOLERANCE * scale;

function difference(
  slopes: SlopesFunction,
  settings: SlopesSettings,
  batch: SlopesRequest,
  t: number,
  along: boolean,
): Difference {
  const lossAt = (step: number) => ask(slopes, settings, batch, moved(batch, t, step, along)).loss;
  const [down, here, up] = [lossAt(-STEP), lossAt(0), lossAt(STEP)];
  return { slope: (up - down) / (2 * STEP), apart: Math.abs(up - 2 * here + down) / STEP };
}

function moved(batch: SlopesRequest, t: number, step: number, along: boolean): Point {
  const add = (from: Float64Array) => from.with(t, from[t]! + step);
  const { logprobs, behaviorLogprobs } = batch;
  return { logprobs: add(logprobs), behaviorLogprobs: along ? add(behaviorLogprobs) : behaviorLogprobs };
}

/** Calls the objective once with fresh arrays. */
function ask(slopes: SlopesFunction, settings: SlopesSettings, batch: SlopesRequest, at: Point) {
  const request = structuredClone({ ...batch, logprobs: at.logprobs, behaviorLogprobs: at.behaviorLogprobs });
  askSlopes(slopes, request, settings);
  return { out: request.out, loss: request.losses.reduce((sum, loss) => sum + loss, 0) };
}

/**
 * Adds the token weights that the objective's first pass computes for the batch; the differences hold these weights
 * constant.
 */
function weighed(slopes: SlopesFunction, settings: SlopesSettings, batch: SlopesRequest): SlopesRequest {
  if (slopes.firstPass === undefined) return batch;
  const { out: _, losses: __, ...tokens } = structuredClone(batch);
  const weights = askFirstPass(slopes, { ...tokens, ...settings, seed: 0, step: 0 });
  return { ...batch, tokenWeights: weights.map(Math.fround) };
}

function madeUp(): SlopesRequest {
  const random = new CounterRandom(0);
  const lengths = [7, 1, 0, 12, 5, 9, 3, 16, 8];
  const sequences = Int32Array.from([
    0,
    ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b)),
  ]);
  const tokens = sequences.at(-1)!;
  const around = (spread: number) => (2 * random.next() - 1) * spread;
  const logprobs = Float64Array.from({ length: tokens }, () => -3 * random.next());
  const spreadOf = lengths.flatMap((n, i) => new Array<number>(n).fill(SPREADS[i % SPREADS.length]!));
  const advantages = Float64Array.from(lengths, () => around(2));
  return {
    logprobs,
    entropies: logprobs.map(() => 3 * random.next()),
    behaviorLogprobs: logprobs.map((x, t) => x + around(spreadOf[t]!)),
    referenceLogprobs: logprobs.map((x) => x + around(0.5)),
    advantages,
    tokenAdvantages: Float64Array.from(lengths.flatMap((n, i) => new Array<number>(n).fill(advantages[i]!))),
    sequences,
    groupSizes: Int32Array.from(lengths, () => 4),
    totalSequences: 2 * lengths.length,
    totalGroups: 5,
    totalTokens: 2 * tokens,
    out: new Float64Array(tokens),
    losses: new Float64Array(lengths.length),
  };
}
