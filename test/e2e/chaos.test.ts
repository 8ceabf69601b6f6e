/**
 * SIGKILL ends a synchronous run at the n-th open, write, fsync, rename, unlink, mkdir or rmdir in its folder, or at
 * some time, and the run resumes: it must end with the bits of an undisturbed run, and lose no checkpoint that it
 * reported. Every second run trains adapters, with moments in bf16. `npm run test:chaos` tries 400 such kills, `npm
 * run test:long` 40, `npm run test:processes` one phase of a checkpoint.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CounterRandom } from "../../lib/random.ts";
import { childProgram } from "../fixtures/child-program.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";

const CHILD = await childProgram(fileURLToPath(new URL("./run-child.ts", import.meta.url)));
const SHIM = fileURLToPath(new URL("../fixtures/crash-shim.c", import.meta.url));
const TRIALS = Number(process.env["HONE_CHAOS"] ?? (longest ? 40 : 0));
const SEED = Number(process.env["HONE_CHAOS_SEED"] ?? 0);
const TRAINING = JSON.stringify({ schedule: "sync", steps: 12 });
const ADAPTERS = JSON.stringify({
  lora: { rank: 4 },
  optimizer: { lr: 1e-2, warmupSteps: 1, gradientClip: 1, moments: "bf16" },
});
const AT_ONCE = 2;

const dir = mkdtempSync(join(tmpdir(), "hone-chaos-"));
const shim = join(dir, "crash-shim.so");
const compiled = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"], { encoding: "utf8" });
const noShim = compiled.status === 0 ? undefined : (compiled.error?.message ?? compiled.stderr);
if (noShim !== undefined) console.warn(`skipped, no C compiler for the crash shim: ${noShim}`);

interface Session {
  readonly lines: readonly string[];
  readonly code: number | null;
  readonly killed: boolean;
  readonly errors: string;
}

interface Kind {
  /** Fields of the recipe besides training. */
  readonly more: string;
  /** The last line that an undisturbed run prints. */
  whole: string;
  /** The number of system calls of an undisturbed run, by name. */
  counts: Map<string, number>;
}

interface Death {
  readonly env?: Readonly<Record<string, string>>;
  /** Kill `afterMs` milliseconds after this line, or after the start. */
  readonly afterLine?: string | undefined;
  readonly afterMs?: number;
}

async function sit(
  folder: string,
  { more }: Kind,
  { env = {}, afterLine, afterMs }: Death = {},
): Promise<Session> {
  const args = [...CHILD, folder, "auto", TRAINING, more];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HONE_THREADS: "1", UV_USE_IO_URING: "0", ...env },
  });
  let out = "";
  let errors = "";
  const killSoon = () => setTimeout(() => child.kill("SIGKILL"), afterMs);
  if (afterMs !== undefined && afterLine === undefined) killSoon();
  child.stderr.on("data", (chunk) => (errors += chunk));
  child.stdout.on("data", (chunk) => {
    const had = out.includes(`${afterLine}\n`);
    out += chunk;
    if (afterLine !== undefined && !had && out.includes(`${afterLine}\n`)) killSoon();
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { lines: out.split("\n").slice(0, -1), code, killed: signal === "SIGKILL", errors };
}

const numbers = (lines: readonly string[], word: string) =>
  lines.flatMap((line) => (line.startsWith(`${word} `) ? [Number(line.split(" ")[1])] : []));

const KINDS: readonly Kind[] = ["{}", ADAPTERS]
  .slice(0, Math.max(1, TRIALS))
  .map((more) => ({ more, whole: "", counts: new Map() }));

beforeAll(async () => {
  if (noAddon !== undefined || noShim !== undefined) return;
  for (const [i, kind] of KINDS.entries()) {
    const folder = join(dir, `whole-${i}`);
    mkdirSync(folder);
    const told = join(dir, `counts-${i}`);
    const env = { LD_PRELOAD: shim, CRASH_DIR: folder, CRASH_COUNTS: told };
    const { lines, code, errors } = await sit(folder, kind, { env });
    expect(errors).toBe("");
    expect(code).toBe(0);
    kind.whole = lines.at(-1)!;
    const pairs = readFileSync(told, "utf8").trim().split("\n");
    kind.counts = new Map(pairs.map((line) => [line.split(" ")[0]!, Number(line.split(" ")[1])]));
  }
  expect(new Set(KINDS.map(({ whole }) => whole)).size).toBe(KINDS.length);
}, 240_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * Chooses how a trial is killed: most trials at a system call, each kind in turn, the others in a phase. @param share
 * of the calls of a whole run
 */
function deathOf(
  trial: number,
  folder: string,
  { counts }: Kind,
  share: number,
): { name: string; death: Death } {
  const random = new CounterRandom(SEED, trial, 0xc4, 0);
  const kinds = [...counts].filter(([, count]) => count > 0);
  const turn = trial % (kinds.length + 2);
  if (turn < kinds.length) {
    const [call, count] = kinds[turn]!;
    const when = random.choice(call === "write" ? ["before", "half", "after"] : ["before", "after"]);
    const at = `${call}:${Math.ceil(share * random.int(1, count))}:${when}`;
    return { name: at, death: { env: { LD_PRELOAD: shim, CRASH_DIR: folder, CRASH_AT: at } } };
  }
  const afterMs = random.int(0, turn === kinds.length ? 25 : 3000);
  const afterLine = turn === kinds.length ? `step ${random.int(1, 12)}` : undefined;
  return { name: `${afterMs} ms after ${afterLine ?? "the start"}`, death: { afterLine, afterMs } };
}

/**
 * Kills a run, resumes it, and returns what is wrong. A run makes some calls by the clock: a run faster than the
 * counted one may end before its kill, and is tried again with an earlier one.
 * @param share of the calls of a whole run
 */
async function trialFails(trial: number, share = 1): Promise<string | undefined> {
  const folder = join(dir, `trial-${trial}-${share}`);
  mkdirSync(folder);
  const kind = KINDS[trial % KINDS.length]!;
  const { name, death } = deathOf(trial, folder, kind, share);
  const killed = await sit(folder, kind, death);
  const fail = (what: string, by: Session) =>
    `trial ${trial}, killed at ${name}: ${what}\n${by.lines.join(", ")}\n${by.errors}`;
  if (!killed.killed && death.env !== undefined) {
    if (share > 1 / 8 && killed.lines.at(-1) === kind.whole) return trialFails(trial, share / 2);
    return fail("it was not killed", killed);
  }
  const kept = Math.max(0, ...numbers(killed.lines, "checkpoint"));
  const resumed = await sit(folder, kind);
  if (resumed.code !== 0) return fail(`the resume ended with ${resumed.code}`, resumed);
  const first = numbers(resumed.lines, "step")[0] ?? Number.POSITIVE_INFINITY;
  if (first <= kept)
    return fail(`checkpoint ${kept} was told of, but step ${first} was trained again`, resumed);
  if (resumed.lines.at(-1) !== kind.whole)
    return fail(`ended with ${resumed.lines.at(-1)}, not ${kind.whole}`, resumed);
  const stray = readdirSync(join(folder, "checkpoints")).filter((n) => !/^(step-\d{6}|warm-start)$/.test(n));
  if (stray.length > 0) return fail(`left ${stray}`, resumed);
  rmSync(folder, { recursive: true });
  return undefined;
}

test.skipIf(TRIALS === 0 || noAddon !== undefined || noShim !== undefined)(
  `${TRIALS} deaths by SIGKILL lose no checkpoint, and every resume ends with the same bits`,
  async () => {
    const failures: string[] = [];
    let next = 0;
    const lane = async () => {
      for (let trial = next++; trial < TRIALS; trial = next++) {
        const failure = await trialFails(trial);
        if (failure !== undefined) failures.push(failure);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    expect(failures.join("\n")).toBe("");
  },
  60_000 + 60_000 * TRIALS,
);

/**
 * The files of the second checkpoint that is written during training (step 10), the third in its folder: four files
 * each.
 */
const PHASES: readonly (readonly [what: string, at: string, goesOnWith: number])[] = [
  ["the state is copied, and nothing written", "open:9:before", 6],
  ["the weights' file is open", "open:10:after", 6],
  ["all tensors are written, and no manifest", "open:12:before", 6],
  ["the manifest is whole, and the folder not in its place", "rename:15:before", 6],
  ["the folder is in its place, and nobody was told", "rename:15:after", 11],
];

test.skipIf(noAddon !== undefined || noShim !== undefined)(
  "a run killed while a checkpoint is written beside it goes on with the one before, or with this one where it is whole",
  async () => {
    for (const [what, at, goesOnWith] of longest ? PHASES : [PHASES[4]!]) {
      const folder = join(dir, `phase-${at}`);
      mkdirSync(folder);
      const env = { LD_PRELOAD: shim, CRASH_DIR: join(folder, "checkpoints"), CRASH_AT: at };
      const { killed, lines } = await sit(folder, KINDS[0]!, { env });
      expect([what, killed, lines.includes("checkpoint 5"), lines.includes("checkpoint 10")]).toEqual([
        what,
        true,
        true,
        false,
      ]);
      const resumed = await sit(folder, KINDS[0]!);
      expect([what, numbers(resumed.lines, "step")[0], resumed.lines.at(-1)]).toEqual([
        what,
        goesOnWith,
        KINDS[0]!.whole,
      ]);
      expect(readdirSync(join(folder, "checkpoints")).filter((name) => name.includes("tmp"))).toEqual([]);
    }
  },
  patient(600_000),
);
