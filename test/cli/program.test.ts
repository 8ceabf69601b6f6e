import { expect, test } from "vitest";
import { program } from "../../lib/cli/program.ts";
import { staticReachOf } from "../architecture/source-tree.ts";

test("every verb says what it does, and in 80 columns of help", () => {
  for (const verb of program().commands) expect(verb.description()).not.toBe("");
  const help = program()
    .configureOutput({ getOutHelpWidth: () => 80 })
    .helpInformation();
  expect(Math.max(...help.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("a command loads what it needs when it runs: help and completion do not wait for the rest", () => {
  const loaded = staticReachOf("lib/cli/program.ts");
  const heavy = ["config", "domains", "orchestration", "metrics", "inference", "live", "suites"];
  expect(loaded.filter((file) => heavy.some((room) => file.startsWith(`lib/${room}/`)))).toEqual([]);
  expect(loaded.length).toBeGreaterThan(30); // the verbs' own files
});
