import { setMaxListeners } from "node:events";
import { freemem } from "node:os";
import { type DeviceName, defaultDevice } from "../device.ts";
import {
  EnvironmentPartner,
  type Play,
  type PlayedEpisode,
  playEpisode,
  turnBudget,
} from "../episodes/index.ts";
import { HoneError } from "../errors.ts";
import {
  type LoadedModel,
  type LoadOptions,
  loadModel,
  modelFacts,
  NO_OPTIMIZER,
  originOf,
  readModelFile,
  weightTypes,
} from "../inference/index.ts";
import {
  type Completion,
  Engine,
  type GenerationRequest,
  Generations,
  info,
  memorySizes,
  openTokenizer,
} from "../native/index.ts";
import { type Problem, sampledTokens } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";
import { type ChatChoice, chatFormat, type PromptFormat, type TurnFormat } from "../text/index.ts";
import type { Answerer, Drawn, Draws, Sampling } from "./answerer.ts";
import { problemKey } from "./suite.ts";

export interface EngineAnswererOptions extends Sampling {
  /** Sequences that decode at once. */
  readonly maxRunning: number;
  readonly device?: DeviceName | undefined;
  /** See loadModel. Default: "stored". */
  readonly weights?: LoadOptions["weights"] | undefined;
  /** Overrides of the folder's chat template and end tokens. Default: none. */
  readonly chat?: ChatChoice;
}

/** Fixed date for chat templates that show one, so that the same evaluation has the same prompts on another day. */
const CLOCK = new Date("2025-01-01T00:00:00Z");
const PAGE_TOKENS = 16;
const STEP_TOKENS = 512;
/** Token budget of the trainer, which only holds the weights and never trains, so that it can be small. */
const PACKED_TOKENS = 64;
/** Queued requests per running one: a finished sequence is replaced in the next step. */
const WAITING = 2;

/**
 * An engine of this package over a model folder, with all sequences in one continuous batch. Its answers depend on
 * weights, prompt, sampling and (seed, problem, attempt), not on other requests.
 */
export class EngineAnswerer implements Answerer {
  readonly identity: Readonly<Record<string, unknown>>;
  readonly width: number;
  readonly plays = true;
  readonly #folder: string;
  readonly #options: EngineAnswererOptions;
  readonly #format: PromptFormat;
  readonly #prompts = new Map<string, Int32Array>();
  #running:
    | { readonly model: LoadedModel; readonly generations: Generations; readonly maxContext: number }
    | undefined;
  /** Settles when the engine has started or cannot start. */
  #starting: Promise<void> | undefined;
  #asked = 0;
  #turns: TurnFormat | undefined;
  readonly #closing = new AbortController();

  /**
   * Throws for unusable files of the folder: HONE_ERR_IO, HONE_ERR_FORMAT, HONE_ERR_UNSUPPORTED,
   * HONE_ERR_CONFIG.
   */
  constructor(folder: string, options: EngineAnswererOptions) {
    this.#folder = folder;
    this.#options = options;
    const { chat = {} } = options;
    this.#format = chatFormat(folder, openTokenizer(folder), { ...chat, clock: CLOCK });
    setMaxListeners(0, this.#closing.signal); // every call of an environment adds a listener
    this.width = options.maxRunning * (1 + WAITING);
    this.identity = identityOf(folder, options, this.#format);
  }

  async prepare(problems: Iterable<Problem>): Promise<ReadonlyMap<number, string>> {
    const { maxPositions } = modelFacts(readModelFile(this.#folder, "config.json"), this.#folder);
    const refused = new Map<number, string>();
    let longest = 1;
    let index = 0;
    for (const problem of problems) {
      const prompt = this.#spell(problem);
      if (typeof prompt === "string") refused.set(index, prompt);
      else if (prompt.length >= maxPositions)
        refused.set(
          index,
          `prompts of ${maxPositions} tokens and more, for which the model has no positions`,
        );
      else {
        this.#prompts.set(problemKey(problem), prompt);
        longest = Math.max(longest, prompt.length);
      }
      index += 1;
    }
    this.#starting = this.#start(Math.min(maxPositions, longest + this.#options.maxTokens));
    await this.#starting;
    return refused;
  }

  ask(draws: Draws, told: (seed: number, drawn: Drawn) => void): Promise<void> {
    const { seeds, play } = draws;
    if (play !== undefined) return this.#playAll(draws, play, told);
    const { generations } = this.#running!;
    let left = seeds.length;
    return new Promise((resolve, reject) => {
      const deliver = (completions: readonly Completion[]) => {
        for (const completion of completions) told(seeds[completion.attempt]!, this.#answer(completion));
        left -= completions.length;
        if (left === 0) resolve();
      };
      generations.submit(this.#requestOf(draws), { deliver, fail: reject });
    });
  }

  #requestOf({ problem, attempt, seeds }: Draws): GenerationRequest {
    const { temperature, topP, maxTokens } = this.#options;
    const prompt = this.#prompts.get(problemKey(problem))!;
    return {
      id: ++this.#asked,
      prompt,
      count: seeds.length,
      problem: problem.id,
      firstAttempt: attempt,
      seeds: seeds.map(BigInt),
      sampling: { temperature, topP, vocabulary: this.#format.vocabulary },
      maxTokens: Math.min(maxTokens, this.#running!.maxContext - prompt.length),
      stopIds: this.#format.stopIds,
    };
  }

  /** Samples the first turns of all seeds in one request, then plays each episode separately. */
  async #playAll(draws: Draws, play: Play, told: (seed: number, drawn: Drawn) => void): Promise<void> {
    const { generations } = this.#running!;
    const format = this.#format;
    this.#turns ??= format.turns();
    const { problem, attempt, seeds } = draws;
    const request = this.#requestOf(draws);
    const { maxTokens } = request;
    const firsts = await generations.generate({ ...request, maxTokens: turnBudget(play, maxTokens) });
    const episodes = firsts.map(async (first) => {
      const seed = seeds[first.attempt]!;
      const closing = this.#closing.signal;
      const partner = new EnvironmentPartner({ play, problem, format, turns: this.#turns!, closing });
      const task = { request: { ...request, seeds: [BigInt(seed)] }, maxTokens, attempt, partner };
      told(seed, playedAnswer(await playEpisode(first, task, play, { generations, format })));
    });
    await Promise.all(episodes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#starting?.catch(() => {}); // aborted while the model is loaded: it must still be closed
    await this.#running?.generations.close();
    await this.#running?.model[Symbol.asyncDispose]();
    this.#running = undefined;
  }

  /** Token ids of the prompt, or why there are none, in words that can be counted. */
  #spell(problem: Problem): Int32Array | string {
    try {
      return this.#format.prompt(problem);
    } catch (error) {
      if (HoneError.is(error) && error.code === "HONE_ERR_DATA") return error.message;
      throw error;
    }
  }

  #answer({ tokens, finish }: Completion): Drawn {
    return { text: this.#format.read(tokens).text, finish, tokens: tokens.length };
  }

  async #start(maxContext: number): Promise<void> {
    const { maxRunning, device, weights = "stored" } = this.#options;
    const chosen = { weights, ...(device !== undefined && { device }) };
    const model = await loadModel(this.#folder, { packedTokens: PACKED_TOKENS, maxContext, ...chosen });
    const sizes = {
      maxRunning,
      pageTokens: PAGE_TOKENS,
      maxContext,
      stepTokens: Math.max(STEP_TOKENS, maxRunning),
      ...model.types,
      runSeed: 0n,
      device: model.device,
    } as const;
    const pages = pagesFor(model, { ...sizes, pages: 1 });
    const generations = new Generations(
      (handlers) => new Engine(model.configJson, { ...sizes, pages }, handlers),
    );
    this.#running = { model, generations, maxContext };
    await model.weights.publish(generations.engine);
  }
}

/**
 * Identity of a model for resuming an evaluation. Includes the sampled vocabulary of a padded model and the types of
 * bf16 weights, since versions that sampled padding or used f32 gave other answers.
 */
function identityOf(
  folder: string,
  {
    temperature,
    topP,
    maxTokens,
    chat = {},
    device = defaultDevice(),
    weights: kept = "stored",
  }: EngineAnswererOptions,
  { vocabulary }: PromptFormat,
): Readonly<Record<string, unknown>> {
  const files = Object.entries(originOf(folder).files).sort(([a], [b]) => (a < b ? -1 : 1));
  const weights = contentHash(JSON.stringify(files));
  const config = readModelFile(folder, "config.json");
  const isPadded = vocabulary < modelFacts(config, folder).vocabulary;
  const types = weightTypes(config, device, kept);
  return {
    weights,
    temperature,
    topP,
    maxTokens,
    ...(Object.keys(chat).length > 0 && { chat }),
    ...(isPadded && { vocabulary }),
    ...(types.weightStorage === "bf16" && types),
  };
}

/** An episode as a draw. If the environment failed, there is no verdict: that is an outage. */
function playedAnswer({ completion, text, episode }: PlayedEpisode): Drawn {
  const { verdict, givenText } = episode;
  if (verdict.status === "unscored") return { outage: verdict.cause };
  const tokens = sampledTokens({ ...completion, episode });
  return { text, finish: completion.finish, tokens, given: givenText, verdict };
}

type EngineSizes = ConstructorParameters<typeof Engine>[1];

/** Pages for every sequence at its longest, or as many as fit in half of the free memory; at least enough for one. */
function pagesFor({ configJson, device, types }: LoadedModel, engine: EngineSizes): number {
  const each = Math.ceil(engine.maxContext / engine.pageTokens) + 2;
  const trainer = {
    optimizer: NO_OPTIMIZER,
    packedTokens: PACKED_TOKENS,
    ...types,
    device,
  } as const;
  const { page } = memorySizes(configJson, { engine, trainer }, { sequences: 1, threads: 1 });
  const memory = device === "cuda" ? (info().cuda.memoryBytes ?? 0) : freemem();
  return Math.max(each, Math.min(each * engine.maxRunning, Math.floor(memory / 2 / page)));
}
