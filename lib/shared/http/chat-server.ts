import { setMaxListeners } from "node:events";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { HoneError } from "../../errors.ts";
import { within } from "../async/deadline.ts";
import { deferred } from "../async/deferred.ts";
import { Semaphore } from "../async/semaphore.ts";

export interface ChatServerOptions {
  /** Base URL of the server: "http://localhost:8000/v1". */
  readonly url: string;
  /** API key, sent as a bearer token and not stored. */
  readonly key?: string | undefined;
  /** Maximum number of simultaneous connections. */
  readonly concurrency: number;
  /** Time limit for one response, from the request to its last byte; excludes waiting for a connection. */
  readonly timeoutMs: number;
  /** How often a failed request is retried. */
  readonly retries: number;
  /** Wait before the first retry; doubles each time, and is multiplied by a random factor from a half to one. */
  readonly backoffMs: number;
}

const LONGEST_WAIT_MS = 60_000;
const MOST_BYTES = 64 << 20;
/** Statuses that the server would return for every request: wrong key, path or method. */
const HOPELESS: ReadonlySet<number> = new Set([401, 403, 404, 405]);
/** Statuses with which a server rejects this particular request. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/** Outcome of a request: JSON, or the reason why all tries failed. */
export type Reply = { readonly json: unknown } | { readonly outage: string };

interface Exchanged {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A failed attempt of a request; if `final`, the request is not sent again. */
class Fault extends Error {
  readonly retryAfterMs: number | undefined;
  readonly isFinal: boolean;

  constructor(
    message: string,
    { retryAfterMs, isFinal = false }: { retryAfterMs?: number | undefined; isFinal?: boolean } = {},
  ) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.isFinal = isFinal;
  }
}

/**
 * An OpenAI-compatible server. Retries busy (429), broken (5xx), truncated, slow and unreadable responses with
 * back-off, obeying Retry-After; if all tries fail, the result is an outage.
 */
export class ChatServer implements Disposable {
  readonly url: string;
  readonly #options: ChatServerOptions;
  readonly #isTls: boolean;
  readonly #agent: HttpAgent;
  readonly #connections: Semaphore;
  readonly #closing = new AbortController();

  /** Throws HONE_ERR_USAGE for a URL that is not valid. */
  constructor(options: ChatServerOptions) {
    const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw new HoneError(
        "HONE_ERR_USAGE",
        `${JSON.stringify(options.url)} is not an http or https address of a server`,
        {
          hint: "Give an address such as http://localhost:8000/v1.",
        },
      );
    }
    this.#options = options;
    setMaxListeners(0, this.#closing.signal); // unlimited listeners: each request that waits for its retry adds one
    this.#isTls = url.protocol === "https:";
    const Agent = this.#isTls ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true });
    this.#connections = new Semaphore(() => options.concurrency);
    this.url = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  }

  /**
   * Posts JSON to a path below the base URL. Throws HONE_ERR_ENDPOINT if the server refuses every request.
   * @param read parses the reply; if it throws, the request is retried
   */
  async post<T>(
    path: string,
    body: unknown,
    read: (json: unknown) => T,
  ): Promise<{ readonly value: T } | { readonly outage: string }> {
    const { retries, backoffMs } = this.#options;
    for (let tries = 0; ; tries++) {
      try {
        return { value: read(await this.#once(path, JSON.stringify(body))) };
      } catch (error) {
        if (HoneError.is(error)) throw error;
        const fault = error instanceof Fault ? error : new Fault((error as Error).message);
        if (fault.isFinal || tries >= retries || this.#closing.signal.aborted)
          return { outage: fault.message };
        const backoff = Math.min(LONGEST_WAIT_MS, backoffMs * 2 ** tries) * (0.5 + 0.5 * Math.random());
        await this.#wait(Math.min(5 * LONGEST_WAIT_MS, Math.max(backoff, fault.retryAfterMs ?? 0)));
      }
    }
  }

  /** Ends all requests in progress. */
  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#agent.destroy();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#closing;
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end, { once: true });
    });
  }

  async #once(path: string, body: string): Promise<unknown> {
    const { status, headers, text } = await this.#connections.run(() => this.#exchange(path, body));
    if (status === 200) {
      try {
        return JSON.parse(text);
      } catch {
        throw new Fault(`the answer is not JSON: ${excerpt(text)}`);
      }
    }
    const said = `the server says ${status}: ${excerpt(text)}`;
    if (HOPELESS.has(status)) {
      throw new HoneError("HONE_ERR_ENDPOINT", `${this.url}${path}: ${said}`, {
        details: { status },
        hint: "Check the address, the model's name (--model, or the recipe's endpoint) and the key in the environment (--api-key-env, apiKeyEnv).",
      });
    }
    throw new Fault(said, { isFinal: REFUSED.has(status), retryAfterMs: retryAfter(headers["retry-after"]) });
  }

  #exchange(path: string, body: string): Promise<Exchanged> {
    const { key, timeoutMs } = this.#options;
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    };
    const options = { method: "POST", headers, agent: this.#agent };
    const send = this.#isTls ? httpsRequest : httpRequest;
    return within(timeoutMs, this.#closing.signal, (signal) => {
      const { promise, resolve, reject } = deferred<Exchanged>();
      const isLate = () => signal.aborted && !this.#closing.signal.aborted;
      const fail = ({ message }: Error) =>
        reject(new Fault(isLate() ? `no answer within ${timeoutMs} ms` : message));
      const request = send(`${this.url}${path}`, { ...options, signal }, (response) => {
        const { statusCode, headers } = response;
        collect(response).then((text) => resolve({ status: statusCode!, headers, text }), fail);
      });
      request.on("error", fail);
      request.end(body);
      return promise;
    });
  }
}

async function collect(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Fault(`an answer of over ${MOST_BYTES} bytes`, { isFinal: true });
  }
  if (!response.complete) throw new Fault("the answer was cut off");
  return Buffer.concat(chunks).toString("utf8");
}

const excerpt = (text: string): string => text.slice(0, 120).replace(/\s+/g, " ").trim() || "nothing";

/** Reads a Retry-After header, which has seconds or a date; returns milliseconds. */
function retryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
