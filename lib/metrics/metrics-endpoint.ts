import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { limitConnections } from "../shared/http/connection-limit.ts";

/** Scrapers connect one at a time and are quick. Other clients may keep a connection for this long. */
const MOST_CONNECTIONS = 32;
const PATIENCE_MS = 2_000;
const STALLED_MS = 10_000;
const LOOK_MS = 500;
const HEADERS = {
  "content-type": "text/plain; version=0.0.4; charset=utf-8",
  "x-content-type-options": "nosniff",
};

export interface MetricsEndpointOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Number of ports to try, beginning with `port`; the first free one is taken. Default: 1. */
  readonly ports?: number;
  /** Returns the metrics in the Prometheus text format. */
  readonly text: () => string;
  /** Receives a message if it cannot listen; the run continues. */
  readonly warn: (message: string) => void;
}

/**
 * http://<host>:<port>/metrics; 404 for other paths, 405 for methods other than GET and HEAD. Does not keep the
 * process alive.
 */
export class MetricsEndpoint {
  /** Address at which metrics are served; undefined if the endpoint cannot listen. */
  readonly address: Promise<string | undefined>;
  readonly #server: Server;
  readonly #text: () => string;

  constructor(options: MetricsEndpointOptions) {
    this.#text = options.text;
    this.#server = createServer(
      { requestTimeout: PATIENCE_MS, headersTimeout: PATIENCE_MS, connectionsCheckingInterval: LOOK_MS },
      // accepts any text as path: an exception for an invalid URL would end the process
      ({ method = "", url = "" }, to) => this.#answer(method, url.split("?", 1)[0]!, to),
    );
    limitConnections(this.#server, MOST_CONNECTIONS);
    this.#server.timeout = STALLED_MS;
    this.#server.unref();
    this.address = this.#listen(options);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #listen({ host, port, ports = 1, warn }: MetricsEndpointOptions): Promise<string | undefined> {
    let tried = 0;
    const listen = () => this.#server.listen(port + tried, host);
    return new Promise((resolve) => {
      this.#server.on("error", (error: NodeJS.ErrnoException) => {
        tried += 1;
        if (error.code === "EADDRINUSE" && tried < ports) return void listen();
        warn(`the run continues without serving metrics at ${host}:${port}: ${error.message}`);
        resolve(undefined);
      });
      this.#server.on("listening", () => {
        const { port: taken, address, family } = this.#server.address() as AddressInfo;
        resolve(`http://${family === "IPv6" ? `[${address}]` : address}:${taken}/metrics`);
      });
      listen();
    });
  }

  #answer(method: string, path: string, to: ServerResponse): void {
    if (path !== "/metrics") return void to.writeHead(404).end();
    if (method !== "GET" && method !== "HEAD") return void to.writeHead(405, { allow: "GET, HEAD" }).end();
    to.writeHead(200, HEADERS).end(method === "HEAD" ? undefined : this.#text());
  }
}
