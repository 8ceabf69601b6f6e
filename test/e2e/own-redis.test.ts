// `hone run --store redis-server` as a user has it: the command, its processes and their server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart } from "../fixtures/small-quickstart.ts";
import { long } from "../long.ts";
import { patient } from "../patience.ts";
import { noRedis } from "../streams/redis/redis-server.ts";
import { noAddon } from "./native-core.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-own-server-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const skipped = noRedis ?? noAddon;

/** A run of two processes at a server of its own. */
function startRun(name: string, settings: readonly string[], variables: NodeJS.ProcessEnv = {}) {
  const at = join(dir, name);
  const where = ["--dir", at, "--processes", "2", "--store", "redis-server"];
  const child = spawn(process.execPath, [...HONE, "run", QUICKSTART, ...where, ...asWords(settings)], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  const run = { at, said: "", ended: once(child, "close").then(([code]) => code as number | null) };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (run.said += chunk));
  return run;
}

const summaryOf = (at: string) => JSON.parse(readFileSync(join(at, "summary.json"), "utf8"));

test.runIf(long && skipped === undefined)(
  "a run at its own server does all its steps, and sends no password to it",
  async () => {
    const run = startRun("whole", smallQuickstart(3), { HONE_REDIS_PASSWORD: "hunter2" });
    expect(await run.ended, run.said).toBe(0);
    expect(run.said).not.toMatch(/password/i); // of which ioredis warns where a server did not ask for one
    expect(summaryOf(run.at)).toMatchObject({ steps: 3 });
    const { store } = JSON.parse(readFileSync(join(run.at, "line.json"), "utf8"));
    expect(store.address).toMatch(/^redis\+unix:\/\/\/.*\/redis\.sock$/);
  },
  patient(120_000),
);
