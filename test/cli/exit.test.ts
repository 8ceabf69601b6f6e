import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { expect, test, vi } from "vitest";
import { EXIT, exitCodeOf, explain, isNonRetryable, runMain } from "../../lib/cli/exit.ts";
import { ConfigError, HoneError } from "../../lib/errors.ts";
import { scriptOn } from "../fixtures/child-program.ts";

test.each<readonly [Error, number]>([
  [new ConfigError("recipe", []), 2],
  [new HoneError("HONE_ERR_USAGE", ""), 2],
  [new HoneError("HONE_ERR_NATIVE_LOAD", ""), 3],
  [new HoneError("HONE_ERR_OUT_OF_MEMORY", ""), 3],
  ...(["CUDA", "COLLECTIVE", "UNSUPPORTED", "IO", "HUB"] as const).map(
    (name) => [new HoneError(`HONE_ERR_${name}`, ""), 3] as const,
  ),
  ...(["DATA", "FORMAT", "VERIFIER", "CHECKPOINT", "REPLAY"] as const).map(
    (name) => [new HoneError(`HONE_ERR_${name}`, ""), 4] as const,
  ),
  [new HoneError("HONE_ERR_NON_FINITE", ""), 2],
  [new HoneError("HONE_ERR_ABORTED", ""), 130],
  [new HoneError("HONE_ERR_ABORTED", "", { details: { signal: "SIGTERM" } }), 143],
  [new HoneError("HONE_ERR_INTERNAL", ""), 1],
  [new TypeError("ours"), 1],
])("%o ends the process with %i", (error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});

test("another attempt is worth it after a fault of the machine, not after one of the recipe or of this version", () => {
  const nonRetryable = (
    ["CONFIG", "USAGE", "DATA", "UNSUPPORTED", "IO", "COLLECTIVE", "CUDA"] as const
  ).filter((name) => isNonRetryable(new HoneError(`HONE_ERR_${name}`, "")));
  expect(nonRetryable).toEqual(["CONFIG", "USAGE", "DATA", "UNSUPPORTED"]);
  expect(isNonRetryable(new TypeError("a bug"))).toBe(false);
});

test("an entry script ends with what it returns, or with the code of what it throws, which is told", async () => {
  const told = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const before = process.exitCode;
  try {
    await runMain(async () => 7);
    expect(process.exitCode).toBe(7);
    await runMain(() => Promise.reject(new HoneError("HONE_ERR_REPLAY", "another token")));
    expect(process.exitCode).toBe(EXIT.data);
    expect(told).toHaveBeenCalledWith("HONE_ERR_REPLAY  another token\n");
  } finally {
    process.exitCode = before;
    told.mockRestore();
  }
});

test("explains with code, hint and a cause that says more; a stack only for errors that are not ours", () => {
  const error = new HoneError("HONE_ERR_IO", "cannot write", {
    hint: "Free some space.",
    cause: new Error("ENOSPC"),
  });
  expect(explain(error)).toBe("HONE_ERR_IO  cannot write\n  hint: Free some space.\n  cause: ENOSPC");
  expect(explain(new TypeError("ours"))).toContain("exit.test.ts");
});

test("an entry script's unknown option is a fault of usage, in one line", () => {
  let error: unknown;
  try {
    parseArgs({ args: ["--sed", "1"], options: { seed: { type: "string" } } });
  } catch (thrown) {
    error = thrown;
  }
  expect(exitCodeOf(error)).toBe(EXIT.usage);
  expect(explain(error)).toMatch(
    /^HONE_ERR_USAGE {2}Unknown option '--sed'[^\n]*\n {2}hint: --help lists the options\.$/,
  );
});

const EXIT_MODULE = await scriptOn("cli/exit.ts");
const script = (body: string) => [
  ...EXIT_MODULE.node,
  "--input-type=module",
  "-e",
  `import { endAtSignals, endWithParent, exitCodeOf, interruptSignal, tolerateLostOutput } from ${JSON.stringify(EXIT_MODULE.url)};${body}`,
];

test("the first signal aborts, the second ends the process at once", async () => {
  const body = `
    const signal = interruptSignal((line) => console.log(line));
    signal.addEventListener("abort", () => console.log("draining"));
    console.log("ready");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const before = said;
    said += chunk;
    if (!before.includes("ready") && said.includes("ready")) child.kill("SIGTERM");
    if (!before.includes("draining") && said.includes("draining")) child.kill("SIGINT");
  });
  const [code] = await once(child, "close"); // the last output may arrive after the exit
  expect(code).toBe(EXIT.aborted);
  expect(said).toMatch(/ready\n(SIGTERM: .*\n)?draining\n/);
});

test("a run of a sweep that is gone is interrupted once; without a sweep nothing changes", async () => {
  const body = `
    endWithParent();
    const signal = interruptSignal(() => {});
    signal.addEventListener("abort", () => {
      clearInterval(beat);
      process.exitCode = exitCodeOf(signal.reason);
    });
    const beat = setInterval(() => console.log("tick"), 50);`;
  const child = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  await once(child.stdout!, "data");
  child.disconnect();
  expect((await once(child, "exit"))[0]).toBe(129);
  const alone = spawn(process.execPath, script("endWithParent(); console.log(1);"), {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  expect((await once(alone, "exit"))[0]).toBe(0);
});

test("one whose sweep was gone before it had loaded ends at once", async () => {
  const body = `
    process.once("disconnect", () => {
      endWithParent();
      process.exit(7);
    });
    console.log("loading");`;
  const child = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  await once(child.stdout!, "data");
  child.disconnect();
  expect(await once(child, "exit")).toEqual([null, "SIGHUP"]);
});

test.each([
  ["nobody reads any more", 141, (child: ReturnType<typeof spawn>) => void child.stdout!.destroy()],
  ["the terminal hangs up", 129, (child: ReturnType<typeof spawn>) => void child.kill("SIGHUP")],
  ["it is told to end", 143, (child: ReturnType<typeof spawn>) => void child.kill("SIGTERM")],
  ["Ctrl-C is pressed", 130, (child: ReturnType<typeof spawn>) => void child.kill("SIGINT")],
])("when %s a run is interrupted once, saves, and ends with %i", async (_, expected, lose) => {
  const child = spawn(
    process.execPath,
    script(`
      tolerateLostOutput();
      const signal = interruptSignal((line) => process.stderr.write(line));
      const beat = setInterval(() => process.stdout.write("tick\\n"), 5);
      signal.addEventListener("abort", () => {
        setTimeout(() => { clearInterval(beat); process.exitCode = exitCodeOf(signal.reason); }, 100);
      });`),
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  await once(child.stdout!, "data");
  lose(child);
  const [code] = await once(child, "exit");
  expect(code).toBe(expected);
});

test("other commands end quietly when nobody reads any more", async () => {
  const body = `tolerateLostOutput(); setInterval(() => process.stdout.write("tick\\n"), 5);`;
  const child = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk));
  await once(child.stdout, "data");
  child.stdout.destroy();
  const [code] = await once(child, "close");
  expect([code, complaints]).toEqual([0, ""]);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "a command with nothing to save ends by %s, and what it started hears of it",
  async (signal, code) => {
    const body = `
    endAtSignals();
    process.on("exit", () => console.log("kills what it started"));
    console.log("begun");
    setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    for await (const chunk of child.stdout!) {
      said += String(chunk);
      if (said === "begun\n") child.kill(signal);
    }
    expect([child.exitCode ?? (await once(child, "exit"))[0], said]).toEqual([
      code,
      "begun\nkills what it started\n",
    ]);
  },
);

test("a hint is wrapped to the terminal, and is one line where there is none", () => {
  const hint = "Put the checkpoints back, or begin again.";
  const error = new HoneError("HONE_ERR_CHECKPOINT", "gone", { hint });
  expect(explain(error)).toBe(`HONE_ERR_CHECKPOINT  gone\n  hint: ${hint}`);
  const { isTTY, columns } = process.stderr;
  try {
    Object.assign(process.stderr, { isTTY: true, columns: 30 });
    expect(explain(error)).toBe(
      "HONE_ERR_CHECKPOINT  gone\n  hint: Put the checkpoints\n        back, or begin again.",
    );
  } finally {
    Object.assign(process.stderr, { isTTY, columns });
  }
});
