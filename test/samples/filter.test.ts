import { expect, test } from "vitest";
import type { SampleFilter } from "../../lib/samples/filter.ts";
import { longLimits, matching, parseRange } from "../../lib/samples/filter.ts";
import { SampleIndex, sampleOf } from "../../lib/samples/index.ts";
import { ConstructedRun, type Said } from "./constructed-run.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();

async function opened(write: (run: ConstructedRun) => void): Promise<SampleIndex> {
  {
    using run = new ConstructedRun(folder.path);
    write(run);
  }
  return SampleIndex.open(folder.path);
}

let texts = 0;
const said = (of: Partial<Said> = {}): Said => ({ text: `text ${texts++}`, ...of });
const solved = (count: number, of: number): Said[] =>
  Array.from({ length: of }, (_, i) => said({ status: i < count ? "correct" : "wrong" }));

test("each condition is the one that it says, and all of them hold at once", async () => {
  const index = await opened((run) => {
    run.step(
      { problem: 1, said: [said({ tokens: 5, versions: [0, 0] }), said({ tokens: 9, versions: [0, 2] })] },
      {
        problem: 1,
        domain: "code",
        said: [said({ status: "unscored" }), said({ finish: "length", tokens: 80 })],
      },
    );
    run.step({
      problem: 2,
      said: [said({ status: "correct", versions: [3, 3] }), said({ status: "no_answer" })],
    });
  });
  const found = (filter: SampleFilter) =>
    matching(index, filter).map((row) => {
      const { step, group, attempt } = sampleOf(index, row);
      return `${step}.${group}.${attempt}`;
    });
  expect(found({})).toEqual(["1.1.0", "1.1.1", "1.2.0", "1.2.1", "2.3.0", "2.3.1"]);
  expect(found({ steps: [2, 9] })).toEqual(["2.3.0", "2.3.1"]);
  expect(found({ domain: "code" })).toEqual(["1.2.0", "1.2.1"]);
  expect(found({ domain: "chess" })).toEqual([]);
  expect(found({ problem: 1 })).toEqual(["1.1.0", "1.1.1", "1.2.0", "1.2.1"]);
  expect(found({ problem: 1, domain: "math" })).toEqual(["1.1.0", "1.1.1"]);
  expect(found({ group: 2, attempt: 1 })).toEqual(["1.2.1"]);
  expect(found({ statuses: ["unscored", "correct"] })).toEqual(["1.2.0", "2.3.0"]);
  expect(found({ tokens: [6, 80] })).toEqual(["1.1.1", "1.2.0", "1.2.1", "2.3.0", "2.3.1"]);
  expect(found({ versions: [1, 1] })).toEqual(["1.1.1"]);
  expect(found({ versions: [2, 3] })).toEqual(["1.1.1", "2.3.0"]);
  expect(found({ truncated: true })).toEqual(["1.2.1"]);
  expect(found({ truncated: true, domain: "math" })).toEqual([]);
});

test("wrong but long: not solved, scored, and longer than nine tenths of its own domain's", async () => {
  const lengths = Array.from({ length: 10 }, (_, i) => said({ tokens: 10 * (i + 1) }));
  const index = await opened((run) => {
    run.step(
      { problem: 1, said: lengths },
      { problem: 2, said: Array.from({ length: 20 }, () => said({ tokens: 5 })) },
      {
        problem: 3,
        said: [said({ tokens: 96, status: "correct" }), said({ tokens: 97, status: "unscored" })],
      },
      { problem: 4, domain: "code", said: Array.from({ length: 9 }, () => said({ tokens: 1000 })) },
    );
  });
  const tokens = [...lengths.map((one) => one.tokens!), ...Array(20).fill(5), 96, 97].sort((a, b) => a - b);
  const limits = longLimits(index);
  expect([...limits.values()]).toEqual([tokens[Math.ceil(0.9 * tokens.length) - 1], 1000]);
  expect(matching(index, { wrongButLong: true }).map((row) => sampleOf(index, row).tokens)).toEqual([100]);
});

test("flipped: the last group up to a step and the latest one, where only one is mostly solved", async () => {
  const index = await opened((run) => {
    run.step(
      { problem: 1, said: solved(0, 4) },
      { problem: 2, said: solved(4, 4) },
      { problem: 3, said: solved(0, 4) },
    );
    run.step({ problem: 1, said: solved(1, 4) }, { problem: 4, said: solved(0, 4) });
    run.step(
      { problem: 1, said: solved(4, 4) },
      { problem: 2, said: solved(2, 4) },
      { problem: 3, said: solved(1, 4) },
    );
    run.step({ problem: 1, said: solved(2, 4) }, { problem: 2, said: solved(1, 4) });
  });
  const flips = (since: number) =>
    matching(index, { flippedSince: since })
      .filter((_, i) => i % 4 === 0)
      .map((row) => sampleOf(index, row))
      .map(({ step, problem }) => `${problem} at ${step}`);
  expect(flips(2)).toEqual(["2 at 1", "1 at 2", "1 at 4", "2 at 4"]);
  expect(flips(3)).toEqual(["2 at 3", "2 at 4"]);
  expect(flips(0)).toEqual([]);
  expect(flips(4)).toEqual([]);
});

test("a group without a verdict flips nothing", async () => {
  const index = await opened((run) => {
    run.step({ problem: 1, said: solved(4, 4) });
    run.step({ problem: 1, said: [said({ status: "unscored" })] });
  });
  expect(matching(index, { flippedSince: 1 })).toEqual([]);
});

test("ranges are read as they are written", () => {
  const far = Number.MAX_SAFE_INTEGER;
  expect(["7", "7..", "..7", "7..12", "0"].map(parseRange)).toEqual([
    [7, 7],
    [7, far],
    [0, 7],
    [7, 12],
    [0, 0],
  ]);
  for (const bad of ["", "..", "a", "-1", "1.5", "1...2", "1..2..3"])
    expect(parseRange(bad), bad).toBeUndefined();
});
