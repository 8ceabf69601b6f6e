import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { TrainingBatch } from "../../native/face.ts";
import type { TeacherScores } from "../../native/teacher-face.ts";
import { ChatServer } from "../../shared/http/chat-server.ts";

type EndpointOptions = NonNullable<NonNullable<Recipe["teacher"]>["endpoint"]>;

/** The server's scores of one sequence's sampled tokens. */
interface Scored {
  readonly logprobs: Float32Array;
  /** [n, k] ids of the k likeliest tokens at each of the n sampled tokens. */
  readonly ids: Int32Array;
  readonly top: Float32Array;
}

type Listed = Readonly<Record<string, { readonly logprob?: unknown } | undefined>>;

/**
 * A teacher behind an OpenAI-compatible server, which scores the tokens of a prompt: POST <url>/completions with the
 * token ids.
 */
export class TeacherEndpoint implements AsyncDisposable {
  readonly #server: ChatServer;
  readonly #options: EndpointOptions;
  readonly #topK: number;

  /**
   * Throws HONE_ERR_CONFIG if the variable with the key is not set. @param topK likeliest tokens to request
   * per position; 0: none
   */
  constructor(options: EndpointOptions, topK: number) {
    const { apiKeyEnv } = options;
    const key = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
    if (apiKeyEnv !== undefined && key === undefined)
      throw new HoneError("HONE_ERR_CONFIG", `teacher.endpoint.apiKeyEnv: ${apiKeyEnv} is not set`, {
        hint: `export ${apiKeyEnv}=..., or leave apiKeyEnv out for a server without a key.`,
      });
    this.#server = new ChatServer({ ...options, key });
    this.#options = options;
    this.#topK = topK;
  }

  /**
   * Scores every token that the mask counts. Retries a late, broken or mismatched answer; throws HONE_ERR_ENDPOINT if
   * all retries fail, or the server refuses every request: no token is left without its score.
   */
  async score({ tokens, cuSeqlens, mask }: TrainingBatch): Promise<TeacherScores> {
    const sequences = Array.from({ length: cuSeqlens.length - 1 }, async (_, i) => {
      const [begin, end] = [cuSeqlens[i]!, cuSeqlens[i + 1]!];
      return await this.#sequence(tokens.subarray(begin, end), mask.subarray(begin, end));
    });
    const scored = await Promise.all(sequences);
    const logprobs = new Float32Array(tokens.length);
    scored.forEach((one, i) => void logprobs.set(one.logprobs, cuSeqlens[i]!));
    if (this.#topK === 0) return { logprobs };
    const rows = scored.reduce((n, { ids }) => n + ids.length, 0);
    const [teacherIds, teacherTopLogprobs] = [new Int32Array(rows), new Float32Array(rows)];
    let at = 0;
    for (const { ids, top } of scored) {
      teacherIds.set(ids, at);
      teacherTopLogprobs.set(top, at);
      at += ids.length;
    }
    return { logprobs, teacherIds, teacherTopLogprobs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server[Symbol.dispose]();
  }

  async #sequence(tokens: Int32Array, mask: Uint8Array): Promise<Scored> {
    const asked =
      this.#options.api === "echo" ? { echo: true, logprobs: 1 } : { prompt_logprobs: this.#topK };
    const body = { model: this.#options.model, prompt: [...tokens], max_tokens: 1, temperature: 1, ...asked };
    const reply = await this.#server.post("/completions", body, (json) => this.#read(json, tokens, mask));
    if ("value" in reply) return reply.value;
    throw new HoneError("HONE_ERR_ENDPOINT", `teacher.endpoint ${this.#server.url}: ${reply.outage}`, {
      details: { tokens: tokens.length },
      hint: 'Nothing was trained on this step. When the server answers again, continue with --resume auto; teacher.endpoint.retries, backoffMs and timeoutMs say how long a run waits. A server that refuses long prompts alone needs a context of rollouts.maxPromptTokens + maxOutputTokens + 1 (vLLM: --max-model-len). If the server returns no log-probs of a prompt, try the other teacher.endpoint.api ("prompt_logprobs", "echo").',
    });
  }

  /** Throws Error for an answer that does not match these tokens; the request is then retried. */
  #read(json: unknown, tokens: Int32Array, mask: Uint8Array): Scored {
    const choice = (json as { choices?: Record<string, unknown>[] } | null)?.choices?.[0] ?? {};
    return this.#options.api === "echo"
      ? echoed(choice["logprobs"], tokens, mask)
      : listed(choice["prompt_logprobs"], tokens, mask, this.#topK);
  }
}

/**
 * Reads SGLang's answer, or that of a server with `echo`: a log-prob for each token of the prompt, null for
 * the first, then those generated.
 */
function echoed(logprobs: unknown, tokens: Int32Array, mask: Uint8Array): Scored {
  const all = (logprobs as { token_logprobs?: unknown } | null | undefined)?.token_logprobs;
  if (!Array.isArray(all) || all.length < tokens.length)
    throw new Error(
      `${Array.isArray(all) ? all.length : "no"} log-probs of a prompt of ${tokens.length} tokens`,
    );
  const said = tokens.map((_, t) => t);
  const scores = Float32Array.from(said, (t) => (mask[t] === 1 ? finite(all[t], t) : 0));
  return { logprobs: scores, ids: new Int32Array(0), top: new Float32Array(0) };
}

/**
 * Reads vLLM's answer: for each token of the prompt the likeliest by id, and the token itself; null for the
 * first.
 */
function listed(positions: unknown, tokens: Int32Array, mask: Uint8Array, k: number): Scored {
  if (!Array.isArray(positions) || positions.length !== tokens.length)
    throw new Error(
      `${Array.isArray(positions) ? positions.length : "no"} prompt_logprobs of ${tokens.length} tokens`,
    );
  const logprobs = new Float32Array(tokens.length);
  const likeliest: (readonly [number, number])[] = [];
  for (const [t, token] of tokens.entries()) {
    if (mask[t] !== 1) continue;
    const here = (positions[t] ?? {}) as Listed;
    logprobs[t] = finite(here[token]?.logprob, t);
    const entries = Object.entries(here).map(([id, one]) => [Number(id), finite(one?.logprob, t)] as const);
    const first = entries.toSorted((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, k);
    if (first.length < k) throw new Error(`${first.length} tokens at position ${t}, not ${k}`);
    likeliest.push(...first);
  }
  const ids = Int32Array.from(likeliest, ([id]) => id);
  return { logprobs, ids, top: Float32Array.from(likeliest, ([, logprob]) => logprob) };
}

function finite(logprob: unknown, position: number): number {
  if (typeof logprob === "number" && Number.isFinite(logprob)) return logprob;
  throw new Error(`the log-prob at position ${position} is ${JSON.stringify(logprob) ?? "missing"}`);
}
