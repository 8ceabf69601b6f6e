import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DIGEST_STEPS } from "../../lib/metrics/digest-writer.ts";
import { RunDigest } from "../../lib/metrics/run-digest.ts";
import { RunLog, readRunLog } from "../../lib/metrics/run-log.ts";
import { stepsWith, stretchOf } from "../../lib/metrics/stretch.ts";

let folder: string;
let log: string;
let digest: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-run-digest-"));
  log = join(folder, "steps.jsonl");
  digest = join(folder, "steps.digest.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes like a run's session that starts at `from` and takes `count` steps. Some metrics are missing in some steps. */
function session(from: number, count: number, session = 0): void {
  const writer = new RunLog(log, digest);
  for (let step = from; step < from + count; step++) {
    const rare = step % 7 === 0 && { rare: step };
    writer.write({ step, version: step, metrics: { a: step + session / 8, ...rare } });
  }
  writer.close();
}

/** Expects the digest to agree with the log, read line by line. */
function expectSameAsLog(): RunDigest {
  const records = readRunLog(log);
  const stretches = new RunDigest(log, digest);
  expect(stretches.length).toBe(records.length);
  expect(stretches.last?.metrics).toEqual(records.at(-1)?.metrics);
  let at = 0;
  for (const stretch of stretches) {
    const part = records.slice(at, at + stretch.steps);
    at += stretch.steps;
    expect([stretch.first, stretch.step]).toEqual([part[0]!.step, part.at(-1)!.step]);
    for (const name of ["a", "rare"]) {
      const values = part.flatMap(({ metrics }) => metrics[name] ?? []);
      expect(stepsWith(stretch, name)).toBe(values.length);
      if (values.length === 0) expect(stretch.metrics).not.toHaveProperty(name);
      else expect(stretch.metrics[name]).toBeCloseTo(values.reduce((x, y) => x + y) / values.length, 9);
    }
  }
  expect(at).toBe(records.length);
  expect([...stretches.steps()]).toEqual(records.map(stretchOf));
  return stretches;
}

test("a walk through a log of 3,200 steps parses a sixteenth of its lines", () => {
  session(1, 3200);
  const stretches = expectSameAsLog();
  expect(stretches.lines).toBe(3200 / DIGEST_STEPS);
  rmSync(digest);
  expect(expectSameAsLog().lines).toBe(3200);
});

test("whatever was resumed, torn, or edited, the steps are the log's", () => {
  const event = fc.oneof(
    { weight: 4, arbitrary: fc.record({ back: fc.nat(70), steps: fc.integer({ min: 1, max: 80 }) }) },
    { weight: 1, arbitrary: fc.record({ tear: fc.constantFrom("log", "digest"), bytes: fc.nat(90) }) },
    { weight: 1, arbitrary: fc.record({ removeLine: fc.nat(200) }) },
  );
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 8 }), (events) => {
      rmSync(log, { force: true });
      rmSync(digest, { force: true });
      session(1, 40);
      let last = 40;
      events.forEach((happens, i) => {
        if ("tear" in happens) {
          const path = happens.tear === "log" ? log : digest;
          truncateSync(path, Math.max(0, readFileSync(path).length - happens.bytes));
        } else if ("removeLine" in happens) {
          const lines = readFileSync(log, "utf8").split("\n");
          if (lines.length > 2) lines.splice(Math.min(happens.removeLine, lines.length - 2), 1);
          writeFileSync(log, lines.join("\n"));
        } else {
          const from = Math.max(1, last + 1 - happens.back);
          session(from, happens.steps, i + 1);
          last = from + happens.steps - 1;
        }
      });
      if (readRunLog(log).length > 0) expectSameAsLog();
    }),
  );
});

test("a damaged line is named when it has to be read", () => {
  session(1, 3);
  appendFileSync(log, "not json\n");
  expect(() => new RunDigest(log, digest)).toThrow(/steps\.jsonl:4: not a step record/);
});

test("damaged lines are left out and counted where that is asked", () => {
  session(1, 3);
  appendFileSync(log, 'not json\n{"step":4,"version":4,"metrics":\n');
  session(5, 2);
  const stretches = new RunDigest(log, digest, true);
  const found = () => [...stretches].map(({ step }) => step);
  expect([found(), found()]).toEqual([
    [1, 2, 3, 5, 6],
    [1, 2, 3, 5, 6],
  ]);
  expect([...stretches.steps()].map(({ step }) => step)).toEqual([1, 2, 3, 5, 6]);
  expect(stretches.damaged).toBe(2);
});

test("of a damaged line of the digest the steps are read from the log", () => {
  session(1, 40);
  const lines = readFileSync(digest, "utf8").split("\n");
  lines[1] = `${lines[1]!.slice(0, -9)}`;
  writeFileSync(digest, lines.join("\n"));
  expect(() => [...new RunDigest(log, digest)]).toThrow(/steps\.digest\.jsonl:2: not a step record/);
  const stretches = new RunDigest(log, digest, true);
  expect([...stretches].map(({ first, steps }) => [first, steps])).toEqual([
    [1, 16],
    ...Array.from({ length: 24 }, (_, i) => [17 + i, 1]),
  ]);
  expect(stretches.damaged).toBe(0);
});
