import { existsSync } from "node:fs";
import { join } from "node:path";
import { generateTokens, loadModel, readModelFile } from "../inference/index.ts";
import { type HfTokenizer, openTokenizer, type SamplingOptions } from "../native/index.ts";
import type { FinishReason } from "../records.ts";
import { openChatTemplate } from "../text/index.ts";

export interface GenerateRequest {
  readonly directory: string;
  readonly prompt: string;
  /** Continue the prompt as it is, instead of answering it through the folder's chat template. */
  readonly raw: boolean;
  readonly sampling: SamplingOptions;
  readonly maxTokens: number;
  readonly seed: bigint;
}

export interface Generation {
  readonly text: string;
  readonly promptIds: readonly number[];
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly finish: FinishReason;
  /** Of generated tokens, the prompt's time included. */
  readonly tokensPerSecond: number;
}

/** Answers one prompt; `say` gets the text piece by piece. Throws what loadModel, openTokenizer and the template throw. */
export async function generate(request: GenerateRequest, say: (piece: string) => void): Promise<Generation> {
  const { directory, maxTokens, sampling, seed } = request;
  const tokenizer = openTokenizer(directory);
  const prompt = promptIds(request, tokenizer);
  await using model = await loadModel(directory);
  const stream = tokenizer.stream({ skipSpecial: true });
  const ids: number[] = [];
  const logprobs: number[] = [];
  let text = "";
  let finish: FinishReason = "length";
  const begun = performance.now();
  const options = { sampling, maxTokens, seed, stopIds: stopIds(directory, tokenizer) };
  const add = (piece: string) => {
    text += piece;
    say(piece);
  };
  for await (const token of generateTokens(model, prompt, options)) {
    ids.push(token.id);
    logprobs.push(token.logprob);
    add(stream.push(token.id));
    finish = token.finish ?? finish;
  }
  add(stream.end());
  const tokensPerSecond = (1000 * ids.length) / (performance.now() - begun);
  return { text, promptIds: [...prompt], ids, logprobs, finish, tokensPerSecond };
}

function promptIds({ directory, prompt, raw }: GenerateRequest, tokenizer: HfTokenizer): Int32Array {
  if (raw) return tokenizer.encode(prompt, { addSpecial: true, specials: "spell" });
  const messages = [{ role: "user", content: prompt }];
  return tokenizer.encode(openChatTemplate(directory).render(messages, { addGenerationPrompt: true }));
}

/** Every token the folder's files name as an end. */
function stopIds(directory: string, tokenizer: HfTokenizer): number[] {
  const ids = new Set<number>();
  for (const name of ["generation_config.json", "config.json"]) {
    if (!existsSync(join(directory, name))) continue;
    const { eos_token_id: eos } = JSON.parse(readModelFile(directory, name)) as { eos_token_id?: unknown };
    for (const id of Array.isArray(eos) ? eos : [eos]) if (typeof id === "number") ids.add(id);
  }
  if (ids.size === 0) ids.add(tokenizer.special.eos);
  return [...ids];
}
