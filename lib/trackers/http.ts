import { NotTaken } from "./tracker.ts";

/** Most bytes of a response that are read; trackers' servers send less. */
const MOST_ANSWER_BYTES = 8 << 20;
/** A Retry-After of weeks would be a mistake of the server's. */
const LONGEST_RETRY_MS = 3_600_000;
/** 4xx statuses that ask for a retry; after any other 4xx status the request would fail again. */
const COME_BACK = new Set([408, 425, 429]);
/** Statuses after which entries are kept for a retry, since credentials or a proxy's routes may be fixed later. */
const MAY_BE_MENDED = new Set([401, 403, 404, 407]);

export interface HttpAnswer {
  readonly status: number;
  /** Parsed JSON, or undefined if the body is not JSON. */
  readonly body: unknown;
}

export interface HttpRequest {
  readonly url: string;
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and reads the whole response. Rejects with NotTaken for 408, 425, 429 and 5xx (with Retry-After),
 * for truncated responses and for redirects, and with fetch's error if there is no response.
 */
export async function request({
  url,
  method = "POST",
  headers,
  json,
  signal,
}: HttpRequest): Promise<HttpAnswer> {
  const response = await fetch(url, {
    method,
    signal,
    redirect: "error", // a redirect would forward the credentials
    headers: { ...headers, ...(json !== undefined && { "content-type": "application/json" }) },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await readAnswer(response);
  const { status } = response;
  if (status >= 500 || COME_BACK.has(status)) {
    const retryAfterMs = retryAfter(response.headers.get("retry-after"));
    throw new NotTaken(`HTTP ${status}${excerpt(text)}`, { retryAfterMs });
  }
  return { status, body: parsed(text) };
}

/** The body of a 2xx. Rejects with NotTaken for any other answer, refused for good if the request itself is at fault. */
export async function ask(wanted: HttpRequest): Promise<unknown> {
  const { status, body } = await request(wanted);
  if (status >= 200 && status < 300) return body;
  throw notTaken({ status, body });
}

export function notTaken({ status, body }: HttpAnswer): NotTaken {
  const text = body === undefined ? "" : excerpt(JSON.stringify(body));
  return new NotTaken(`HTTP ${status}${text}`, { refused: !MAY_BE_MENDED.has(status) });
}

async function readAnswer(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    parts.push(part as Uint8Array);
    size += (part as Uint8Array).length;
    if (size > MOST_ANSWER_BYTES) throw new NotTaken(`an answer of more than ${MOST_ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Seconds, or a date. Source: RFC 9110, section 10.2.3. */
export function retryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? 1000 * Number(header) : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), LONGEST_RETRY_MS) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const excerpt = (text: string): string => (text === "" ? "" : `: ${text.slice(0, 200)}`);
