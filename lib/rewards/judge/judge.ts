import type { RewardInput } from "../../domains/reward.ts";
import { fraction, noAnswer, unparsable } from "../../domains/verifier.ts";
import { HoneError } from "../../errors.ts";
import type { Verdict } from "../../records.ts";
import { ChatServer } from "../../shared/http/chat-server.ts";
import { JudgeCache, type JudgeReply } from "./judge-cache.ts";
import { type JudgeCase, type JudgeForm, type JudgeQuestion, judgeQuestion } from "./judge-prompt.ts";

export interface JudgeOptions {
  /** Base URL of the server: "http://localhost:8000/v1". */
  readonly url: string;
  readonly model: string;
  /** Environment variable with the API key; without it no key is sent. */
  readonly apiKeyEnv?: string | undefined;
  /** "rubric": grades an answer. "pairwise": compares it with the reference. */
  readonly kind: "rubric" | "pairwise";
  /** Criteria of a good answer. */
  readonly rubric: string;
  /** Highest grade that the judge may give; the lowest is 0. */
  readonly scale: number;
  /** Dotted path of the reference field that is shown, or compared with; default: the whole reference. */
  readonly against?: string | undefined;
  /** Times that each answer is judged; a pair's order alternates. */
  readonly samplings: number;
  readonly temperature: number;
  readonly maxTokens: number;
  /** Longest answer in characters; a longer one is unparsable without asking the judge. */
  readonly maxAnswerChars: number;
  /** Maximum number of simultaneous connections. */
  readonly concurrency: number;
  /** Time limit for one reply of the server. */
  readonly timeoutMs: number;
  /** Number of retries after the first attempt. */
  readonly retries: number;
  readonly backoffMs: number;
  /** Maximum calls and tokens of this process; replies from the cache are free. */
  readonly budget: { readonly calls?: number | undefined; readonly tokens?: number | undefined };
  /** Cache folder; false disables the cache. */
  readonly cache: string | false;
}

/** Cost and agreement of a judge, since the process began. */
export interface JudgeStats {
  /** Questions answered by the server. */
  readonly calls: number;
  /** Questions answered from the cache. */
  readonly cached: number;
  /** Tokens of the server's answers and their questions. */
  readonly tokens: number;
  /** Replies without a verdict. */
  readonly unreadable: number;
  /** Answers judged more than once, and the sum of the spread of their scores. */
  readonly compared: number;
  readonly disagreement: number;
  /** Remaining share of the budget, in [0, 1]; absent without a budget. */
  readonly budgetLeft?: number;
}

/** How often a question is asked while its replies hold no verdict. */
const READINGS = 3;
/** Assumed characters per token, for servers that do not report tokens. */
const CHARS_PER_TOKEN = 4;
/** Distance between the seeds of a first request and its retry. */
const SEED_STRIDE = 1000;

/**
 * An LLM judge behind any server with OpenAI's chat completions. If it cannot give a verdict (the server is down,
 * busy or silent, a reply has no verdict, the budget is spent), the completion is unscored.
 */
export class Judge implements Disposable {
  readonly #options: JudgeOptions;
  readonly #cache: JudgeCache;
  #server: ChatServer | undefined;
  #calls = 0;
  /** Number of requests in progress, including queued ones. */
  #asked = 0;
  readonly #counts = { cached: 0, tokens: 0, unreadable: 0, compared: 0, disagreement: 0 };

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#cache = new JudgeCache(options.cache === false ? undefined : options.cache);
  }

  get stats(): JudgeStats {
    const { budget } = this.#options;
    const left = [
      ...(budget.calls === undefined ? [] : [1 - this.#asked / budget.calls]),
      ...(budget.tokens === undefined ? [] : [1 - this.#counts.tokens / budget.tokens]),
    ];
    const budgetLeft = left.length > 0 && { budgetLeft: Math.max(0, Math.min(...left)) };
    return { calls: this.#calls, ...this.#counts, ...budgetLeft };
  }

  [Symbol.dispose](): void {
    this.#server?.[Symbol.dispose]();
  }

  async judge({ prompt, answer, finish, reference }: RewardInput): Promise<Verdict> {
    const { kind, rubric: criteria, against, samplings, maxAnswerChars } = this.#options;
    if (finish !== "eos" && finish !== "stop") return noAnswer("response not finished");
    if (answer === "") return noAnswer("empty answer");
    if (answer.length > maxAnswerChars) return unparsable(`answer longer than ${maxAnswerChars} characters`);
    const shown = shownReference(reference, against);
    if (kind === "pairwise" && shown === undefined)
      return {
        status: "unscored",
        cause: `the judge has no answer to compare with${against ? ` at ${against}` : ""}`,
      };
    const given: JudgeCase = { task: prompt, answer, reference: shown, criteria };
    try {
      const each = await Promise.allSettled(
        Array.from({ length: samplings }, (_, seed) => this.#score(given, seed)),
      );
      return this.#verdict(each.map((one) => scoreOf(one)));
    } catch (error) {
      return { status: "unscored", cause: this.#withoutKey(`the judge: ${(error as Error).message}`) };
    }
  }

  #verdict(scores: readonly number[]): Verdict {
    if (scores.length > 1) {
      this.#counts.compared += 1;
      this.#counts.disagreement += Math.max(...scores) - Math.min(...scores);
    }
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    return fraction(mean, `judged ${scores.map((score) => Number(score.toFixed(3))).join(", ")}`);
  }

  /** Score of one sample. Throws the error that prevented one. */
  async #score(given: JudgeCase, seed: number): Promise<number> {
    const question = judgeQuestion(given, this.#form(seed));
    for (let reading = 0; reading < READINGS; reading++) {
      const score = question.read(await this.#ask(question, seed + reading * SEED_STRIDE));
      if (score !== undefined) return score;
      this.#counts.unreadable += 1;
    }
    throw new Error(`no verdict in ${READINGS} replies`);
  }

  #form(seed: number): JudgeForm {
    const { kind, scale } = this.#options;
    return kind === "rubric" ? { kind, scale } : { kind, answerFirst: seed % 2 === 0 };
  }

  async #ask({ messages, read }: JudgeQuestion, seed: number): Promise<string> {
    const { url, model, temperature, maxTokens } = this.#options;
    const body = { model, messages, temperature, max_tokens: maxTokens, seed };
    const { reply, isCached } = await this.#cache.reply(
      { url, ...body },
      () => this.#post(body),
      ({ text }) => read(text) !== undefined,
    );
    if (isCached) this.#counts.cached += 1;
    return reply.text;
  }

  async #post(body: { readonly messages: JudgeQuestion["messages"] }): Promise<JudgeReply> {
    this.#expectBudget();
    this.#server ??= this.#open();
    this.#asked += 1;
    try {
      const answered = await this.#server.post("/chat/completions", body, (json) =>
        readReply(json, body.messages),
      );
      if ("outage" in answered) throw new Error(answered.outage);
      this.#calls += 1;
      this.#counts.tokens += answered.value.tokens;
      return answered.value;
    } catch (error) {
      this.#asked -= 1; // a failed request costs nothing
      throw error;
    }
  }

  #open(): ChatServer {
    const { url, apiKeyEnv, concurrency, timeoutMs, retries, backoffMs } = this.#options;
    const key = keyOf(apiKeyEnv);
    return new ChatServer({ url, key, concurrency, timeoutMs, retries, backoffMs });
  }

  #expectBudget(): void {
    const { calls, tokens } = this.#options.budget;
    if (calls !== undefined && this.#asked >= calls) throw new Error(`its budget of ${calls} calls is spent`);
    if (tokens !== undefined && this.#counts.tokens >= tokens)
      throw new Error(`its budget of ${tokens} tokens is spent`);
  }

  /** Removes the key from a text: servers repeat keys that they refuse. */
  #withoutKey(text: string): string {
    const { apiKeyEnv } = this.#options;
    const key = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
    return key ? text.replaceAll(key, "***") : text;
  }
}

/** Returns the value, or throws the reason of the rejection. */
function scoreOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

/** The key in that environment variable; undefined without a name. Throws HONE_ERR_CONFIG if it is not set. */
export function keyOf(apiKeyEnv: string | undefined): string | undefined {
  if (apiKeyEnv === undefined) return undefined;
  const key = process.env[apiKeyEnv];
  if (key) return key;
  throw new HoneError(
    "HONE_ERR_CONFIG",
    `the judge's key is missing: ${apiKeyEnv} is not set in the environment`,
    {
      hint: `Set it (export ${apiKeyEnv}=...), or leave apiKeyEnv out for a server that asks for none.`,
    },
  );
}

/** The reference as text: JSON unless it is a string. */
function shownReference(reference: unknown, path: string | undefined): string | undefined {
  const found = (path?.split(".") ?? []).reduce<unknown>(
    (at, field) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, field)
        ? (at as Record<string, unknown>)[field]
        : undefined,
    reference,
  );
  return found === undefined || found === null
    ? undefined
    : typeof found === "string"
      ? found
      : JSON.stringify(found);
}

/** Returns the text of a chat completion. Throws for a malformed completion; the caller then repeats the request. */
function readReply(json: unknown, messages: JudgeQuestion["messages"]): JudgeReply {
  const { choices, usage } = (json ?? {}) as {
    choices?: { message?: { content?: unknown }; finish_reason?: unknown }[];
    usage?: { total_tokens?: unknown };
  };
  const text = Array.isArray(choices) ? choices[0]?.message?.content : undefined;
  if (typeof text !== "string") throw new Error("the server's response is not a chat completion with a text");
  const counted = usage?.total_tokens;
  const chars = messages.reduce((sum, { content }) => sum + content.length, text.length);
  const isCounted = typeof counted === "number" && Number.isFinite(counted) && counted >= 0;
  return { text, tokens: isCounted ? counted : Math.ceil(chars / CHARS_PER_TOKEN) };
}
