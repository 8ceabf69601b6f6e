// A node joins a run in progress: its actors get weights and work, and the run's weights equal those of one process.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { type ProcessStatus, readPipelineStatus } from "../../lib/metrics/index.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";

/** More steps than a node takes to join; the test ends the run earlier. */
const STEPS = 20_000;
const JUDGED = /, [1-9]\d* judged$/;
const settings = (steps: number) => [...smallQuickstart(steps), "optimizer.schedule=constant"];

const dir = mkdtempSync(join(tmpdir(), "hone-joins-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const hone = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [...HONE, ...args], { cwd: ROOT });

/** A real agent, without a launcher's environment. */
class Agent implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #said = "";

  constructor(args: readonly string[]) {
    this.#process = spawn(process.execPath, [...HONE, "agent", ...args], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#ended = once(this.#process, "exit");
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => (this.#said += text));
  }

  /** Waits until a process of the run is in the wanted state. Throws the agent's output if the agent ends before. */
  async until(
    run: string,
    wanted: (status: ProcessStatus, step: number) => boolean,
    name: string,
  ): Promise<void> {
    for (;;) {
      const { processes = [], step = 0 } = readPipelineStatus(run) ?? {};
      if (processes.some((status) => status.name === name && wanted(status, step))) return;
      if (this.#process.exitCode !== null) throw new Error(this.#said.slice(-3000));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async end(signal: NodeJS.Signals): Promise<unknown> {
    this.#process.kill(signal);
    return (await this.#ended)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL"); // the agent's processes end with it
    await this.#ended;
  }
}

const stepsOf = (run: string) =>
  Math.max(
    ...readdirSync(join(run, "checkpoints")).map((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? 0)),
  );

describe.skipIf(noRedis !== undefined)("a node that joins a run", () => {
  test.runIf(longest)(
    "its actor samples and its verifier host judges, they show in hone status, and leave when it is told to, and change no bit of the weights",
    async () => {
      await using store = await RedisServer.start();
      const at = join(dir, "run");
      const shared = [QUICKSTART, "--dir", at, "--store", store.url];
      const words = asWords([
        ...settings(STEPS),
        "hardware.processes.actors=1",
        "hardware.processes.trainers=1",
        "hardware.processes.verifiers=1",
      ]);
      await using first = new Agent([...shared, ...words]);
      await first.until(at, (_, step) => step > 1, "actor.0");
      await using joined = new Agent([...shared, ...words, "--join", "1", "--join-verifiers", "1"]);
      const samples = ({ version = 0, tokensPerSecond = 0 }: ProcessStatus) =>
        version > 1 && tokensPerSecond > 0;
      await joined.until(at, samples, "actor.1");
      await joined.until(at, ({ doing }) => JUDGED.test(doing), "verifier.1");
      const { stdout } = await hone("status", at, "--json");
      const shown = (JSON.parse(stdout) as { processes: ProcessStatus[] }).processes;
      expect(shown.find(({ name }) => name === "actor.1")).toMatchObject({ state: "alive", restarts: 0 });
      expect(await joined.end("SIGTERM")).toBe(0);
      const before = stepsOf(at);
      // the first node took over the leases of the ended one
      await first.until(at, (_, step) => step > before + 1, "actor.0");
      expect(await first.end("SIGTERM")).toBe(75);
      const step = stepsOf(at);
      const one = join(dir, "one");
      await hone("run", QUICKSTART, "--dir", one, ...asWords(settings(step)));
      expect(weightsAfter(at, step)).toBe(weightsAfter(one, step));
    },
    patient(90_000),
  );
});
