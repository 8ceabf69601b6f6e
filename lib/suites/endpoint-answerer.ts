import { z } from "zod";
import { HoneError } from "../errors.ts";
import type { Problem } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";
import { ChatServer, type ChatServerOptions } from "../shared/http/chat-server.ts";
import type { Answer, Answerer, Drawn, Draws, Sampling } from "./answerer.ts";

export interface EndpointOptions extends Sampling, Partial<ChatServerOptions> {
  readonly url: string;
  /** The model's name at the server. */
  readonly model: string;
}

const DEFAULTS = { concurrency: 16, timeoutMs: 1_800_000, retries: 6, backoffMs: 500 };
/** Consecutive draws without an answer, per concurrent request, that indicate an outage. */
const ROUNDS_LOST = 2;

const replySchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          /** The thought, if the server returns it separately: the field names of vLLM and SGLang. */
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z.array(z.unknown()).nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ completion_tokens: z.int().min(0) }),
});

/**
 * A model behind an OpenAI-compatible server, called through chat completions; tools are described in words.
 * Sends the seed; whether equal seeds give equal answers depends on the server.
 */
export class EndpointAnswerer implements Answerer {
  readonly identity: Readonly<Record<string, unknown>>;
  readonly width: number;
  readonly #server: ChatServer;
  readonly #options: EndpointOptions;
  #lostInARow = 0;

  /** Throws HONE_ERR_USAGE for an invalid URL. */
  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#server = new ChatServer({ ...DEFAULTS, ...options });
    this.width = options.concurrency ?? DEFAULTS.concurrency;
    const { model, temperature, topP, maxTokens } = options;
    this.identity = { endpoint: this.#server.url, model, temperature, topP, maxTokens };
  }

  async prepare(): Promise<ReadonlyMap<number, string>> {
    return new Map();
  }

  async ask({ problem, attempt, seeds }: Draws, told: (seed: number, drawn: Drawn) => void): Promise<void> {
    await Promise.all(
      seeds.map(async (seed) => {
        const reply = await this.#server.post(
          "/chat/completions",
          this.#body(problem, seed, attempt),
          readAnswer,
        );
        if ("outage" in reply) this.#expectSome(reply.outage);
        else this.#lostInARow = 0;
        told(seed, "outage" in reply ? reply : reply.value);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server[Symbol.dispose]();
  }

  #body({ question, messages, tools }: Problem, seed: number, attempt: number): unknown {
    const { model, temperature, topP, maxTokens } = this.#options;
    const turns =
      tools === undefined && messages !== undefined ? messages : [{ role: "user", content: question }];
    return {
      model,
      messages: turns,
      temperature,
      top_p: topP,
      max_tokens: maxTokens,
      seed:
        attempt === 0 ? seed : Number.parseInt(contentHash(String(seed), String(attempt)).slice(0, 7), 16),
    };
  }

  #expectSome(outage: string): void {
    this.#lostInARow += 1;
    if (this.#lostInARow < ROUNDS_LOST * this.width) return;
    throw new HoneError(
      "HONE_ERR_ENDPOINT",
      `${this.#server.url} gave no answer to ${this.#lostInARow} requests in a row; the last: ${outage}`,
      { hint: "The answers so far are kept: repeat the command when the server is up." },
    );
  }
}

/** The completion as an engine would have it: the thought before the answer, calls as a model writes them. */
function readAnswer(json: unknown): Answer {
  const parsed = replySchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(
      `the response is not a chat completion: ${issue!.path.join(".") || "all of it"}: ${issue!.message}`,
    );
  }
  const { choices, usage } = parsed.data;
  const { message, finish_reason } = choices[0]!;
  const thought = message.reasoning_content ?? message.reasoning ?? "";
  const calls = message.tool_calls ?? [];
  const said = `${message.content ?? ""}${calls.length > 0 ? `<tool_calls>${JSON.stringify(calls)}</tool_calls>` : ""}`;
  return {
    text: thought === "" ? said : `<think>${thought}</think>${said}`,
    finish: finish_reason === "length" ? "length" : "eos",
    tokens: usage.completion_tokens,
  };
}
