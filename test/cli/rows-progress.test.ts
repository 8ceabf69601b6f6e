import { expect, test } from "vitest";
import { whileReadingRows } from "../../lib/cli/rows-progress.ts";
import { ROWS_READ, type RowsRead } from "../../lib/data/index.ts";

const read = (rows: number, share: number): RowsRead => ({
  kind: "own",
  file: "/data/mine.jsonl",
  rows,
  share,
});

/** Returns what is printed if each count is reported at its second. */
async function saying(told: readonly (readonly [second: number, RowsRead])[], isLive = false) {
  const said: string[] = [];
  let nowMs = 0;
  const options = { say: (text: string) => said.push(text), isLive, now: () => nowMs };
  const done = await whileReadingRows(async () => {
    for (const [second, one] of told) {
      nowMs = second * 1000;
      ROWS_READ.publish(one);
    }
    return 7;
  }, options);
  expect(done).toBe(7);
  return said;
}

test("rows, share and time left are said every five seconds once reading takes two", async () => {
  const times = [0, 1, 2, 3, 4, 8, 10].map((s) => [s, read(1000 * s, s / 10)] as const);
  expect(await saying(times)).toEqual([
    "mine.jsonl: 2,000 rows read, 20 %, about 8 s left\n",
    "mine.jsonl: 8,000 rows read, 80 %, about 2 s left\n",
    "mine.jsonl: 10,000 rows read, 100 %, in 10 s\n",
  ]);
});

test("a set that is read at once is not mentioned, and the next one has times of its own", async () => {
  const quick = [
    [0, read(1, 0.5)],
    [1, read(2, 1)],
    [60, read(5, 0.1)],
    [64, read(9, 0.2)],
  ] as const;
  expect(await saying(quick)).toEqual(["mine.jsonl: 9 rows read, 20 %, about 16 s left\n"]);
});

test("of a packed file no share is said; on a terminal one line is overwritten and ended", async () => {
  const packed = [
    [0, read(10, 0)],
    [3, read(4000, 0)],
  ] as const;
  expect(await saying(packed, true)).toEqual([
    expect.stringMatching(/^\rmine\.jsonl: 4,000 rows read in 3 s/),
    "\n",
  ]);
});

test("the channel has no subscriber after the work", async () => {
  await saying([]);
  expect(ROWS_READ.hasSubscribers).toBe(false);
});
