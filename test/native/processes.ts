/**
 * Runs each rank in its own process with a communicator of the real addon. The test passes each rank the addresses
 * that the others prepared.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CommunicatorOptions } from "../../lib/native/group-face.ts";
import { Communicator } from "../../lib/native/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** What a rank's script returned or threw. */
export interface RankResult {
  readonly value?: unknown;
  readonly error?: { readonly code?: string; readonly message: string };
}

export interface RankProcess {
  readonly child: ChildProcess;
  /** Undefined if the process ended without a result. */
  readonly result: Promise<RankResult | undefined>;
}

interface Said {
  readonly prepared?: readonly Uint8Array[];
  readonly result?: RankResult;
}

const PREAMBLE = `
  const native = require("node-gyp-build")(${JSON.stringify(ROOT)});
  const { rank, size, timeoutMs } = JSON.parse(process.argv[1]);
  const group = new native.NativeCommunicator({ rank, size, timeoutMs });
  const tell = (result) => process.send({ result }, () => process.disconnect());
  process.once("message", async (blobs) => {
    try {
      await group.connect(blobs);
      tell({ value: await main(group, rank) });
    } catch (error) {
      tell({ error: { code: error.code, message: error.message } });
    }
    await group.close().catch(() => {});
  });
  process.send({ prepared: group.prepare() });
`;

/** Starts `size` connected processes that run `script`, the body of an async function of `group` and `rank`. */
export async function rankProcesses(
  size: number,
  script: string,
  timeoutMs = 60_000,
): Promise<readonly RankProcess[]> {
  const started = Array.from({ length: size }, (_, rank) => rankProcess(script, { rank, size, timeoutMs }));
  const prepared = await Promise.all(started.map(({ prepared }) => prepared));
  started.forEach(({ child }, rank) => {
    child.send(prepared.map((blobs) => blobs[rank]));
  });
  return started;
}

/** Starts a process that waits for the addresses of the other ranks. */
export function rankProcess(
  script: string,
  settings: CommunicatorOptions,
): RankProcess & { readonly prepared: Promise<readonly Uint8Array[]> } {
  const body = `async function main(group, rank) { ${script} }\n${PREAMBLE}`;
  const child = spawn(process.execPath, ["--input-type=commonjs", "-e", body, JSON.stringify(settings)], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
  });
  const prepared = new Promise<readonly Uint8Array[]>((resolve, reject) => {
    child.on("message", (said: Said) => said.prepared && resolve(said.prepared));
    child.once("exit", (code) => reject(new Error(`a rank ended with ${code} before it had prepared`)));
  });
  prepared.catch(() => {});
  const result = new Promise<RankResult | undefined>((resolve) => {
    child.on("message", (said: Said) => said.result && resolve(said.result));
    child.once("disconnect", () => resolve(undefined)); // not "exit", which may come before the process's last message
  });
  return { child, prepared, result };
}

/** Runs a group of rank processes and returns every rank's result. */
export async function resultsOf(
  size: number,
  script: string,
  timeoutMs?: number,
): Promise<readonly (RankResult | undefined)[]> {
  const ranks = await rankProcesses(size, script, timeoutMs);
  return await Promise.all(ranks.map(({ result }) => result));
}

/** Opens the communicators of two ranks in this process. */
export async function communicatorPair(timeoutMs = 60_000): Promise<readonly [Communicator, Communicator]> {
  const two = [0, 1].map((rank) => new Communicator({ rank, size: 2, timeoutMs }));
  const prepared = two.map((group) => group.prepare());
  await Promise.all(two.map((group, rank) => group.connect(prepared.map((blobs) => blobs[rank]!))));
  return two as unknown as readonly [Communicator, Communicator];
}
