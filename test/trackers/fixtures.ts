import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { TrackedRun, TrackedStep } from "../../lib/trackers/index.ts";
import { patient } from "../patience.ts";

export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "hone-trackers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const runIn = (dir: string): TrackedRun => ({
  id: "0123456789abcdef0123456789abcdef",
  name: "demo",
  seed: 3,
  recipe: { name: "demo", optimizer: { lr: 0.001 }, domains: { math: { weight: 1 } } },
  dir,
});

export const stepOf = (
  step: number,
  metrics: Record<string, number> = { "score/mean": step / 10 },
): TrackedStep => ({
  kind: "step",
  step,
  version: step,
  at: 1_700_000_000_000 + 1000 * step,
  sitting: 1,
  metrics,
});

export const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
};

/** An HTTP server that can be switched off, and on again at its port; `behaviour` answers its requests. */
export class SwitchedServer {
  readonly port: number;
  behaviour: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
  requests = 0;
  #server: Server | undefined;

  private constructor(port: number, behaviour: SwitchedServer["behaviour"]) {
    this.port = port;
    this.behaviour = behaviour;
  }

  /** Makes a server that is off: no program listens at its port until `on`. */
  static async off(behaviour: SwitchedServer["behaviour"]): Promise<SwitchedServer> {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const server = new SwitchedServer(port, behaviour);
    onTestFinished(() => server.switchOff());
    return server;
  }

  static async on(behaviour: SwitchedServer["behaviour"]): Promise<SwitchedServer> {
    const server = await SwitchedServer.off(behaviour);
    await server.switchOn();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  switchOn(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.requests += 1;
      void Promise.resolve(this.behaviour(request, response)).catch((error: unknown) => {
        response.writeHead(599).end(String(error));
      });
    });
    return new Promise((resolve) => this.#server!.listen(this.port, "127.0.0.1", resolve));
  }

  async switchOff(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Resolves when `holds` returns true; rejects after some seconds. */
export async function eventually(holds: () => boolean, what = "what was waited for"): Promise<void> {
  const until = performance.now() + patient(5000);
  while (!holds()) {
    if (performance.now() > until) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
