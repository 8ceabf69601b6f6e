import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { z } from "zod";
import { HoneError } from "../errors.ts";
import { batchesOf, loadModel, type SequenceScore, scoreSequences } from "../inference/index.ts";

const lineSchema = z.object({ ids: z.array(z.int().nonnegative()).min(1) });
const PACKED_TOKENS = 4096;

async function* readLines(file: string): AsyncGenerator<{ readonly ids: number[] }, void, undefined> {
  const input = createReadStream(file);
  await once(input, "open").catch((cause: Error) => {
    throw new HoneError("HONE_ERR_IO", `${file}: ${cause.message}`, { cause });
  });
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() !== "") yield parseLine(line, `${file}:${number}`);
  }
}

function parseLine(line: string, where: string): { readonly ids: number[] } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `${where}: not JSON: ${line.slice(0, 80)}`, { cause });
  }
  const parsed = lineSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HoneError("HONE_ERR_DATA", `${where}: ${z.prettifyError(parsed.error)}`, {
    hint: 'A line is {"ids": [token, ...]} with at least one token id.',
  });
}

/**
 * Scores of the file's lines, in order. Throws what loadModel throws; HONE_ERR_IO for the file; HONE_ERR_DATA naming
 * the line that is no {"ids": [...]}.
 */
export async function* scoreFile(
  directory: string,
  file: string,
  temperature: number,
): AsyncGenerator<SequenceScore, void, undefined> {
  await using model = await loadModel(directory, { packedTokens: PACKED_TOKENS });
  const { vocabulary, maxPositions, weights } = model;
  for await (const batch of batchesOf(readLines(file), PACKED_TOKENS)) {
    const sequences = batch.map(({ ids }) => ids);
    yield* await scoreSequences(weights, sequences, { temperature, vocabulary, maxPositions });
  }
}
