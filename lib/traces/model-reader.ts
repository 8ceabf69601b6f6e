import { z } from "zod";
import { HoneError } from "../errors.ts";
import { ChatServer, type ChatServerOptions } from "../shared/http/chat-server.ts";
import { type AnswerCache, requestKey } from "./answer-cache.ts";
import { CATEGORIES, type Category, type Step } from "./categories.ts";
import { labelPrompt, ORDERS, PROMPTS_VERSION, splitPrompt } from "./prompts.ts";
import { sentencesOf, stepsAt } from "./split.ts";
import type { Labels, Reader, ReadTrace, Trace } from "./trace.ts";

export interface ModelReaderOptions extends Partial<ChatServerOptions> {
  readonly url: string;
  /** The model's name at the server. */
  readonly model: string;
  readonly cache: AnswerCache;
}

export const READER_DEFAULTS = { concurrency: 8, timeoutMs: 600_000, retries: 6, backoffMs: 500 };
/** Characters of a trace in one request. */
const CHUNK = 9000;
/** Invalid answers to one request before its steps stay unclassified. */
const BAD_ANSWERS = 3;
const MOST_TOKENS = 16_384;
/** Characters at the end of a response that are searched for JSON. */
const MOST_ANSWER = 1 << 16;
/** Consecutive requests without an answer, per concurrent request, that indicate an outage. */
const ROUNDS_LOST = 2;

type Answered<T> = { readonly value: T } | { readonly outage: string } | "bad";

const messageSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
});
const startsSchema = z.object({ starts: z.array(z.int().min(1)) });
const labelsSchema = z.object({
  labels: z.array(z.object({ step: z.int().min(1), category: z.enum(CATEGORIES) })),
});

/**
 * A model behind an OpenAI-compatible server: asks it where steps begin, then, in two passes with the categories in
 * opposite order and different seeds, for the category of each step. Caches every valid answer by the hash of its
 * request.
 */
export class ModelReader implements Reader, Disposable {
  readonly name: string;
  readonly #options: ModelReaderOptions;
  readonly #server: ChatServer;
  #lostInARow = 0;

  /** Throws HONE_ERR_USAGE for an invalid URL. */
  constructor(options: ModelReaderOptions) {
    this.#options = options;
    this.name = options.model;
    this.#server = new ChatServer({ ...READER_DEFAULTS, ...options });
  }

  async read(trace: Trace): Promise<ReadTrace | { readonly outage: string } | "unsplit"> {
    const starts = await this.#starts(trace);
    if (starts === "bad") return "unsplit";
    if ("outage" in starts) return starts;
    const steps = stepsAt(trace.text, starts.value);
    const labels = await this.#pass(trace, steps, 0);
    if ("outage" in labels) return labels;
    const second = await this.#pass(trace, steps, 1);
    return "outage" in second ? second : { trace, steps, labels, second };
  }

  label(trace: Trace, steps: readonly Step[]): Promise<Labels | { readonly outage: string }> {
    return this.#pass(trace, steps, 0);
  }

  [Symbol.dispose](): void {
    this.#server[Symbol.dispose]();
  }

  /** Characters at which steps begin. */
  async #starts({ text, question }: Trace): Promise<Answered<number[]>> {
    const sentences = sentencesOf(text);
    const starts: number[] = [];
    for (const part of chunksOf(sentences, ({ from, to }) => to - from)) {
      const texts = part.map(({ from, to }) => text.slice(from, to).trim());
      const answer = await this.#ask(splitPrompt(question, texts), 1, (json) => startsIn(json, part.length));
      if (answer === "bad" || "outage" in answer) return answer;
      starts.push(...answer.value.map((number) => part[number - 1]!.from));
    }
    return { value: starts };
  }

  async #pass(
    { text, question }: Trace,
    steps: readonly Step[],
    pass: 0 | 1,
  ): Promise<Labels | { readonly outage: string }> {
    const labels: (Category | undefined)[] = [];
    for (const part of chunksOf(steps, (step) => step.text.length)) {
      const before = text.slice(0, part[0]!.from).trim();
      const prompt = labelPrompt({ question, before, steps: part, order: ORDERS[pass]! });
      const answer = await this.#ask(prompt, pass + 1, (json) => labelsIn(json, part.length));
      if (answer === "bad") labels.push(...part.map(() => undefined));
      else if ("outage" in answer) return answer;
      else labels.push(...answer.value);
    }
    return labels;
  }

  /** @param take parses an answer; undefined if it is invalid */
  async #ask<T>(prompt: string, seed: number, take: (json: unknown) => T | undefined): Promise<Answered<T>> {
    const { cache, model } = this.#options;
    const key = requestKey(PROMPTS_VERSION, model, seed, prompt);
    const kept = take(cache.get(key));
    if (kept !== undefined) return { value: kept };
    for (let tries = 0; tries < BAD_ANSWERS; tries++) {
      const reply = await this.#server.post("/chat/completions", this.#body(prompt, seed, tries), contentOf);
      if ("outage" in reply) return this.#lost(reply.outage);
      this.#lostInARow = 0;
      const json = jsonIn(reply.value);
      const value = take(json);
      if (value === undefined) continue;
      cache.add(key, json);
      return { value };
    }
    return "bad";
  }

  /** Temperature by number of the try; a retry raises it, so that the answer can change. */
  #body(prompt: string, seed: number, tries: number): unknown {
    return {
      model: this.#options.model,
      messages: [{ role: "user", content: prompt }],
      temperature: tries === 0 ? 0 : 0.7,
      seed: seed + 1000 * tries,
      max_tokens: MOST_TOKENS,
    };
  }

  #lost(outage: string): { readonly outage: string } {
    this.#lostInARow += 1;
    const width = this.#options.concurrency ?? READER_DEFAULTS.concurrency;
    if (this.#lostInARow < ROUNDS_LOST * width) return { outage };
    throw new HoneError(
      "HONE_ERR_ENDPOINT",
      `${this.#server.url} gave no answer to ${this.#lostInARow} requests in a row; the last: ${outage}`,
      { hint: "The answers so far are kept: repeat the command when the server is up." },
    );
  }
}

function contentOf(json: unknown): string {
  const parsed = messageSchema.safeParse(json);
  if (!parsed.success) throw new Error("the response is not a chat completion");
  return parsed.data.choices[0]!.message.content ?? "";
}

/** The last JSON object in a response after its thought; undefined if there is none. */
export function jsonIn(said: string): unknown {
  const text = said.slice(said.lastIndexOf("</think>") + 1).slice(-MOST_ANSWER);
  const end = text.lastIndexOf("}");
  for (let at = text.indexOf("{"); at >= 0 && at < end; at = text.indexOf("{", at + 1)) {
    try {
      return JSON.parse(text.slice(at, end + 1)) as unknown;
    } catch {
      // the JSON begins further on
    }
  }
  return undefined;
}

/** Ascending indices of pieces; always includes the first piece of a part. */
function startsIn(json: unknown, count: number): number[] | undefined {
  const parsed = startsSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const { starts } = parsed.data;
  const inOrder = starts.every((start, i) => start <= count && (i === 0 || start > starts[i - 1]!));
  return inOrder && starts.length > 0 ? [...new Set([1, ...starts])] : undefined;
}

/** A category for every step, each named once. */
function labelsIn(json: unknown, count: number): Category[] | undefined {
  const parsed = labelsSchema.safeParse(json);
  if (!parsed.success || parsed.data.labels.length !== count) return undefined;
  const byStep = new Map(parsed.data.labels.map(({ step, category }) => [step, category]));
  const labels = Array.from({ length: count }, (_, i) => byStep.get(i + 1));
  return labels.every((label) => label !== undefined) ? labels : undefined;
}

/** Splits items into chunks of neighbours, as many as fit a request, at least one. */
function chunksOf<T>(items: readonly T[], sizeOf: (item: T) => number): T[][] {
  const chunks: T[][] = [];
  let room = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (chunks.length === 0 || size > room) {
      chunks.push([]);
      room = CHUNK;
    }
    chunks.at(-1)!.push(item);
    room -= size;
  }
  return chunks;
}
