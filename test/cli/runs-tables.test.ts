import { join } from "node:path";
import { expect, test } from "vitest";
import { diffText, runsText } from "../../lib/cli/runs-tables.ts";
import { diffRuns, listRuns } from "../../lib/runs/index.ts";
import { scratch, table, writeRun } from "../runs/folders.ts";

test("a line a run, and what tells it from the others", async () => {
  const dir = scratch();
  writeRun(join(dir, "a"), { state: "done", after: table(0.5, 0.7) });
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`field${i}`, i]));
  writeRun(join(dir, "b"), { steps: 1, ofSteps: 9, config: many });
  const text = runsText(await listRuns(dir), 200);
  expect(text).toMatch(/a +finished +3\/3 +0\.300 +0\.200 -> 0\.600 +\d{4}-\d\d-\d\d \d\d:\d\d/);
  expect(text).toMatch(/b +killed +1\/9 +0\.100 +– /);
  expect(text).toMatch(/a: +training\.steps=3$/m);
  expect(text).toMatch(/b: +training\.steps=9 +field0=0 +field1=1 +field2=2 +and 6 more/);
  expect(runsText({ runs: [], unreadable: [] }, 80)).toBe("no runs");
  expect(runsText({ runs: [], unreadable: [{ dir: "x\u001b[31m", error: "torn" }] }, 80)).toMatch(
    /x\\x1b\[31m: torn/,
  );
});

test("a run whose first session evaluated nothing has a score after training, and none before", async () => {
  const dir = scratch();
  writeRun(join(dir, "a"), { state: "done", isFirstScored: false, after: table(0.5, 0.7) });
  expect(runsText(await listRuns(dir), 200)).toMatch(/a +finished +3\/3 +0\.300 +– -> 0\.600 /);
});

test("differences with what they may be off by", async () => {
  const dir = scratch();
  const a = writeRun(join(dir, "a"), { state: "done", after: table(0.5, 0.7) });
  const b = writeRun(join(dir, "b"), { state: "done", seed: 1, lr: 0.003, after: table(0.75, 0.65) });
  const text = diffText(await diffRuns(a, b), 200);
  expect(text).toMatch(/score math +0\.500 +0\.750 +\+0\.250 ±0\.042/);
  expect(text).toMatch(/score math .* higher$/m);
  expect(text).toMatch(/^score held out, after training: \+0\.100 ±0\.042: B is higher$/m);
  expect(text).toMatch(/training, steps 1 to 3/);
  expect(text).toMatch(/score mean +0\.200 +0\.200 +\+0\.000 ±0\.082 +noise$/m);
  expect(text).toMatch(/meanTokens code +70\.0 +65\.0 +-5\.0 ±5\.7/);
  expect(text).toMatch(/^ {2}optimizer\.lr: 0\.001 -> 0\.003$/m);
  const steady = writeRun(join(dir, "steady"), { state: "done", after: table(0.5, 0.7, 1e-6) });
  const above = writeRun(join(dir, "above"), { state: "done", after: table(0.5, 0.70004, 1e-6) });
  expect(diffText(await diffRuns(steady, above), 200)).toMatch(/score code .*\+0\.00004 ±0\.00000 +higher$/m);
  writeRun(join(dir, "more", "0"), { state: "done", after: table(0.4, 0.4) });
  writeRun(join(dir, "more", "1"), { seed: 1, state: "done", after: table(0.6, 0.6) });
  const seeds = diffText(await diffRuns(join(dir, "more"), join(dir, "more")), 200);
  expect(seeds).toMatch(
    /score mean +0\.500 ±0\.141 \(2\) +0\.500 ±0\.141 \(2\) +\+0\.000 \[0\.000, 0\.000\]/,
  );
  expect(seeds).toMatch(/recipes: the same/);
});

test("a run that was stopped has no column of dashes: its last steps are compared, and a line says what is missing", async () => {
  const dir = scratch();
  const a = writeRun(join(dir, "a"), { steps: 9, ofSteps: 9, state: "done", after: table(0.5, 0.7) });
  const b = writeRun(join(dir, "b"), { steps: 4, ofSteps: 9, state: "stopped" });
  const text = diffText(await diffRuns(a, b), 200);
  expect(text).toMatch(/b: not evaluated after training$/m);
  expect(text).toMatch(/b: seed 0 stopped at step 4 of 9$/m);
  expect(text).toMatch(/training, steps 1 to 4/);
  expect(text).toMatch(/^score in training: \+0\.000 ±0\.091: no difference beyond noise$/m);
  expect(text).not.toMatch(/–/);
});
