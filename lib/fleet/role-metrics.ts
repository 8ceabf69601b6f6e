import { once } from "node:events";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { HoneError } from "../errors.ts";
import { MetricsEndpoint } from "../metrics/metrics-endpoint.ts";
import { type Sample, samplesText } from "../metrics/prometheus.ts";
import type { StreamStore } from "../streams/index.ts";
import { REGISTERS } from "./names.ts";

/** Processes of one machine take consecutive ports. */
const PORTS = 64;
const LEASE_BEATS = 20;

/** Address at which processes serve metrics for Prometheus. */
export interface MetricsPlace {
  readonly host: string;
  /** The first process of a machine takes this port, later ones the following ports; 0: any free port. */
  readonly port: number;
}

/** Throws HONE_ERR_USAGE naming HONE_METRICS. @param text "9400", "0.0.0.0:9400", "[::1]:0" */
export function readMetricsPlace(text: string): MetricsPlace {
  const found = /^(?:(?<host>[\w.-]+|\[[\da-fA-F:]+\]):)?(?<port>\d{1,5})$/.exec(text);
  const { host = "127.0.0.1", port } = found?.groups ?? {};
  if (port !== undefined && Number(port) <= 65_535)
    return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  throw new HoneError("HONE_ERR_USAGE", `HONE_METRICS is ${JSON.stringify(text)}, not a port, or host:port`, {
    hint: "Give for example 9400, 0.0.0.0:9400, or 0 for any free port.",
  });
}

/**
 * Parses HONE_METRICS and checks that this machine can listen there: otherwise the error would only be in the
 * processes' logs. Throws HONE_ERR_USAGE if it cannot.
 */
export async function usableMetricsPlace(text: string): Promise<MetricsPlace> {
  const place = readMetricsPlace(text);
  const server = createServer();
  try {
    await once(server.listen(place.port, place.host), "listening");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") return place; // another process of this machine has the port; this process tries the next ones
    throw new HoneError("HONE_ERR_USAGE", `HONE_METRICS is ${JSON.stringify(text)}: ${message}`, {
      cause,
      hint: "It names an address of this machine and a port that you may listen at: 9400, or 0.0.0.0:9400 for other machines too.",
    });
  } finally {
    server.close();
  }
  return place;
}

/** Metrics of a process. */
export interface RoleFacts {
  /** Version of its weights, and its distance to the current version; both absent for a process without weights. */
  readonly version?: number;
  readonly lag?: number;
  /** Tokens sampled or trained since the process began. */
  readonly tokens?: number;
  /** Completions that a verifier host has judged since it began. */
  readonly judged?: number;
  /** Number of earlier processes in its place; for an agent, by place. */
  readonly restarts: number | Readonly<Record<string, number>>;
}

export interface RoleMetricsOptions {
  readonly store: StreamStore;
  readonly place: MetricsPlace;
  /** Name of the process: "actor.1". */
  readonly name: string;
  readonly runId: string;
  readonly beatMs: number;
  /** Receives one line with the address of the endpoint, or the reason why there is none. */
  readonly say: (line: string) => void;
  readonly facts: () => RoleFacts;
}

/** Serves the metrics of one process to Prometheus, at an address that the coordinator finds in the store. */
export class RoleMetrics implements Disposable {
  readonly #options: RoleMetricsOptions;
  readonly #rate = new TokenRate();
  readonly #endpoint: MetricsEndpoint;
  readonly #timer: NodeJS.Timeout;
  #perSecond = 0;

  constructor(options: RoleMetricsOptions) {
    const { place, beatMs, say } = options;
    this.#options = options;
    const ports = place.port === 0 ? 1 : PORTS;
    this.#endpoint = new MetricsEndpoint({ ...place, ports, text: () => this.#text(), warn: say });
    this.#timer = setInterval(() => void this.#beat(), beatMs).unref();
    void this.#endpoint.address.then((address) => {
      if (address !== undefined) say(`metrics at ${outside(address)}`);
      return this.#beat();
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#endpoint.close();
  }

  async #beat(): Promise<void> {
    const { store, name, beatMs, facts } = this.#options;
    this.#perSecond = this.#rate.at(facts().tokens ?? 0);
    const address = await this.#endpoint.address;
    if (address === undefined) return;
    // the process's own work reports the store's errors
    await store.kv.setLease(REGISTERS.metrics(name), outside(address), beatMs * LEASE_BEATS).catch(() => {});
  }

  #text(): string {
    const { name, runId, facts } = this.#options;
    const { version, lag, tokens, judged, restarts } = facts();
    const places = typeof restarts === "number" ? { [name]: restarts } : restarts;
    const rate = tokens === undefined ? undefined : this.#perSecond;
    const samples = [
      ...sample("gauge", "version", "Version of the weights that the process has.", version),
      ...sample("gauge", "lag", "Number of versions by which the process is behind the version in use.", lag),
      ...sample(
        "gauge",
        "tokens_per_second",
        "Tokens sampled or trained per second, over the last seconds.",
        rate,
      ),
      ...sample("counter", "tokens_total", "Tokens sampled or trained since the process began.", tokens),
      ...sample("counter", "judged_total", "Completions judged since the process began.", judged),
      ...Object.entries(places).flatMap(([place, value]) => {
        const help = "Number of earlier processes in this place.";
        return sample("counter", "restarts_total", help, value).map((each) => ({
          ...each,
          labels: { place },
        }));
      }),
    ];
    return samplesText(samples, { run: runId, process: name });
  }
}

/** A sample of a metric; empty if the process has no such value. */
function sample(type: Sample["type"], name: string, help: string, value: number | undefined): Sample[] {
  return value === undefined ? [] : [{ name: `hone_process_${name}`, type, help, value }];
}

/** Address under which other machines reach a server that listens on all interfaces. */
const outside = (address: string): string =>
  address.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, `//${process.env["HONE_HOST"] || hostname()}:`);

/** Length of the window over which tokens per second are averaged. */
const WINDOW_MS = 5000;

/** Tokens per second over the last few seconds, from a running count. Call `at` about once a second. */
export class TokenRate {
  #counts: readonly { readonly atMs: number; readonly tokens: number }[] = [];

  /** @param tokens total count so far */
  at(tokens: number): number {
    const atMs = performance.now();
    const recent = [...this.#counts, { atMs, tokens }].filter((count) => atMs - count.atMs <= WINDOW_MS);
    this.#counts = recent;
    const first = recent[0]!;
    return atMs > first.atMs ? Math.max(0, (1000 * (tokens - first.tokens)) / (atMs - first.atMs)) : 0;
  }
}
