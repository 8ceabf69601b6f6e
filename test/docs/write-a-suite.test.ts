// Runs the page's files unchanged, with the real verifier processes.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { openSuite } from "../../lib/suites/open-suite.ts";
import { said, scratchFolder, scripted } from "../suites/scripted.ts";

const page = readFileSync(new URL("../../docs/how-to/write-a-suite.md", import.meta.url), "utf8");

test("the suite of write-a-suite.md reads its rows, asks and judges", async () => {
  const folder = scratchFolder();
  for (const [, name, text] of page.matchAll(/```\w+ file=(\S+)\n([\s\S]*?)```/g))
    writeFileSync(join(folder, name!), text!);
  const suite = await openSuite(join(folder, "digits.mjs"));
  expect([suite.count, suite.report!.leftOut]).toMatchObject([3, [{ rows: 1 }]]);
  const answerer = scripted(({ question }, seed) =>
    said(seed === 1 ? `\\boxed{${[...question.match(/\d+/)![0]].sort().join("")}}` : "\\boxed{21}"),
  );
  const { suites } = await evaluateSuites(answerer, [suite], {
    dir: scratchFolder(),
    model: "m",
    seeds: [1, 2],
  });
  expect(suites[0]).toMatchObject({ suite: "digits", problems: 3, unscored: {}, passAt: { 1: 0.5, 2: 1 } });
  expect(suites[0]!.seeds).toEqual([
    { seed: 1, accuracy: 1 },
    { seed: 2, accuracy: 0 },
  ]);
  expect(Object.keys(suites[0]!.subjects).sort()).toEqual(["four", "one", "two"]);
  expect(Object.keys(suites[0]!.levels)).toEqual(["short", "long"]);
});
