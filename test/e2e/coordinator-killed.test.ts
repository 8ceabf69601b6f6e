// kill -9 ends the coordinator of `hone run --processes` and with it the store that it serves: the same command line
// with --resume continues.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { signalTo } from "../stopped.ts";
import { noAddon } from "./native-core.ts";

const STEPS = 5;
const folder = mkdtempSync(join(tmpdir(), "hone-coordinator-"));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `hone run` into a folder of that name, and collects its output. */
function honeRun(name: string, ...flags: string[]) {
  const dir = join(folder, name);
  const words = asWords(smallQuickstart(STEPS));
  const child = spawn(process.execPath, [...HONE, "run", QUICKSTART, "--dir", dir, ...words, ...flags], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HONE_THREADS: "1" },
  });
  children.push(child);
  const run = { dir, child, said: "", ended: once(child, "close").then(([code]) => code as number | null) };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (run.said += chunk));
  return run;
}

const hasCheckpoint = (dir: string, step: number) =>
  existsSync(join(dir, "checkpoints", `step-00000${step}`));
const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";

let alone: Promise<string> | undefined;
async function weightsOfOne(): Promise<string> {
  const run = honeRun("one");
  expect(await run.ended, run.said).toBe(0);
  return weightsAfter(run.dir, STEPS);
}

const socket = join(folder, "named.sock");

test.runIf(longest && noAddon === undefined).each<[string, string[]]>([
  ["named", ["--store", `unix:${socket}`]],
  ["own", []],
])(
  "with a socket that is its %s, and ends with the weights of one process that nothing happened to",
  async (name, store) => {
    alone ??= weightsOfOne();
    const first = honeRun(name, "--processes", "2", ...store);
    await vi.waitFor(() => expect(hasCheckpoint(first.dir, 2), first.said).toBe(true), {
      timeout: patient(60_000),
      interval: 5,
    });
    const { processes } = JSON.parse(readFileSync(join(first.dir, "line.json"), "utf8"));
    first.child.kill("SIGKILL");
    expect(await first.ended).toBe(null);
    expect(hasCheckpoint(first.dir, STEPS), "it was killed on the way").toBe(false);
    if (name === "named") expect(existsSync(socket), "its socket is left").toBe(true);
    // the coordinator's other processes end with it
    const pids = processes.flatMap(({ name: role, pid }: { name: string; pid?: number }) =>
      role === "run" || pid === undefined ? [] : [pid],
    );
    expect(pids.length).toBeGreaterThan(1);
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), {
      timeout: patient(10_000),
      interval: 50,
    });

    const second = honeRun(name, "--processes", "2", ...store, "--resume");
    expect(await second.ended, second.said).toBe(0);
    expect(weightsAfter(second.dir, STEPS)).toBe(await alone);
    expect(existsSync(socket)).toBe(false);
  },
  patient(180_000),
);

test.runIf(longest && noAddon === undefined)(
  "a socket that a living run serves is refused by name, and that run goes on",
  async () => {
    const path = join(folder, "busy.sock");
    const first = honeRun("busy", "--processes", "2", "--store", `unix:${path}`);
    await vi.waitFor(() => expect(existsSync(path), first.said).toBe(true), {
      timeout: patient(60_000),
      interval: 5,
    });
    const second = honeRun("second", "--processes", "2", "--store", `unix:${path}`);
    expect(await second.ended, second.said).not.toBe(0);
    expect(second.said).toMatch(
      new RegExp(`HONE_ERR_USAGE +unix:${path} is served by process ${first.child.pid}, which is alive`),
    );
    expect(await first.ended, first.said).toBe(0);
  },
  patient(180_000),
);

/** Longer than a process may stop its heartbeat (SETTINGS.aliveMs). */
const STOPPED_MS = 12_000;

test.runIf(longest && noAddon === undefined)(
  "a coordinator that was stopped does not take those for silent whose messages it has not read, and the weights are one process's",
  async () => {
    alone ??= weightsOfOne();
    const run = honeRun("stopped", "--processes", "2");
    await vi.waitFor(() => expect(hasCheckpoint(run.dir, 2), run.said).toBe(true), {
      timeout: patient(60_000),
      interval: 5,
    });
    signalTo(run.child.pid!, "SIGSTOP");
    await sleep(STOPPED_MS);
    signalTo(run.child.pid!, "SIGCONT");
    expect(await run.ended, run.said).toBe(0);
    expect(weightsAfter(run.dir, STEPS)).toBe(await alone);
    const { processes } = JSON.parse(readFileSync(join(run.dir, "line.json"), "utf8"));
    const trainer = processes.find(({ name }: { name: string }) => name === "trainer.0");
    expect(trainer).toMatchObject({ restarts: 0 });
  },
  patient(180_000),
);
