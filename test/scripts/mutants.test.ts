import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
// @ts-expect-error a script, not a module with types
import { chosen, limitOf, mutated, outcomeOf, readMutants, run, testOf } from "../../scripts/mutants.mjs";

interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly why: string;
  readonly tests: readonly string[];
}
const modules: { readonly module: string; readonly mutants: readonly Mutant[] }[] = readMutants();
const LEAST = 6;

describe.each(modules)("$module", ({ mutants }) => {
  test.each(mutants)("$file: $why", (mutant) => {
    expect(mutated(readFileSync(mutant.file, "utf8"), mutant), mutant.find).toBeDefined();
    for (const path of mutant.tests) expect(existsSync(path), path).toBe(true);
    expect(mutant.why).toMatch(/\.$/);
  });

  test(`has ${LEAST} mutants at least, each once`, () => {
    expect(mutants.length).toBeGreaterThanOrEqual(LEAST);
    expect(new Set(mutants.map(({ file, find, replace }) => `${file} ${find} ${replace}`)).size).toBe(
      mutants.length,
    );
  });
});

test("every module of the source tree has a list", () => {
  const folders = (path: string) =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const split = ["domains", "orchestration"];
  const expected = [
    ...folders("lib").filter((name) => !split.includes(name) && name !== "native"),
    ...split.flatMap((name) => folders(join("lib", name)).map((module) => `${name}-${module}`)),
    ...folders("csrc").flatMap((name) => (name === "addon" ? [] : [`csrc-${name}`])),
  ];
  expect(modules.map(({ module }) => module)).toEqual(expected.sort());
});

test("mutants are chosen by module and by a text in file or reason; none is an error", () => {
  const all = [
    {
      module: "a",
      mutants: [
        { file: "x.ts", why: "Loops." },
        { file: "y.ts", why: "Stops." },
      ],
    },
    { module: "b", mutants: [{ file: "x.ts", why: "Stops." }] },
  ];
  expect(chosen(all, {})).toEqual(all);
  expect(chosen(all, { only: "b" })).toEqual([all[1]]);
  expect(chosen(all, { matching: "Stops" })).toEqual([
    { module: "a", mutants: [all[0]!.mutants[1]] },
    all[1],
  ]);
  expect(chosen(all, { only: "a", matching: "x.ts" })).toEqual([
    { module: "a", mutants: [all[0]!.mutants[0]] },
  ]);
  expect(() => chosen(all, { only: "c" })).toThrow("no module c; there are a, b");
  expect(() => chosen(all, { matching: "none" })).toThrow('no mutant has "none"');
});

test("a mutant applies where its text is there once, and changes it", () => {
  expect(mutated("a b c", { find: "b", replace: "x" })).toBe("a x c");
  expect(mutated("a b b", { find: "b", replace: "x" })).toBeUndefined();
  expect(mutated("a", { find: "b", replace: "x" })).toBeUndefined();
  expect(mutated("a b", { find: "b", replace: "b" })).toBeUndefined();
  expect(mutated("a b", { find: "b", replace: "$&$&" })).toBe("a $&$&");
});

test("tests whose process crashed have failed, whatever the report says", () => {
  const report = { numFailedTests: 0, numPassedTests: 131, success: true };
  expect(outcomeOf(0, report)).toBe("passed");
  expect(outcomeOf(1, report)).toBe("failed");
  expect(outcomeOf(1, { ...report, numFailedTests: 1, success: false })).toBe("failed");
  expect(outcomeOf(1, { numFailedTests: 0, numPassedTests: 0, success: false })).toBe("broken");
});

test("what a command that runs into its limit has started ends with it", async () => {
  const child = `require("node:child_process").spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" })`;
  const { stdout, error } = run(process.execPath, ["-e", `console.log(${child}.pid); for (;;);`], ".", 1500);
  expect(error).toMatchObject({ code: "ETIMEDOUT" });
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(0);
  const state = () => {
    try {
      return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")[0];
    } catch {
      return "gone";
    }
  };
  await vi.waitFor(() => expect(["Z", "gone"]).toContain(state()), { timeout: 60_000 });
});

test("a mutant may take five times as long as the tests without it, in whole milliseconds", () => {
  expect(limitOf(3.7)).toBe(120_000);
  expect(limitOf(26_515.96)).toBe(132_580);
});

test("a file's own tests are its mirror", () => {
  expect(testOf("lib/text/jinja/lexer.ts")).toBe("test/text/jinja/lexer.test.ts");
  expect(testOf("csrc/model/safetensors.cc")).toBe("test/csrc/model/safetensors.test.cc");
});
