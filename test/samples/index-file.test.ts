import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { IndexFile } from "../../lib/samples/index-file.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const path = () => join(folder.path, "samples.index");

function grow(file: IndexFile, end: number): void {
  file.tables.sessions.push({ step: end, members: 2 * end });
  file.tables.verdicts.push({ at: end, size: 1, completion: end, version: 1, status: 2, score: Number.NaN });
  file.names.push(`name ${end}`);
  file.covered = { end, tail: Buffer.alloc(16, end) };
}
const stateOf = ({ tables, names, covered }: IndexFile) => ({
  steps: [...tables.sessions.columns.step.subarray(0, tables.sessions.rows)],
  scores: [...tables.verdicts.columns.score.subarray(0, tables.verdicts.rows)],
  names: [...names],
  covered: { end: covered.end, tail: covered.tail.toString("hex") },
});

test("what was saved in pieces is read as it was; small pieces are put together in time", () => {
  const file = new IndexFile(path());
  const sizes: number[] = [];
  for (let end = 1; end <= 300; end++) {
    grow(file, end);
    file.save();
    sizes.push(statSync(path()).size);
  }
  expect(stateOf(new IndexFile(path()))).toEqual(stateOf(file));
  expect(sizes.some((size, i) => i > 0 && size < sizes[i - 1]!)).toBe(true);
  expect(readdirSync(folder.path)).toEqual(["samples.index"]);
});

test("of two that save the same, one does", () => {
  const first = new IndexFile(path());
  grow(first, 1);
  first.save();
  const second = new IndexFile(path());
  for (const file of [first, second]) {
    grow(file, 2);
    file.save();
  }
  const size = statSync(path()).size;
  grow(second, 3);
  second.save();
  expect(statSync(path()).size).toBe(size);
  const read = new IndexFile(path());
  expect(stateOf(read).steps).toEqual([1, 2]);
  grow(first, 3);
  first.save();
  expect(stateOf(new IndexFile(path())).steps).toEqual([1, 2, 3]);
});

test("a piece that another process wrote again counts once", () => {
  const file = new IndexFile(path());
  const ends: number[] = [];
  for (const end of [1, 2]) {
    grow(file, end);
    file.save();
    ends.push(statSync(path()).size);
  }
  appendFileSync(path(), readFileSync(path()).subarray(ends[0]!));
  expect(stateOf(new IndexFile(path())).steps).toEqual([1, 2]);
});

test("what stands behind a damaged piece is not read, and the next save mends it", () => {
  const file = new IndexFile(path());
  const ends: number[] = [];
  for (let end = 1; end <= 3; end++) {
    grow(file, end);
    file.save();
    ends.push(statSync(path()).size);
  }
  const whole = readFileSync(path());
  const spoilt = Buffer.from(whole);
  spoilt[ends[0]! + 130]! ^= 1;
  for (const [bytes, steps] of [
    [spoilt, [1]],
    [whole.subarray(0, ends[1]! + 50), [1, 2]],
    [whole.subarray(0, ends[1]! + 150), [1, 2]],
    [Buffer.alloc(500), []],
  ] as const) {
    writeFileSync(path(), bytes);
    const read = new IndexFile(path());
    expect(stateOf(read).steps).toEqual(steps);
    grow(read, 9);
    read.save();
    expect(stateOf(new IndexFile(path())).steps).toEqual([...steps, 9]);
  }
});

test("a folder that cannot be written has no file, and nothing is thrown", () => {
  const file = new IndexFile(join(folder.path, "missing", "samples.index"));
  grow(file, 1);
  file.save();
  expect(existsSync(join(folder.path, "missing"))).toBe(false);
});
