// Tests `hone run --store redis-server` as a user runs it: the command, its processes and their server.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { EXIT } from "../../lib/cli/exit.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { noRedis } from "../streams/redis/redis-server.ts";
import { noAddon } from "./native-core.ts";
import { groupChecks } from "./process-chaos.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-own-server-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const skipped = noRedis ?? noAddon;

/** Starts a run of two processes with its own Redis server. */
function startRun(name: string, settings: readonly string[], variables: NodeJS.ProcessEnv = {}) {
  const at = join(dir, name);
  const where = ["--dir", at, "--processes", "2", "--store", "redis-server"];
  const child = spawn(process.execPath, [...HONE, "run", QUICKSTART, ...where, ...asWords(settings)], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  const run = {
    at,
    said: "",
    isOver: false,
    ended: once(child, "close").then(([code]) => {
      run.isOver = true;
      return code as number | null;
    }),
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (run.said += chunk));
  return run;
}
type Run = ReturnType<typeof startRun>;

/** Waits until the run's record has `count` steps. */
async function steps(run: Run, count: number): Promise<void> {
  const file = join(run.at, "events.jsonl");
  const done = () => (existsSync(file) ? readFileSync(file, "utf8").match(/^\{"e":"step"/gm) : null) ?? [];
  while (done().length < count) {
    if (run.isOver) throw new Error(`the run ended before step ${count}: ${run.said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The folder of the run's server, from the store's address in line.json. */
function serverFolder({ at }: Run): string {
  const { store } = JSON.parse(readFileSync(join(at, "line.json"), "utf8"));
  expect(store.address).toMatch(/^redis\+unix:\/\/\/.*\/redis\.sock$/);
  return dirname(fileURLToPath(store.address.replace("redis+unix:", "file:")));
}

const killServer = (run: Run) =>
  process.kill(Number(readFileSync(join(serverFolder(run), "redis.pid"), "utf8")), "SIGKILL");

const summaryOf = ({ at }: Run) => JSON.parse(readFileSync(join(at, "summary.json"), "utf8"));

test.runIf(longest && skipped === undefined)(
  "a run at its own server does all its steps, and sends no password to it",
  async () => {
    const run = startRun("whole", smallQuickstart(3), { HONE_REDIS_PASSWORD: "hunter2" });
    expect(await run.ended, run.said).toBe(0);
    expect(run.said).not.toMatch(/password/i); // ioredis warns if the server did not ask for the password
    expect(summaryOf(run)).toMatchObject({ steps: 3 });
    expect(existsSync(serverFolder(run))).toBe(false);
  },
  patient(120_000),
);

test.runIf(longest && skipped === undefined)(
  "its server is killed again and again: each time a line says so, no group is lost or trained twice, and the weights are an undisturbed run's",
  async () => {
    const settings = smallQuickstart(12);
    const alone = join(dir, "alone");
    const words = ["run", QUICKSTART, "--dir", alone, ...asWords(settings)];
    const undisturbed = await promisify(execFile)(process.execPath, [...HONE, ...words], { cwd: ROOT });
    expect(undisturbed.stderr).toBe("");
    const run = startRun("killed", settings);
    for (const step of [1, 4, 7]) {
      await steps(run, step);
      killServer(run);
    }
    expect(await run.ended, run.said).toBe(0);
    expect(run.said.match(/the run's own Redis server ended by SIGKILL; starting it again/g)).toHaveLength(3);
    expect(summaryOf(run)).toMatchObject({ steps: 12 });
    const { checks } = groupChecks(run.at, 0);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(weightsAfter(run.at, 12)).toBe(weightsAfter(alone, 12));
  },
  patient(180_000),
);

test.runIf(longest && skipped === undefined)(
  "where its server cannot be started again the run ends at once, and goes on from its checkpoint",
  async () => {
    const shim = mkdtempSync(join(dir, "shim-"));
    const real = execFileSync("sh", ["-c", "command -v redis-server"], { encoding: "utf8" }).trim();
    const script = `#!/bin/sh\n[ -e "${shim}/full" ] && echo no memory && exit 1\nexec "${real}" "$@"\n`;
    writeFileSync(join(shim, "redis-server"), script, { mode: 0o755 });
    const variables = { PATH: `${shim}:${process.env["PATH"]}` };
    const run = startRun("given-up", smallQuickstart(400), variables);
    await steps(run, 2);
    writeFileSync(join(shim, "full"), "");
    killServer(run);
    const killedMs = performance.now();
    expect(await run.ended, run.said).toBe(EXIT.environment);
    expect(performance.now() - killedMs).toBeLessThan(patient(15_000)); // an operation waits a minute for a server
    expect(run.said).toMatch(/^HONE_ERR_IO {2}the run's own Redis server ended 6 times in a row/m);
    const saved = readdirSync(join(run.at, "checkpoints")).filter((name) => name.startsWith("step-"));
    expect(saved.length).toBeGreaterThanOrEqual(1);
    const last = Number(saved.toSorted().at(-1)!.slice("step-".length));
    const more = [...smallQuickstart(400), `training.steps=${last + 2}`].filter(
      (each) => each !== "training.steps=400",
    );
    const words = ["run", QUICKSTART, "--dir", run.at, "--resume", ...asWords(more)];
    await promisify(execFile)(process.execPath, [...HONE, ...words], { cwd: ROOT });
    expect(summaryOf(run)).toMatchObject({ steps: last + 2 });
  },
  patient(180_000),
);
