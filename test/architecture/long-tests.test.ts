// Some command runs every test: npm run test:long and test:all run what npm test skips, and .ci/run runs the long
// tests.
import { expect, test } from "vitest";
import { hasLong, levels } from "../long.ts";
import { chosenFiles, testFiles } from "../which-files.ts";
import { filesUnder, read } from "./source-tree.ts";

const files = filesUnder("test", [".ts"]).filter((file) => !file.startsWith("test/architecture/"));
const scripts = (JSON.parse(read("package.json")) as { scripts: Record<string, string> }).scripts;
const asks = (command: string) => /\bHONE_TEST_ALL=(\S+)/.exec(command)?.[1];

test("npm test leaves out both kinds, npm run test:long and test:all none", () => {
  expect(levels(asks(scripts["test"]!))).toEqual({ long: false, longest: false });
  expect(levels(asks(scripts["test:long"]!))).toEqual({ long: true, longest: true });
  expect(levels(asks(scripts["test:all"]!))).toEqual({ long: true, longest: true });
  for (const name of ["test", "test:processes", "test:long", "test:all"])
    expect(scripts[name]).toMatch(/^(\w+=\w+ )*node scripts\/test\.mjs$/);
  const narrowed = Object.keys(scripts).filter((name) => scripts[name]!.includes("HONE_TEST_FILES"));
  // test:all runs every file; scripts/test.mjs adds what npm test leaves out to none but npm test
  expect(narrowed).toEqual(["test:processes", "test:long"]);
});

test("npm test and npm run test:processes share the files, each of which is run once", () => {
  const run = (asked: string) => {
    const { shared, processes, alone } = chosenFiles(asked);
    return [...shared, ...processes, ...alone];
  };
  expect(run("").toSorted()).toEqual(testFiles().toSorted());
  expect([...run("no-processes"), ...run("processes")].toSorted()).toEqual(testFiles().toSorted());
  expect(run("processes")).toContain("test/fleet/processes.test.ts");
  expect(run("long").filter((file) => !hasLong(read(file)))).toEqual([]);
  // Files that are named, a landing and test:all run whatever they start.
  expect(read("scripts/test.mjs")).toContain(
    'HONE_TEST_FILES: files = all || args.length > 0 ? "" : "no-processes"',
  );
});

test("a landing runs npm test with what is long; with HONE_CI_LONG everything", () => {
  const lines = read(".ci/run").split("\n");
  const known = lines.filter((line) => /\basked=|HONE_CI_LONG|HONE_TEST_ALL|HONE_TEST_FILES/.test(line));
  expect(known).toEqual([
    expect.stringMatching(/^if \[\[ -n .*HONE_CI_LONG.*; then$/), // guards the build for arm64
    expect.stringMatching(/^# again \(test\/csrc\/passed\.json, .* with HONE_CI_LONG all of it happens\.$/),
    expect.stringMatching(/^if \[\[ -n .*HONE_CI_LONG.*; then native=changed; fi$/),
    expect.stringMatching(/^if \[\[ -n .*HONE_CI_LONG.*; then unity=OFF; fi$/),
    expect.stringMatching(/HONE_CI_LONG.*; then return 0; fi$/), // guards the device programs, which need nvcc
    "asked=landing",
    expect.stringMatching(/^if \[\[ -n .*HONE_CI_LONG/),
    "  asked=1",
    expect.stringMatching(
      /^HONE_TEST_ALL=\$asked HONE_TEST_NATIVE=\$counted npm test \| tee build\/npm-test\.log$/,
    ),
  ]);
  expect(lines.indexOf("fi", lines.indexOf("  asked=1"))).toBe(lines.indexOf("  asked=1") + 1);
  expect(levels("landing")).toEqual({ long: true, longest: false });
});

test("nothing but test/long.ts knows what is asked for, so that no test asks for something else", () => {
  const readers = files.filter((file) => read(file).includes('process.env["HONE_TEST_ALL"]'));
  expect(readers).toEqual(["test/long.ts", "test/skip-reasons.ts"]);
  expect(read("vitest.config.ts")).not.toContain("HONE_TEST_ALL");
});

test("npm run test:long finds every file with tests that npm test leaves out, and each is one of tests", () => {
  const importers = files.filter((file) => read(file).includes('/long.ts"'));
  const ways = importers.map(
    (file) => /^import \{ ([\w, ]+) \} from "[./]+\/long\.ts";$/m.exec(read(file))?.[1],
  );
  // every importer imports it by name, in a one-line import
  expect(importers.filter((_, i) => ways[i] === undefined)).toEqual([]);
  const asksFor = (way: string) => way.split(", ").some((name) => name === "long" || name === "longest");
  const users = importers.filter((_, i) => asksFor(ways[i]!));
  expect(users).toEqual(files.filter((file) => hasLong(read(file))));
  // With npm run test:all these tests draw more puzzles.
  expect(users.filter((file) => !file.endsWith(".test.ts"))).toEqual(["test/domains/logic/drawing/draws.ts"]);
  expect(users.length).toBeGreaterThan(20);
});
