import { Engine, FINISH, type SamplingOptions } from "../native/index.ts";
import type { FinishReason } from "../records.ts";
import { Channel } from "../shared/async/channel.ts";
import type { LoadedModel } from "./model-folder.ts";

export interface GenerateOptions {
  /** temperature 0 is greedy. */
  readonly sampling: SamplingOptions;
  /** Tokens that end the answer; the ending token is part of the answer. */
  readonly stopIds: readonly number[];
  readonly maxTokens: number;
  /** 64-bit; with prompt, weights and sampling it decides every token. */
  readonly seed: bigint;
}

export interface GeneratedToken {
  readonly id: number;
  /** Natural log-prob under the distribution that was actually sampled from. */
  readonly logprob: number;
  /** Reason why the completion ended; only present with its last token. */
  readonly finish?: FinishReason;
}

const PAGE_TOKENS = 16;
const STEP_TOKENS = 512;

/**
 * Continues one prompt, token by token as they are sampled. Ending the iteration stops the engine.
 * Throws HONE_ERR_CONFIG for a prompt that does not fit the model's context or an option out of range.
 */
export async function* generateTokens(
  model: Pick<LoadedModel, "configJson" | "weights"> & Partial<Pick<LoadedModel, "device" | "types">>,
  prompt: Int32Array,
  { sampling, stopIds, maxTokens, seed }: GenerateOptions,
): AsyncGenerator<GeneratedToken, void, undefined> {
  const tokens = new Channel<GeneratedToken>();
  const context = prompt.length + maxTokens;
  const engine = new Engine(
    model.configJson,
    {
      maxRunning: 1,
      pageTokens: PAGE_TOKENS,
      maxContext: context,
      stepTokens: STEP_TOKENS,
      ...(model.types ?? { weightStorage: "f32" as const }),
      pages: Math.ceil(context / PAGE_TOKENS) + 1,
      runSeed: seed,
      ...(model.device && { device: model.device }),
    },
    {
      onError: (error) => tokens.fail(error),
      onMessage: ({ token, logprob, finish }) => {
        for (const [i, id] of token.entries()) {
          const last = finish[i] !== 0;
          const why = FINISH[finish[i]!] as FinishReason;
          tokens.push({ id, logprob: logprob[i]!, ...(last && { finish: why }) });
          if (last) tokens.end();
        }
      },
    },
  );
  try {
    await model.weights.publish(engine);
    engine.submit({ id: 1, prompt, count: 1, problem: 0, firstAttempt: 0, sampling, maxTokens, stopIds });
    yield* tokens;
  } finally {
    await engine.close();
  }
}
