import type { DeviceName } from "../device.ts";
import { HoneError } from "../errors.ts";
import { generateTokens, loadModel, modelFacts, readModelFile } from "../inference/index.ts";
import { type HfTokenizer, openTokenizer, type SamplingOptions } from "../native/index.ts";
import type { FinishReason } from "../records.ts";
import { readTokenizerConfig } from "../shared/models/tokenizer-config.ts";
import { type ChatChoice, chatFormat, idsOf } from "../text/index.ts";

export interface GenerateRequest {
  readonly directory: string;
  readonly prompt: string;
  /** Continue the prompt as it is, instead of answering it through the folder's chat template. */
  readonly raw: boolean;
  readonly sampling: SamplingOptions;
  /** Default: 256, or the positions that the prompt leaves, if fewer. */
  readonly maxTokens?: number;
  readonly seed: bigint;
  readonly device?: DeviceName;
  /** Storage type of matrices, keys and values on the CPU. Default: the type that the folder's config.json names. */
  readonly weights?: "f32" | "bf16";
  /** Overrides the folder's own chat template and end tokens. */
  readonly chat?: ChatChoice;
}

export interface Generation {
  readonly text: string;
  readonly promptIds: readonly number[];
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly finish: FinishReason;
  /** Generated tokens a second, the prompt's time included. */
  readonly tokensPerSecond: number;
}

const DEFAULT_TOKENS = 256;

/**
 * Answers one prompt; calls `say` with each piece of text. Throws HONE_ERR_USAGE if the model has too few positions,
 * and the errors of loadModel, openTokenizer and the template.
 */
export async function generate(request: GenerateRequest, say: (piece: string) => void): Promise<Generation> {
  const { directory, sampling, seed } = request;
  const tokenizer = openTokenizer(directory);
  const { prompt, stopIds } = request.raw ? asItIs(request, tokenizer) : asAsked(request, tokenizer);
  const maxTokens = tokensBehind(prompt, request);
  await using model = await loadModel(directory, {
    maxContext: prompt.length + maxTokens,
    weights: request.weights ?? "stored",
    ...(request.device !== undefined && { device: request.device }),
  });
  const stream = tokenizer.stream({ skipSpecial: true });
  const ids: number[] = [];
  const logprobs: number[] = [];
  let text = "";
  let finish: FinishReason = "length";
  const begun = performance.now();
  const vocabulary = idsOf(tokenizer, stopIds);
  const options = { sampling: { ...sampling, vocabulary }, maxTokens, seed, stopIds };
  const add = (piece: string) => {
    text += piece;
    say(piece);
  };
  for await (const token of generateTokens(model, prompt, options)) {
    ids.push(token.id);
    logprobs.push(token.logprob);
    // A vocabulary may have ids without a token.
    if (tokenizer.nameOf(token.id) !== undefined) add(stream.push(token.id));
    finish = token.finish ?? finish;
  }
  add(stream.end());
  const tokensPerSecond = (1000 * ids.length) / (performance.now() - begun);
  return { text, promptIds: [...prompt], ids, logprobs, finish, tokensPerSecond };
}

/** Returns the maximum number of tokens of the answer. */
function tokensBehind({ length }: Int32Array, { directory, maxTokens }: GenerateRequest): number {
  const { maxPositions } = modelFacts(readModelFile(directory, "config.json"), directory);
  const room = maxPositions - length;
  if (maxTokens === 0)
    throw new HoneError(
      "HONE_ERR_USAGE",
      "--max-tokens is 0, so nothing would be generated; give at least 1",
    );
  if (room > 0 && (maxTokens ?? 0) <= room) return maxTokens ?? Math.min(DEFAULT_TOKENS, room);
  const asked = maxTokens === undefined ? "" : ` and --max-tokens is ${maxTokens}`;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `the prompt has ${length} tokens${asked}, but the model has only ${maxPositions} positions`,
    { hint: room > 0 ? `Give --max-tokens ${room} or less.` : "Give a shorter prompt." },
  );
}

interface TokenizedPrompt {
  readonly prompt: Int32Array;
  readonly stopIds: readonly number[];
}

function asAsked({ directory, prompt, chat }: GenerateRequest, tokenizer: HfTokenizer): TokenizedPrompt {
  const format = chatFormat(directory, tokenizer, chat);
  return { prompt: format.prompt({ question: prompt }), stopIds: format.stopIds };
}

function asItIs({ directory, prompt }: GenerateRequest, tokenizer: HfTokenizer): TokenizedPrompt {
  const { eosIds } = readTokenizerConfig(directory);
  return {
    prompt: tokenizer.encode(prompt, { addSpecial: true, specials: "spell" }),
    stopIds: eosIds.length > 0 ? eosIds : [tokenizer.special.eos],
  };
}
