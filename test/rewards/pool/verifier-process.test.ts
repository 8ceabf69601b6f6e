import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { JobProgress, type VerificationJob } from "../../../lib/rewards/pool/verification-job.ts";
import { VerifierProcess } from "../../../lib/rewards/pool/verifier-process.ts";
import { TSX } from "../../fixtures/command-line.ts";
import { long } from "../../long.ts";

// Deliberate faults (mutants) that these tests detect: only the child's event loop watches stdin (a spinning orphan
// stays), the log's tail is not read, stdout is shared.

vi.setConfig({ testTimeout: 120_000 });

const obedient = new URL("../../fixtures/verifiers/obedient.mjs", import.meta.url).href;
const job = (...texts: readonly string[]): VerificationJob => ({
  verifier: "obedient",
  moduleUrl: obedient,
  members: texts.map((text) => ({ reference: "ok", text, finish: "eos" as const })),
  timeoutMs: 25_000,
  loadTimeoutMs: 60_000,
});

let open: VerifierProcess | undefined;
let printed = "";
let exits = 0;
function start(): VerifierProcess {
  printed = "";
  exits = 0;
  open = new VerifierProcess({
    heapMb: 48,
    print: (text) => {
      printed += text;
    },
    onExit: () => {
      exits += 1;
    },
  });
  return open;
}
afterEach(() => {
  if (open && exits === 0) process.kill(open.pid, "SIGKILL");
});
const isAlive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

test("jobs are judged one after another; what verifiers print is heard; an exit is told with its place", async () => {
  const one = start();
  expect(await one.judge(job("print ok", "no"))).toMatchObject({
    kind: "done",
    outcomes: [{ verdict: { status: "correct" } }, { verdict: { status: "wrong" } }],
  });
  expect(printed).toBe("print ok\n");
  expect(await one.judge(job("ok", "exit"))).toMatchObject({
    kind: "lost",
    phase: "verifying",
    member: 1,
    cause: "exit code 3",
  });
  expect(exits).toBe(1);
  expect(await one.judge(job("ok"))).toMatchObject({ kind: "lost" });
});

test.runIf(long)(
  "a process that was stopped for longer than its limit goes on where it was: that is no fault of the completion",
  async () => {
    const one = start();
    const timeoutMs = 8000;
    await one.judge(job("ok")); // loaded
    const gate = join(mkdtempSync(join(tmpdir(), "hone-gate-")), "open");
    const judged = one.judge({ ...job(`until ${gate} ok`), timeoutMs });
    await vi.waitFor(() => expect(printed).toContain("until"), { timeout: 60_000 });
    process.kill(one.pid, "SIGSTOP");
    await sleep(timeoutMs + 1000);
    process.kill(one.pid, "SIGCONT");
    await sleep(500); // gives its watchdog time to look
    writeFileSync(gate, ""); // the remaining work takes no processor time, so load does not matter
    expect(await judged).toMatchObject({ kind: "done", outcomes: [{ verdict: { status: "correct" } }] });
  },
);

test.skipIf(process.platform !== "linux")(
  "a job that came to a process while its watchdog ended it for the one before is not too slow",
  async () => {
    const one = start();
    await one.judge(job("ok"));
    process.kill(one.pid, "SIGSTOP");
    const next = one.judge(job("ok"));
    const fd = openSync(`/proc/${one.pid}/fd/3`, "r+"); // the watchdog sees the first job at its limit, right before its answer
    const end = { job: 1, phase: "verifying", member: 0, elapsedMs: 25_000, leftMs: 0 } as const;
    new JobProgress(fd).end("expired", end);
    closeSync(fd);
    process.kill(one.pid, "SIGKILL");
    expect(await next).toMatchObject({ kind: "lost", phase: "idle", member: undefined });
  },
);

test("a stray rejection is told with its message", async () => {
  expect(await start().judge(job("stray"))).toMatchObject({
    kind: "lost",
    cause: expect.stringContaining("Error: stray"),
  });
});

test.skipIf(process.platform !== "linux")("it is the first to go where memory runs out", async () => {
  const one = start();
  await one.judge(job("ok"));
  expect(readFileSync(`/proc/${one.pid}/oom_score_adj`, "utf8").trim()).toBe("1000");
});

test.each([
  ["that has had no job", ""],
  ["that waits for its next job", `await one.judge(${JSON.stringify(job("ok"))});`],
  [
    "stuck in a loop",
    `await one.judge(${JSON.stringify(job("ok"))}); void one.judge(${JSON.stringify(job("spin"))});`,
  ],
])("a process %s ends when its parent is killed", async (_, jobs) => {
  const script = `
    const { VerifierProcess } = await import(${JSON.stringify(new URL("../../../lib/rewards/pool/verifier-process.ts", import.meta.url).href)});
    const one = new VerifierProcess({ heapMb: 48, print() {}, onExit() {} });
    ${jobs}
    console.log(one.pid);`;
  const parent = spawn(process.execPath, ["--import", TSX, "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: fileURLToPath(new URL("../../..", pathToFileURL(import.meta.filename))),
  });
  const pid = await new Promise<number>((resolve) =>
    parent.stdout.once("data", (text) => resolve(Number(text))),
  );
  expect(isAlive(pid)).toBe(true);
  parent.kill("SIGKILL");
  await expect.poll(() => isAlive(pid)).toBe(false);
});
