import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { HoneError } from "../errors.ts";
import { limitConnections } from "../shared/http/connection-limit.ts";
import type { Trust } from "../trust.ts";
import { isOwnHost, isOwnOrigin, newToken, sameSecret } from "./access.ts";
import { ANSWERS } from "./answers.ts";
import { requestControl } from "./control.ts";
import { pageFile } from "./page-files.ts";
import { type Question, runOf } from "./question.ts";
import { Watch } from "./watch.ts";

export interface LiveOptions {
  /** Default: 127.0.0.1, reachable only from this machine. */
  readonly host?: string | undefined;
  /** Default: any free port. */
  readonly port?: number | undefined;
  /** Default: a new one. */
  readonly token?: string | undefined;
  /** What the folders' records may make this process execute for an explanation. Default: nothing. */
  readonly trust?: Trust | undefined;
}

const LOCAL = "127.0.0.1";
/** Time for listeners to read the last events. */
const GRACE_MS = 200;
const MOST_BODY_BYTES = 10_000;
/** Each page holds a connection, and some more while it loads; bounded so that a client cannot use up the run's descriptors. */
const MOST_CONNECTIONS = 128;
/** Time limit for a request to arrive completely. */
const PATIENCE_MS = 5_000;
const LOOK_MS = 1_000;
/** Time without progress after which an answer, or a stream, that the client does not read is closed. */
const STALLED_MS = 10_000;
const WORTH_PACKING_BYTES = 4096;
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
} as const;
const STATUS: Readonly<Partial<Record<string, number>>> = {
  HONE_ERR_USAGE: 400,
  HONE_ERR_TRUST: 403,
  HONE_ERR_STATE: 409,
};

/** Refusal of a request: its status, and one line of text. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Serves the page of some run folders over HTTP. A client with the token in its address may read and control the runs;
 * without it there are only the page's own files, which contain nothing of a run. Close it when done.
 */
export class LiveServer implements AsyncDisposable {
  readonly watch: Watch;
  readonly token: string;
  readonly #host: string;
  readonly #server: Server;

  private constructor(watch: Watch, { host = LOCAL, token = newToken() }: LiveOptions) {
    this.watch = watch;
    this.token = token;
    this.#host = host;
    this.#server = createServer(
      { requestTimeout: PATIENCE_MS, headersTimeout: PATIENCE_MS, connectionsCheckingInterval: LOOK_MS },
      (request, response) => void this.#serve(request, response),
    );
    limitConnections(this.#server, MOST_CONNECTIONS);
    this.#server.timeout = STALLED_MS;
  }

  /** Throws HONE_ERR_IO if a folder cannot be read or the port is taken. */
  static async open(dirs: readonly string[], options: LiveOptions = {}): Promise<LiveServer> {
    const live = new LiveServer(new Watch(dirs, options.trust), options);
    await new Promise<void>((resolve, reject) => {
      // handles later errors too: a connection that cannot be accepted must not end a run
      live.#server.on("error", (cause) => {
        const hint = "Choose another --port, or none for one that is free.";
        reject(
          new HoneError("HONE_ERR_IO", `the page cannot be served at ${live.#host}: ${cause.message}`, {
            cause,
            hint,
          }),
        );
      });
      live.#server.listen(options.port ?? 0, live.#host, resolve);
    });
    live.watch.start();
    return live;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Address of the page. */
  get url(): string {
    const host = this.#host.includes(":") ? `[${this.#host}]` : this.#host;
    return `http://${host}:${this.port}/?token=${this.token}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const late = setTimeout(() => this.#server.closeAllConnections(), GRACE_MS);
    await closed;
    clearTimeout(late);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // An answer may take long, and a stream may be quiet: only a client that does not read its data is idle.
    response.on("timeout", (socket: Socket) => socket.writableLength > 0 && socket.destroy());
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    try {
      if (!isOwnHost(request.headers.host, this.#host)) throw new Refusal(421, "not a name of this machine");
      const url = new URL(request.url ?? "/", "http://localhost");
      if (url.pathname.startsWith("/api/")) await this.#api(url, request, response);
      else sendFile(url.pathname, request, response);
    } catch (error) {
      refuse(error, response);
    }
  }

  async #api(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = request.headers["x-hone-token"] ?? url.searchParams.get("token");
    if (!sameSecret(typeof given === "string" ? given : null, this.token))
      throw new Refusal(403, "the address lacks the token that the command printed");
    url.searchParams.delete("token");
    this.watch.refresh();
    const name = url.pathname.slice("/api/".length);
    const question = { query: url.searchParams, watch: this.watch };
    if (name === "events") return this.#listen(url, request, response);
    if (name === "control") return sendJson(await this.#control(request, question), request, response);
    const answer = Object.hasOwn(ANSWERS, name) ? ANSWERS[name] : undefined;
    if (answer === undefined) throw new Refusal(404, "no such address below /api");
    if (request.method !== "GET") throw new Refusal(405, "only GET is allowed here");
    sendJson(await answer(question), request, response);
  }

  #listen(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const seen = request.headers["last-event-id"] ?? url.searchParams.get("from");
    this.watch.stream.add(response);
    if (typeof seen === "string") response.write(this.watch.missed(seen));
  }

  async #control(request: IncomingMessage, question: Question): Promise<unknown> {
    // Pages of other origins cannot set this header without a CORS preflight request.
    if (request.method !== "POST" || request.headers["x-hone-token"] === undefined)
      throw new Refusal(405, "controls need POST, with the token in the header");
    if (!isOwnOrigin(request.headers.origin, request.headers.host)) throw new Refusal(403, "another origin");
    const body = JSON.parse(await bodyOf(request)) as { action?: unknown } | null;
    return requestControl(runOf(question), body?.action, `page at ${request.socket.remoteAddress ?? "?"}`);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > MOST_BODY_BYTES) throw new Refusal(413, "too long");
  }
  return text;
}

function sendFile(path: string, request: IncomingMessage, response: ServerResponse): void {
  const file = pageFile(path === "/" ? "index.html" : path.slice(1));
  if (file === undefined) throw new Refusal(404, "there is no such page");
  send(file.type, file.text, request, response);
}

const sendJson = (value: unknown, request: IncomingMessage, response: ServerResponse): void =>
  send("application/json", JSON.stringify(value), request, response);

function send(type: string, text: string, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("content-type", type);
  const packs = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  if (!packs || text.length < WORTH_PACKING_BYTES) return void response.end(text);
  response.setHeader("content-encoding", "gzip");
  response.end(gzipSync(text, { level: 1 }));
}

function refuse(error: unknown, response: ServerResponse): void {
  const known = error instanceof Refusal || HoneError.is(error) || error instanceof SyntaxError;
  const status =
    error instanceof Refusal ? error.status : HoneError.is(error) ? (STATUS[error.code] ?? 500) : 400;
  response.statusCode = known ? status : 500;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
}
