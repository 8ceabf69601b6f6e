import { z } from "zod";
import { type DeviceName, defaultDevice } from "../device.ts";
import { HoneError } from "../errors.ts";
import { batchesOf, loadModel, type SequenceScore, scoreSequences } from "../inference/index.ts";
import { readJsonLines } from "./json-lines.ts";

const lineSchema = z.object({ ids: z.array(z.int().nonnegative()).min(1) });
const PACKED_TOKENS = 4096;

async function* readLines(file: string): AsyncGenerator<{ readonly ids: number[] }, void, undefined> {
  for await (const { value, where } of readJsonLines(file)) {
    const parsed = lineSchema.safeParse(value);
    if (!parsed.success) {
      throw new HoneError("HONE_ERR_DATA", `${where}: ${z.prettifyError(parsed.error)}`, {
        hint: 'A line is {"ids": [token, ...]} with at least one token id.',
      });
    }
    yield parsed.data;
  }
}

/**
 * Scores of the file's lines, in order. Throws what loadModel throws; HONE_ERR_IO for the file; HONE_ERR_DATA naming
 * the line that is no {"ids": [...]}.
 */
export async function* scoreFile(
  directory: string,
  file: string,
  temperature: number,
  device: DeviceName = defaultDevice(),
): AsyncGenerator<SequenceScore, void, undefined> {
  await using model = await loadModel(directory, { packedTokens: PACKED_TOKENS, device });
  const { vocabulary, maxPositions, weights } = model;
  for await (const batch of batchesOf(readLines(file), PACKED_TOKENS)) {
    const sequences = batch.map(({ ids }) => ids);
    yield* await scoreSequences(weights, sequences, { temperature, vocabulary, maxPositions });
  }
}
