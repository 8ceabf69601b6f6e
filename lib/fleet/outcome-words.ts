import { HoneError } from "../errors.ts";
import { type EngineMessage, FINISH } from "../native/face.ts";
import type { Completion } from "../native/generations.ts";

// Finished attempts as one array of 32-bit words, as outcomes carry them: an array a field would cost several times as much
// to write and to read, of attempts of a few tokens. Attempts [n], lengths [n] and codes of how they ended [n], then the
// fields of all tokens, one field after another: tokens, log-probs, entropies, versions, oldest KV, [T] each.

const A_WORDS = 3;
const T_WORDS = 5;

/** [3 n + 5 T] words of n attempts with T tokens. */
export function wordsOf(completions: readonly Completion[]): Int32Array<ArrayBuffer> {
  const n = completions.length;
  const total = completions.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const words = new Int32Array(A_WORDS * n + T_WORDS * total);
  const reals = new Float32Array(words.buffer);
  let at = A_WORDS * n;
  for (let k = 0; k < n; k++) {
    const { attempt, tokens, logprobs, entropies, versions, oldestKvVersions, finish } = completions[k]!;
    words[k] = attempt;
    words[n + k] = tokens.length;
    words[2 * n + k] = FINISH.indexOf(finish as (typeof FINISH)[number]);
    for (let i = 0; i < tokens.length; i++, at++) {
      words[at] = tokens[i]!;
      reals[at + total] = logprobs[i]!;
      reals[at + 2 * total] = entropies[i]!;
      words[at + 3 * total] = versions[i]!;
      words[at + 4 * total] = oldestKvVersions[i]!;
    }
  }
  return words;
}

/**
 * Decodes outcomes into the message that an engine would send, except for the request's id, which is always 0. Its
 * fields are views of `words`.
 * @param n attempts Throws HONE_ERR_FORMAT if the words do not hold n attempts.
 */
export function engineMessageOf(words: Int32Array, n: number): EngineMessage {
  const total = tokensIn(words, n);
  const attempt = new Int32Array(total);
  const finish = new Uint8Array(total);
  const empty: number[] = [];
  let at = 0;
  for (let k = 0; k < n; k++) {
    const end = at + words[n + k]!;
    attempt.fill(words[k]!, at, end);
    // an attempt that was aborted may end without a token of its own
    if (end === at) empty.push(k);
    else finish[end - 1] = words[2 * n + k]!;
    at = end;
  }
  const start = words.byteOffset + 4 * A_WORDS * n;
  return {
    request: new Float64Array(total),
    attempt,
    token: new Int32Array(words.buffer, start, total),
    logprob: new Float32Array(words.buffer, start + 4 * total, total),
    entropy: new Float32Array(words.buffer, start + 8 * total, total),
    version: new Uint32Array(words.buffer, start + 12 * total, total),
    oldestKv: new Uint32Array(words.buffer, start + 16 * total, total),
    finish,
    endedRequest: new Float64Array(empty.length),
    endedAttempt: Int32Array.from(empty, (k) => words[k]!),
    endedFinish: Uint8Array.from(empty, (k) => words[2 * n + k]!),
  };
}

function tokensIn(words: Int32Array, n: number): number {
  let total = 0;
  for (let k = n; k < 2 * n; k++) total += words[k] ?? Number.NaN;
  if (words.length === A_WORDS * n + T_WORDS * total) return total;
  throw new HoneError("HONE_ERR_FORMAT", `${words.length} words are not those of ${n} attempts`);
}
