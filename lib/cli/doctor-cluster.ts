import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import type { SelfTestReport } from "../fleet/index.ts";
import { textTable } from "../report/index.ts";
import type { StreamStore } from "../streams/index.ts";
import { EXIT, interruptSignal } from "./exit.ts";
import { honeCommand } from "./hone-command.ts";

export interface ClusterFlags {
  readonly json?: boolean;
  readonly processes?: string;
  readonly store?: string;
  readonly wait: string;
  readonly deadline: string;
}

const SIZES = [4 * 2 ** 10, 2 ** 20, 16 * 2 ** 20];

/** Runs this rank's part in the self-test, or all ranks as processes of this machine. Resolves with the exit code. */
export async function doctorCluster(
  flags: ClusterFlags,
  print: (report: SelfTestReport) => void,
): Promise<number> {
  const waitMs = seconds("--wait", flags.wait);
  const deadlineMs = seconds("--deadline", flags.deadline);
  if (flags.processes !== undefined) return await startRanks(flags, flags.processes);
  const { addressTowards, readLauncherEnv } = await import("../launch/index.ts");
  const { selfTestRank } = await import("../fleet/index.ts");
  const { Communicator, info } = await import("../native/index.ts");
  const { openStore } = await import("../streams/index.ts");
  const { rank, worldSize } = readLauncherEnv(process.env);
  if (worldSize < 2) throw alone();
  const { version, reason } = info().gloo;
  if (version === null)
    throw new HoneError(
      "HONE_ERR_UNSUPPORTED",
      `ranks communicate over Gloo, which is not available: ${reason}`,
    );
  const address = flags.store ?? (process.env["HONE_STORE"] || missingStore());
  const towards = /^rediss?:/.test(address) ? await addressTowards(address) : undefined;
  const host = process.env["HONE_HOST"] || towards;
  const report = await withStore(
    openStore(address, { run: selfTestRun(process.env["HONE_RUN_ID"]) }),
    (store) =>
      selfTestRank({
        store,
        rank,
        size: worldSize,
        host: host ?? hostname(),
        waitMs,
        deadlineMs,
        sizes: SIZES,
        make: (options) => new Communicator({ ...options, ...(host !== undefined && { host }) }),
      }),
  );
  if (rank === 0) print(report);
  return report.drills.every(({ failed }) => failed.length === 0) ? EXIT.done : EXIT.environment;
}

async function withStore<T>(
  opened: Promise<StreamStore>,
  work: (store: StreamStore) => Promise<T>,
): Promise<T> {
  await using store = await opened;
  return await work(store);
}

/** Starts ranks on this machine. They meet at a socket of this process unless `--store` names another store. */
async function startRanks(flags: ClusterFlags, number: string): Promise<number> {
  if (!/^\d{1,2}$/.test(number) || Number(number) < 2 || Number(number) > 64)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--processes is ${JSON.stringify(number)}, not a number from 2 to 64`,
    );
  const { serveStore, unixPath, unixUrl } = await import("../streams/index.ts");
  const own = mkdtempSync(join(tmpdir(), "hone-doctor-"));
  try {
    const address = flags.store ?? (process.env["HONE_STORE"] || unixUrl(join(own, "store.sock")));
    const runId = `local-${process.pid}`;
    if (unixPath(address) === undefined) return await ranksEnd(flags, address, runId, Number(number));
    return await withStore(serveStore(address, { run: selfTestRun(runId) }), () =>
      ranksEnd(flags, address, runId, Number(number)),
    );
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Starts the ranks, and resolves with the exit code of all. */
async function ranksEnd(
  { json, wait, deadline }: ClusterFlags,
  address: string,
  runId: string,
  size: number,
): Promise<number> {
  const words = ["--wait", wait, "--deadline", deadline, "--store", address, ...(json ? ["--json"] : [])];
  const children = Array.from({ length: size }, (_, rank) => startRank(words, rank, size, runId));
  const signal = interruptSignal(() => {});
  signal.addEventListener("abort", () => children.forEach((child) => void child.kill("SIGKILL")));
  const ends = await Promise.all(children.map((child) => once(child, "exit")));
  return ends.every(([code]) => code === 0) ? EXIT.done : EXIT.environment;
}

/** Name of the run under which the ranks of a launch find each other in the store. */
const selfTestRun = (runId = "cluster"): string => `doctor-${runId}`;

function startRank(flags: readonly string[], rank: number, size: number, runId: string): ChildProcess {
  const [node, ...main] = honeCommand();
  return spawn(node!, [...main, "doctor", "--cluster", ...flags], {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      RANK: String(rank),
      WORLD_SIZE: String(size),
      LOCAL_RANK: String(rank),
      LOCAL_WORLD_SIZE: String(size),
      GROUP_RANK: "0",
      HONE_RUN_ID: runId,
    },
  });
}

function seconds(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 86_400) return value * 1000;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `${name} is ${JSON.stringify(text)}; it must be a number of seconds above 0 and at most 86400 (a day)`,
  );
}

const alone = (): HoneError =>
  new HoneError("HONE_ERR_USAGE", "this process was not started by a launcher", {
    hint: "Start one process per rank by srun, mpirun or torchrun, or give --processes 2 for ranks of this machine.",
  });

function missingStore(): never {
  throw new HoneError("HONE_ERR_USAGE", "ranks need the address of a store", {
    hint: "--store redis://host:port, or HONE_STORE; --processes N starts ranks of this machine, which need neither.",
  });
}

/** Report of the self-test: ranks, timings, and results. */
export function selfTestText({ ranks, timings, drills }: SelfTestReport, columns: number): string {
  const failed = drills.filter((test) => test.failed.length > 0);
  return [
    ...textTable(
      {
        head: ["rank", "host", "process"],
        rows: ranks.map(({ rank, host, pid }) => [String(rank), host, String(pid)]),
      },
      columns,
    ),
    "",
    ...textTable({ head: ["call", "bytes", "ms", "MB/s"], rows: timings.map(timingRow) }, columns),
    "",
    ...drills.flatMap(({ what, seconds: s, words, failed: silent }) => [
      `${silent.length === 0 ? "passed" : "FAILED"}: ${what}; the others were notified within ${s.toFixed(2)} s`,
      silent.length === 0
        ? `  ${words}`
        : `  rank(s) ${silent.join(", ")} were not notified, or not of the rank at fault`,
    ]),
    "",
    failed.length === 0
      ? `all ${ranks.length} ranks started, and every test passed`
      : `${failed.length} of ${drills.length} tests failed`,
  ].join("\n");
}

function timingRow({ call, bytes, seconds: s }: SelfTestReport["timings"][number]): string[] {
  const rate = bytes / s / 1e6;
  const mbps = bytes === 0 ? "-" : rate.toFixed(rate < 100 ? 1 : 0);
  return [call, bytes === 0 ? "-" : bytes.toLocaleString("en-US"), (s * 1000).toFixed(2), mbps];
}
