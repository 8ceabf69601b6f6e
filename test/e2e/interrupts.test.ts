// Tests Ctrl-C and SIGTERM for a run of several processes, with every kind of store; a terminal signals the whole
// process group.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart } from "../fixtures/small-quickstart.ts";
import { long, longest } from "../long.ts";
import { patient } from "../patience.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";
import { noAddon } from "./native-core.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-interrupts-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Store extends AsyncDisposable {
  /** Words of the command line. */
  readonly words: readonly string[];
}

const given = (...words: string[]): Store => ({ words, [Symbol.asyncDispose]: async () => {} });

/** Every kind of store for a run on one machine; add a line for a new kind. */
const STORES: readonly { name: string; skipped?: string | undefined; open: () => Promise<Store> }[] = [
  { name: "its default store", open: async () => given() },
  { name: "a Redis server of its own", skipped: noRedis, open: async () => given("--store", "redis-server") },
  {
    name: "a Redis server that is there",
    skipped: noRedis,
    open: async () => {
      const server = await RedisServer.start();
      const words = ["--store", server.url];
      return { words, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  },
];

const MANY = 400;
const stepsOf = (at: string): number => {
  const file = join(at, "events.jsonl");
  return existsSync(file) ? (readFileSync(file, "utf8").match(/^\{"e":"step"/gm) ?? []).length : 0;
};
const checkpointsOf = (at: string): string[] =>
  readdirSync(join(at, "checkpoints")).filter((name) => name.startsWith("step-"));

/** The processes of a group that have not ended. */
function living(group: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const [state, , of] = /^\d+$/.test(name)
        ? readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]!.split(" ")
        : [];
      return Number(of) === group && state !== "Z" ? [Number(name)] : [];
    } catch {
      return []; // the process has ended in the meantime
    }
  });
}

/** Starts a run in its own process group, as `setsid` does; it saves nothing by itself. */
async function begun(
  at: string,
  store: Store,
): Promise<{ child: ChildProcess; said: () => string; code: Promise<number | null> }> {
  const settings = [...smallQuickstart(MANY), "checkpoint.everySteps=0"];
  const words = ["run", QUICKSTART, "--dir", at, "--processes", "4", ...store.words, ...asWords(settings)];
  const child = spawn(process.execPath, [...HONE, ...words], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const code = once(child, "close").then(([each]) => each as number | null);
  while (stepsOf(at) < 2 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 50));
  return { child, said: () => text, code };
}

describe.each(longest ? STORES : STORES.slice(0, 1))(
  "a run of five processes at $name",
  ({ name, skipped, open }) => {
    const at = (what: string) => join(dir, `${name.replaceAll(" ", "-")}-${what}`);

    test
      .runIf(long && noAddon === undefined && skipped === undefined)
      .each([["SIGINT", 130], ...(longest ? [["SIGTERM", 143] as const] : [])] as const)(
      "finishes its step at %s of the whole group, saves, ends with %i and goes on",
      async (signal, status) => {
        await using store = await open();
        const folder = at(signal);
        const { child, said, code } = await begun(folder, store);
        process.kill(-child.pid!, signal);
        expect(await code, said()).toBe(status);
        expect(said()).toContain(`${signal}: finishing the step and saving`);
        expect(said()).not.toContain("starting it again"); // the signal does not reach the run's own server
        const done = stepsOf(folder);
        expect(done).toBeLessThan(MANY);
        expect(checkpointsOf(folder)).toEqual([`step-${String(done).padStart(6, "0")}`]);
        expect(living(child.pid!)).toEqual([]);
        const more = asWords([...smallQuickstart(done + 1), "checkpoint.everySteps=0"]);
        await promisify(execFile)(
          process.execPath,
          [...HONE, "run", QUICKSTART, "--dir", folder, "--resume", ...more],
          {
            cwd: ROOT,
          },
        );
        expect(stepsOf(folder)).toBe(done + 1);
      },
      patient(180_000),
    );

    test.runIf(longest && noAddon === undefined && skipped === undefined)(
      "ends at once at a second Ctrl-C, and leaves no process",
      async () => {
        await using store = await open();
        const folder = at("twice");
        const { child, said, code } = await begun(folder, store);
        process.kill(-child.pid!, "SIGINT");
        await expect
          .poll(said, { timeout: patient(10_000), interval: 5 })
          .toContain("SIGINT: finishing the step");
        if (child.exitCode === null) process.kill(-child.pid!, "SIGINT");
        expect(await code, said()).toBe(130);
        await expect.poll(() => living(child.pid!), { timeout: patient(10_000) }).toEqual([]);
      },
      patient(120_000),
    );
  },
);
