import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isDistFresh, ROOT } from "../fixtures/command-line.ts";
import { long } from "../long.ts";

/** Runs Node with these arguments; returns the exit status and the output. */
function ran(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  return { status, stdout, stderr };
}

const SCRIPTS = ["mutants", "agreement", "bench"].map((name) => [name, `scripts/${name}.mjs`] as const);

test.each(SCRIPTS)("npm run %s says what it takes, and what it does not", (name, script) => {
  const help = ran(script, "--help");
  expect(help).toMatchObject({
    status: 0,
    stderr: "",
    stdout: expect.stringContaining(`npm run ${name} -- [`),
  });
  const wrong = ran(script, "--nonsense");
  expect(wrong).toMatchObject({ status: 2, stdout: "" });
  expect(wrong.stderr).toContain(`'--nonsense'`);
  expect(wrong.stderr).toContain(help.stdout.trim());
  expect(wrong.stderr).not.toMatch(/^\s+at /m);
});

test("mutants of a module that is not there", () => {
  const { status, stderr } = ran("scripts/mutants.mjs", "--only", "kitchen", "--list");
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^no module kitchen; there are [^\n]*\n$/)]);
});

test.runIf(long && isDistFresh)("the quick start says what it takes, and what it does not", () => {
  const script = join("dist", "recipes", "quickstart.js");
  const help = ran(script, "--help");
  expect(help).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("--schedule S") });
  const wrong = ran(script, "--sed", "1");
  expect(wrong).toMatchObject({ status: 2, stdout: "" });
  expect(wrong.stderr).toMatch(/^HONE_ERR_USAGE {2}Unknown option '--sed'[^\n]*\n {2}hint: [^\n]*\n$/);
});
