import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { prometheusText, type Sink } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";

/** Scrapers come one at a time. */
const MOST_CONNECTIONS = 32;
const PATIENCE_MS = 5_000;
const HEADERS = {
  "content-type": "text/plain; version=0.0.4; charset=utf-8",
  "x-content-type-options": "nosniff",
};

export interface EndpointOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Told where it listens, or that it cannot: the run goes on. */
  readonly warn: (message: string) => void;
}

/**
 * The last step at http://<host>:<port>/metrics in the Prometheus text format; 404 elsewhere, 405 for anything but GET
 * and HEAD. It keeps no process alive.
 */
export class PrometheusEndpoint implements Sink {
  readonly name = "prometheus-endpoint";
  /** Undefined where it cannot listen. */
  readonly address: Promise<string | undefined>;
  readonly #server: Server;
  readonly #labels: EndpointOptions["labels"];
  #text = "";

  constructor({ host, port, labels, warn }: EndpointOptions) {
    this.#labels = labels;
    this.#server = createServer(
      { requestTimeout: PATIENCE_MS, headersTimeout: PATIENCE_MS },
      ({ method, url }, to) =>
        this.#answer(method ?? "", new URL(url ?? "/", "http://prometheus").pathname, to),
    );
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.unref();
    this.address = new Promise((resolve) => {
      this.#server.on("error", (error) => {
        warn(`no metrics at ${host}:${port}, and the run goes on: ${error.message}`);
        resolve(undefined);
      });
      this.#server.listen(port, host, () => {
        const { port: taken, address, family } = this.#server.address() as AddressInfo;
        resolve(`http://${family === "IPv6" ? `[${address}]` : address}:${taken}/metrics`);
      });
    });
  }

  write(record: StepRecord): void {
    this.#text = prometheusText(record, this.#labels);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(method: string, path: string, to: ServerResponse): void {
    if (path !== "/metrics") return void to.writeHead(404).end();
    if (method !== "GET" && method !== "HEAD") return void to.writeHead(405, { allow: "GET, HEAD" }).end();
    to.writeHead(200, HEADERS).end(method === "HEAD" ? undefined : this.#text);
  }
}
