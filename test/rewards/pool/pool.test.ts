import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { Demonstrator, QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import type { Problem, Verdict } from "../../../lib/records.ts";
import { VerifierPool } from "../../../lib/rewards/index.ts";
import { LexiconTokenizer } from "../../../lib/text/index.ts";
import { long, longest } from "../../long.ts";
import { patient } from "../../patience.ts";

// Deliberate faults (mutants) that these tests detect: the culprit is read after the kill, a time-out is retried,
// unscored without a retry, members judged before the kill lose their verdicts, no watchdog while an async verifier
// runs.

vi.setConfig({ testTimeout: 180_000 }); // processes start from source here, and other tests keep the machine busy

const obedient = new URL("../../fixtures/verifiers/obedient.mjs", import.meta.url);
const broken = new URL("../../fixtures/verifiers/broken.mjs", import.meta.url);
const TIMEOUT_MS = patient(300); // of wall time; each loop below also uses that much processor time

const pool = new VerifierPool({
  workers: 1,
  modules: { obedient, patient: obedient, roomy: obedient, broad: obedient, broken },
  limits: {
    obedient: { timeoutMs: TIMEOUT_MS },
    expression: { timeoutMs: TIMEOUT_MS },
    patient: { timeoutMs: 60_000 },
    roomy: { timeoutMs: 60_000, heapMb: 80 },
    broad: { timeoutMs: 60_000, heapMb: 400 },
  },
  workerHeapMb: 48,
});
afterAll(() => pool.close());

const problem = (verifier: string, reference: unknown): Problem => ({
  id: 1,
  domain: "math",
  family: "test",
  level: 0,
  question: "?",
  verifier,
  reference,
});
const obey = problem("obedient", "ok");
const request = (text: string, of: Problem = obey) => ({ problem: of, text, finish: "eos" as const });
const judge = (...texts: readonly string[]) => pool.verify(texts.map((text) => request(text)));

const SOLVED: Verdict = { status: "correct", score: 1, reason: "solved" };
const NOT_SOLVED: Verdict = { status: "wrong", score: 0, reason: "not solved" };
const TOO_SLOW: Verdict = { status: "wrong", score: 0, reason: `verification took over ${TIMEOUT_MS} ms` };

/** Returns the change of the obedient verifier's counters over an action. */
async function counting<T>(action: () => Promise<T>) {
  const before = pool.stats()["obedient"];
  const result = await action();
  const after = pool.stats()["obedient"]!;
  const change = (key: "timeouts" | "crashes" | "retries" | "unscored") => after[key] - (before?.[key] ?? 0);
  const counts = {
    timeouts: change("timeouts"),
    crashes: change("crashes"),
    retries: change("retries"),
    unscored: change("unscored"),
  };
  return { result, counts };
}
const NO_FAULTS = { timeouts: 0, crashes: 0, retries: 0, unscored: 0 };

test("verdicts come in the order of the requests, over several verifiers", async () => {
  const residue = problem("residue", { value: 3, modulus: 5 });
  const expression = problem("expression", { inputs: [1, 2], outputs: [2, 4] });
  const verdicts = await pool.verify([
    request("not this"),
    request("<think></think>3<eos>", residue),
    request("<think></think>x*2<eos>", expression),
    request("ok"),
    request("<think></think>4<eos>", residue),
  ]);
  expect(verdicts.map(({ status }) => status)).toEqual(["wrong", "correct", "correct", "correct", "wrong"]);
});

test("limits that a user's module states hold, but for those that the pool is given", async () => {
  const limited = new URL("../../fixtures/verifiers/limited.mjs", import.meta.url);
  await using own = new VerifierPool({
    modules: { limited, strict: limited },
    limits: { strict: { timeoutMs: 300 } },
    timeoutMs: 60_000,
  });
  const verdicts = await own.verify([
    request("spin", problem("limited", 0)),
    request("spin", problem("strict", 0)),
    request("heap", problem("limited", 0)),
  ]);
  expect(verdicts).toEqual([
    { status: "wrong", score: 0, reason: "verification took over 400 ms" },
    { status: "wrong", score: 0, reason: "verification took over 300 ms" },
    { status: "correct", score: 1, reason: "--max-old-space-size=64" },
  ]);
});

test("an empty group is no work", async () => {
  expect(await pool.verify([])).toEqual([]);
});

describe("the completion's own fault scores 0", () => {
  test.each(["spin", "never"])(
    "a completion that makes the verifier %s costs its limit, the others keep their verdicts",
    async (command) => {
      const { result, counts } = await counting(() => judge("ok", "no", command, "also ok", command, "ok"));
      expect(result).toEqual([SOLVED, NOT_SOLVED, TOO_SLOW, SOLVED, TOO_SLOW, SOLVED]);
      expect(counts).toEqual({ ...NO_FAULTS, timeouts: 2 });
    },
  );

  test("code that spins inside one native call of the sandbox is stopped with its worker", async () => {
    const code = problem("expression", { inputs: [1], outputs: [2] });
    const answers = ["x*2", "Array(4e9).indexOf(1)", "x+1"].map((answer) => `<think></think>${answer}<eos>`);
    const verdicts = await pool.verify(answers.map((text) => request(text, code)));
    expect(verdicts.map(({ status }) => status)).toEqual(["correct", "wrong", "correct"]);
    expect(verdicts[1]).toEqual(TOO_SLOW);
  });
});

/** Verifies a completion between two others with a verifier whose time limit is long. */
async function withPatient(command: string, verifier = "patient") {
  const patient = problem(verifier, "ok");
  const before = pool.stats()[verifier]?.crashes ?? 0;
  const verdicts = await pool.verify(["ok", command, "no"].map((text) => request(text, patient)));
  return { verdicts, crashes: pool.stats()[verifier]!.crashes - before };
}

const HEAPS: readonly (readonly [whose: string, verifier: string, heapMb: number])[] = [
  ["its verifier's own", "roomy", 80],
  ["the pool's", "patient", 48],
];
test.each(longest ? HEAPS : HEAPS.slice(0, 1))(
  "a completion that fills a heap of %s size, in two workers, scores 0",
  async (_, verifier, heapMb) => {
    const { verdicts, crashes } = await withPatient("hoard", verifier);
    const TOO_BIG = { status: "wrong", score: 0, reason: `verification took over ${heapMb} MiB` };
    expect(verdicts).toEqual([SOLVED, TOO_BIG, NOT_SOLVED]);
    expect(crashes).toBe(2);
  },
);

test.each(longest ? ["long", "array", "buffers"] : ["array"])(
  "a completion that fills memory with %s things costs two processes, not this one",
  async (command) => {
    const { verdicts, crashes } = await withPatient(command);
    const TOO_BIG = { status: "wrong", score: 0, reason: "verification took over 48 MiB" };
    expect(verdicts).toEqual([SOLVED, TOO_BIG, NOT_SOLVED]);
    expect(crashes).toBe(2);
  },
);

test.runIf(longest)("reasons and causes of 50 MB are cut where they are made", async () => {
  const { verdicts } = await withPatient("novel", "broad");
  expect(verdicts[1]).toEqual({ status: "partial", score: 0.5, reason: "y".repeat(500) });
  const cause = expect.stringMatching(/^verifier threw: z{500} \(verify, /);
  expect((await withPatient("elegy", "broad")).verdicts[1]).toEqual({ status: "unscored", cause });
});

test("a verifier with a heap of its own has what the pool's would not give it", async () => {
  const both = ["patient", "roomy"].map((verifier) => request("weigh 60 ok", problem(verifier, "ok")));
  expect(await pool.verify(both)).toEqual([
    { status: "wrong", score: 0, reason: "verification took over 48 MiB" },
    SOLVED,
  ]);
});

describe("our fault is tried once more and then left unscored", () => {
  test("a verifier that throws", async () => {
    const { result, counts } = await counting(() => judge("ok", "throw", "ok"));
    const cause = expect.stringMatching(
      /^verifier threw: told to throw \(verify, .*obedient\.mjs:\d+:\d+\)$/,
    );
    expect(result).toEqual([SOLVED, { status: "unscored", cause }, SOLVED]);
    expect(counts).toEqual({ ...NO_FAULTS, retries: 1, unscored: 1 });
  });

  test("a verifier that throws the first time only", async () => {
    const { result, counts } = await counting(() => judge("falter ok"));
    expect(result).toEqual([SOLVED]);
    expect(counts).toEqual({ ...NO_FAULTS, retries: 1 });
  });

  test("a reference that the verifier refuses", async () => {
    const verdicts = await pool.verify([request("ok", problem("obedient", 5))]);
    const cause = expect.stringContaining("verifier threw: TypeError: reference must be a string (");
    expect(verdicts).toEqual([{ status: "unscored", cause }]);
  });

  test("a reference whose reading does not end", async () => {
    const { result, counts } = await counting(() =>
      pool.verify([request("ok", problem("obedient", "spin"))]),
    );
    expect(result).toEqual([{ status: "unscored", cause: "reading the reference took too long" }]);
    expect(counts).toEqual({ ...NO_FAULTS, crashes: 2, retries: 1, unscored: 1 });
  });

  test.each([
    ["nonsense", "the verifier returned status correct with score 0.5"],
    ["nothing", "the verifier returned no verdict"],
  ])("a verifier that returns %s", async (command, cause) => {
    expect(await judge(command, "ok")).toEqual([{ status: "unscored", cause }, SOLVED]);
  });

  test("a completion whose worker dies alone stays unscored", async () => {
    const { verdicts, crashes } = await withPatient("exit");
    expect(verdicts).toEqual([SOLVED, { status: "unscored", cause: "worker lost: exit code 3" }, NOT_SOLVED]);
    expect(crashes).toBe(2);
  });

  test("a module that does not load", async () => {
    const verdicts = await pool.verify([request("ok", problem("broken", "ok"))]);
    const cause = expect.stringMatching(
      /^verifier did not load: \/.*broken\.mjs cannot be imported: broken on import \(.*broken\.mjs:1:7\)$/,
    );
    expect(verdicts).toEqual([{ status: "unscored", cause }]);
  });
});

test("groups beyond the workers wait their turn, and waiting is not counted against them", async () => {
  const slow = counting(() => judge("spin"));
  const quick = Array.from({ length: 20 }, () => judge("ok", "no"));
  expect((await slow).result).toEqual([TOO_SLOW]);
  for (const verdicts of await Promise.all(quick)) expect(verdicts).toEqual([SOLVED, NOT_SOLVED]);
});

test("the pool agrees with the demonstrator about a few hundred built-in verdicts", async () => {
  const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
  const demonstrator = new Demonstrator({
    seed: 3,
    mixture: { math: 1, code: 1, logic: 1, "function-calling": 1 },
    maxTokens: 80,
    encode: (text) => tokenizer.encode(text),
  });
  const drawn = Array.from({ length: 300 }, (_, i) => demonstrator.demonstration(i));
  const verdicts = await pool.verify(
    drawn.map(({ problem: asked, tokens, style }) => ({
      problem: asked,
      text: tokenizer.decode(tokens),
      finish: style === "endless" ? ("length" as const) : ("eos" as const),
    })),
  );
  expect(verdicts.map(({ status }) => status === "correct")).toEqual(drawn.map(({ faithful }) => faithful));
});

test("stats name the verifiers used, with ordered percentiles", () => {
  const stats = pool.stats();
  expect(Object.keys(stats)).toContain("obedient");
  expect(Object.keys(stats)).not.toContain("some other");
  for (const { calls, latencyMs } of Object.values(stats)) {
    expect(calls).toBeGreaterThan(0);
    expect(latencyMs.p50).toBeLessThanOrEqual(latencyMs.p95);
    expect(latencyMs.p95).toBeLessThanOrEqual(latencyMs.p99);
  }
});

test("a module whose import does not end is an error that names it, after two attempts", async () => {
  const hanging = new URL("../../fixtures/verifiers/hanging.mjs", import.meta.url);
  await using stuck = new VerifierPool({ modules: { hanging }, loadTimeoutMs: 1000 });
  await expect(stuck.verify([request("ok", problem("hanging", "ok"))])).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringMatching(
      /^verifier "hanging" \(.*hanging\.mjs\) did not load in 1000 ms, 2 times$/,
    ),
  });
});

test.skipIf(process.platform !== "linux")(
  "pools that were used and left leave nothing behind",
  async () => {
    const cycle = async (k: number) => {
      const left = new VerifierPool({ modules: { obedient }, limits: { obedient: { timeoutMs: 60_000 } } });
      if (k % 2 === 0) await left.verify([request("ok")]);
      const running = left.verify([request("spin")]).catch((error: { code: string }) => error.code);
      await left.abandon();
      expect(await running).toBe("HONE_ERR_STATE");
    };
    await cycle(0);
    const before = footprint();
    for (let k = 0; k < (longest ? 200 : long ? 6 : 2); k++) await cycle(k);
    expect(footprint()).toEqual(before);
  },
  900_000,
);

/**
 * What this process holds: threads, file descriptors, and children (zombies included) except esbuild's, which tsx
 * starts in threads that run from source.
 */
function footprint() {
  const children = readdirSync("/proc/self/task")
    .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" ").filter(Boolean))
    .filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "node");
  const threads = Number(/^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))![1]);
  return { threads, descriptors: readdirSync("/proc/self/fd").length, children: children.length };
}

describe("mistakes of the caller", () => {
  test("an unknown verifier is named with the known ones", async () => {
    await expect(pool.verify([request("ok", problem("poetry", 1))])).rejects.toMatchObject({
      code: "HONE_ERR_CONFIG",
      message: expect.stringMatching(/"poetry"; known: .*residue, .*obedient/),
    });
    expect(() => new VerifierPool({ limits: { poetry: {} } })).toThrowError(
      expect.objectContaining({ code: "HONE_ERR_CONFIG" }),
    );
  });

  test("a closed pool refuses work, closing twice is fine, and running work is finished first", async () => {
    const short = new VerifierPool({
      modules: { obedient },
      limits: { obedient: { timeoutMs: TIMEOUT_MS } },
    });
    const running = short.verify(["ok", "spin", "no"].map((text) => request(text)));
    await Promise.all([short.close(), short.close()]);
    expect(await running).toEqual([SOLVED, TOO_SLOW, NOT_SOLVED]);
    await expect(short.verify([request("ok")])).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  });

  test("an abandoned pool does not wait for verdicts: what runs rejects, and nothing goes on", async () => {
    const left = new VerifierPool({ modules: { obedient }, limits: { obedient: { timeoutMs: 60_000 } } });
    await left.verify([request("ok")]);
    const running = left.verify([request("spin"), request("ok")]);
    const begun = performance.now();
    await Promise.all([expect(running).rejects.toMatchObject({ code: "HONE_ERR_STATE" }), left.abandon()]);
    expect(performance.now() - begun).toBeLessThan(20_000);
    await expect(left.verify([request("ok")])).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  });
});

test("many completions go out in several messages, so that what is judged is counted before all are", async () => {
  const calls = () => pool.stats()["patient"]?.calls ?? 0;
  const before = calls();
  const gate = join(mkdtempSync(join(tmpdir(), "hone-gate-")), "open");
  const texts = Array.from({ length: 800 }, (_, i) => (i === 799 ? `until ${gate} ok` : i % 2 ? "ok" : "no"));
  const judged = pool.verify(texts.map((text) => request(text, problem("patient", "ok"))));
  await vi.waitFor(() => expect(calls() - before).toBeGreaterThan(0), { timeout: 60_000 });
  expect(calls() - before).toBeLessThan(800);
  writeFileSync(gate, "");
  const verdicts = await judged;
  rmSync(dirname(gate), { recursive: true });
  expect(verdicts).toEqual(texts.map((text) => (text === "no" ? NOT_SOLVED : SOLVED)));
});
