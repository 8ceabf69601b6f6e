import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import type { Verb } from "./verb.ts";

interface Flags {
  readonly model: string;
  readonly file: string;
  readonly temperature: string;
}

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

function temperatureOf(text: string): number {
  const temperature = Number(text);
  if (temperature > 0 && Number.isFinite(temperature)) return temperature;
  throw new HoneError("HONE_ERR_USAGE", `--temperature is ${text}; it must be a number over 0`);
}

async function score({ model: directory, file, temperature: text }: Flags): Promise<number> {
  const { batchesOf, loadModel, scoreSequences } = await import("../../inference/index.ts");
  const temperature = temperatureOf(text);
  await using model = await loadModel(directory, { packedTokens: PACKED_TOKENS });
  for await (const batch of batchesOf(readLines(file), PACKED_TOKENS)) {
    const sequences = batch.map(({ ids }) => ids);
    const { vocabulary } = model;
    for (const { logprobs, entropy } of await scoreSequences(model.weights, sequences, {
      temperature,
      vocabulary,
    })) {
      const line = JSON.stringify({ logprobs: Array.from(logprobs), entropy: Array.from(entropy) });
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
    }
  }
  return EXIT.done;
}

export const scoreVerb: Verb = (hone, ends) => {
  hone
    .command("score")
    .description("log-probabilities and entropies of token sequences under a model, one JSON object a line")
    .requiredOption("--model <folder>", "a Hugging Face model folder")
    .requiredOption("--file <ids.jsonl>", 'one {"ids": [...]} a line')
    .option("--temperature <t>", "divide the logits by it first", "1")
    .action(ends(score));
};
