import { z } from "zod";
import { type DeviceName, defaultDevice } from "../device.ts";
import { HoneError } from "../errors.ts";
import {
  batchesOf,
  checkIds,
  type LoadedModel,
  loadModel,
  type SequenceScore,
  scoreSequences,
} from "../inference/index.ts";
import { readJsonLines } from "./json-lines.ts";
import { whileWaiting } from "./progress.ts";

const lineSchema = z.object({ ids: z.array(z.int().nonnegative()).min(1) });
const PACKED_TOKENS = 4096;

interface Line {
  readonly ids: number[];
  /** File and line number. */
  readonly where: string;
}

async function* readLines(
  file: string,
  { vocabulary, maxPositions }: Pick<LoadedModel, "vocabulary" | "maxPositions">,
): AsyncGenerator<Line, void, undefined> {
  for await (const { value, where } of readJsonLines(file)) {
    const parsed = lineSchema.safeParse(value);
    if (!parsed.success) {
      throw new HoneError("HONE_ERR_DATA", `${where}: ${z.prettifyError(parsed.error)}`, {
        hint: 'A line is {"ids": [token, ...]} with at least one token id.',
      });
    }
    try {
      checkIds(parsed.data.ids, vocabulary, maxPositions);
    } catch (cause) {
      throw new HoneError("HONE_ERR_DATA", `${where}: ${(cause as Error).message}`, { cause });
    }
    yield { ...parsed.data, where };
  }
}

/** Tokens of the file's longest line; a faulty line is reported when it is scored. */
async function longestLine(file: string): Promise<number> {
  let longest = 0;
  for await (const { value } of readJsonLines(file)) {
    const ids = (value as { readonly ids?: unknown } | null)?.ids;
    if (Array.isArray(ids)) longest = Math.max(longest, ids.length);
  }
  return longest;
}

export interface Placed {
  readonly device?: DeviceName;
  /** Storage type of matrices on the CPU. Default f32. */
  readonly weights?: "f32" | "bf16" | undefined;
}

export interface Telling {
  /** Receives a line of progress from time to time. */
  readonly show?: ((text: string) => void) | undefined;
  readonly everyMs?: number | undefined;
}

/**
 * Yields the scores of the file's lines, in order. Throws what loadModel throws; HONE_ERR_IO for the file;
 * HONE_ERR_DATA naming the line that is no {"ids": [...]}, is too long or has an id outside the vocabulary;
 * HONE_ERR_NON_FINITE naming the line and the token whose log-probability is no number.
 */
export async function* scoreFile(
  directory: string,
  file: string,
  temperature: number,
  { device = defaultDevice(), weights: kept = "f32" }: Placed = {},
  { show, everyMs }: Telling = {},
): AsyncGenerator<SequenceScore, void, undefined> {
  const maxContext = () => longestLine(file);
  await using model = await loadModel(directory, {
    packedTokens: PACKED_TOKENS,
    device,
    maxContext,
    weights: kept,
  });
  const { vocabulary, maxPositions, weights } = model;
  for await (const batch of batchesOf(readLines(file, model), PACKED_TOKENS)) {
    const sequences = batch.map(({ ids }) => ids);
    const tokens = sequences.reduce((sum, { length }) => sum + length, 0);
    const scores = await whileWaiting(
      scoreSequences(weights, sequences, { temperature, vocabulary, maxPositions }),
      (seconds) => show?.(`${batch[0]!.where}: ${tokens} tokens, ${seconds.toFixed(0)} s so far`),
      everyMs,
    );
    for (const [i, score] of scores.entries()) expectFinite(score, batch[i]!);
    yield* scores;
  }
}

function expectFinite({ logprobs, entropy }: SequenceScore, { ids, where }: Line): void {
  const token = logprobs.findIndex((value) => !Number.isFinite(value));
  const position = token < 0 ? entropy.findIndex((value) => !Number.isFinite(value)) : token;
  if (position < 0) return;
  const next = token < 0 ? "" : ` of ids[${token + 1}] = ${ids[token + 1]}`;
  throw new HoneError(
    "HONE_ERR_NON_FINITE",
    `${where}: the ${token < 0 ? "entropy" : "log-probability"} after ids[${position}]${next} is not finite`,
    { hint: "The weights, or the logits divided by the temperature, leave the range of float32." },
  );
}
