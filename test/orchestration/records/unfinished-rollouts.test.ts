import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Recipe } from "../../../lib/config/index.ts";
import { HoneError } from "../../../lib/errors.ts";
import type { AttemptTokens } from "../../../lib/native/attempt-tokens.ts";
import type { GroupRequest } from "../../../lib/orchestration/pipeline/index.ts";
import { UnfinishedRollouts } from "../../../lib/orchestration/records/unfinished-rollouts.ts";
import { smallRecipe } from "../small-recipe.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-unfinished-"));
  path = join(dir, "unfinished.bin");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const small = smallRecipe();
const recipe: Recipe = { ...small, rollouts: { ...small.rollouts, recordEveryTokens: 4 } };
const open = (version?: number, of = recipe) => UnfinishedRollouts.open(path, of, version)!;

const group = (number: number, submittedVersion = 5, id = 100 + number): GroupRequest => ({
  group: number,
  domain: "math",
  index: number,
  problem: { id, domain: "math", family: "f", level: 1, question: "", verifier: "", reference: null },
  attempts: 4,
  submittedVersion,
  submittedMs: 0,
});

const tokens = (attempt: number, from: number, versions: number[], finish = 0): AttemptTokens => ({
  attempt,
  from,
  tokens: Int32Array.from(versions, (_, i) => 10 * attempt + from + i),
  logprobs: Float32Array.from(versions, (_, i) => -1 - (from + i) / 4),
  entropies: new Float32Array(versions.length),
  versions: Uint32Array.from(versions),
  oldestKv: new Uint32Array(versions.length).fill(5),
  finish,
});

/** A request's unfinished rollouts as [attempt, tokens, finish]. */
const found = (unfinished: UnfinishedRollouts, request: GroupRequest) =>
  unfinished.of(request)?.begun.map((each) => [each.attempt, each.tokens.length, each.finish]);

test("a session after a kill has what was written, of the same problem and weights that it has", () => {
  const first = open();
  first.add(group(1), [tokens(0, 0, [5, 5]), tokens(1, 0, [5, 5, 6])]);
  first.add(group(2), [tokens(0, 0, [5])]);
  first.add(group(1), [tokens(0, 2, [5, 6, 7]), tokens(1, 3, [6, 7], 1)]);
  first.add(group(9, 7), [tokens(0, 0, [7, 7])]);
  const next = open(6); // the process was killed without closing its file
  expect(found(next, group(1))).toEqual([
    [0, 4, 0],
    [1, 4, 0],
  ]);
  expect(next.of(group(1))).toMatchObject({ version: 5 });
  expect(next.of(group(1))!.begun[0]!.logprobs).toEqual(Float32Array.of(-1, -1.25, -1.5, -1.75));
  expect(found(next, group(2))).toEqual([[0, 1, 0]]);
  expect(next.of(group(9)), "of weights after the checkpoint").toBeUndefined();
  expect(next.of(group(2, 5, 999)), "another problem").toBeUndefined();
  expect(next.of(group(3))).toBeUndefined();
});

test("a record is torn or damaged: what is before it counts", () => {
  const first = open();
  first.add(group(1), [tokens(0, 0, [5, 5])]);
  const whole = first.size;
  first.add(group(1), [tokens(0, 2, [5, 5, 5])]);
  const [bytes, { size }] = [readFileSync(path), statSync(path)];
  for (let end = whole; end < size; end += 19) {
    writeFileSync(path, bytes);
    truncateSync(path, end);
    expect(found(open(5), group(1)), `${end} of ${size} bytes`).toEqual([[0, 2, 0]]);
  }
  for (let at = whole; at < size; at += 41) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 4;
    writeFileSync(path, damaged);
    expect(found(open(5), group(1)), `byte ${at}`).toEqual([[0, 2, 0]]);
  }
  writeFileSync(path, "no such file");
  expect(open(5).of(group(1))).toBeUndefined();
});

test("sessions follow each other: what one goes on with stays, what it begins anew voids what was", () => {
  const first = open();
  first.add(group(1), [tokens(0, 0, [5, 5, 6, 6])]);
  first.add(group(2), [tokens(0, 0, [5, 5, 5])]);
  const second = open(5);
  second.add({ ...group(1), begun: second.of(group(1))!.begun }, [tokens(0, 2, [5, 5, 5])]);
  second.add(group(2), [tokens(0, 0, [5])]); // the second run starts this group anew
  const third = open(5);
  expect(found(third, group(1))).toEqual([[0, 5, 0]]);
  expect([...third.of(group(1))!.begun[0]!.versions]).toEqual([5, 5, 5, 5, 5]);
  expect(found(third, group(2))).toEqual([[0, 1, 0]]);
  expect(found(open(5), group(1))).toEqual([[0, 5, 0]]);
});

test("another recipe begins anew, and so does a run that does not go on", () => {
  open().add(group(1), [tokens(0, 0, [5, 5])]);
  const bytes = readFileSync(path);
  expect(open(5, { ...recipe, seed: 8 }).of(group(1))).toBeUndefined();
  writeFileSync(path, bytes);
  expect(found(open(5), group(1))).toEqual([[0, 2, 0]]);
  expect(open().of(group(1))).toBeUndefined();
  expect(UnfinishedRollouts.open(path, small, 5)).toBeUndefined();
});

test("what is over gives its room back, and the rest stays whole", () => {
  using kept = open();
  kept.add(group(3), [tokens(0, 0, [5, 5])]);
  const { size } = kept;
  for (let number = 10; number < 60; number++) kept.add(group(number), [tokens(0, 0, [5, 5, 5, 5])]);
  kept.add(group(3), [tokens(0, 2, [5])]);
  const full = statSync(path).size;
  expect(full).toBe(kept.size);
  kept.retain((number) => number === 3);
  expect(statSync(path).size).toBeLessThan(2 * size);
  expect(found(kept, group(3))).toEqual([[0, 3, 0]]);
  expect(kept.of(group(10))).toBeUndefined();
  kept.add(group(3), [tokens(0, 3, [5])]);
  kept.add(group(10), [tokens(0, 0, [5])]);
  const next = open(5);
  expect(found(next, group(3))).toEqual([[0, 4, 0]]);
  expect(found(next, group(10))).toEqual([[0, 1, 0]]);
});

test("where what is over cannot be given back, all stays as it was", () => {
  using kept = open();
  for (const number of [1, 2, 3]) kept.add(group(number), [tokens(0, 0, [5, 5])]);
  const { size } = kept;
  writeFileSync(path, readFileSync(path).fill(0, size - 40)); // makes the last message unreadable
  expect(() => kept.retain((number) => number !== 1)).toThrow(HoneError);
  expect([kept.size, readdirSync(dir)]).toEqual([size, ["unfinished.bin"]]);
  expect([1, 2].map((number) => found(kept, group(number)))).toEqual([[[0, 2, 0]], [[0, 2, 0]]]);
  kept.retain((number) => number < 3);
  kept.add(group(2), [tokens(0, 2, [5])]);
  expect(found(open(5), group(2))).toEqual([[0, 3, 0]]);
});

test("a group that begins anew with later weights than the checkpoint's does not void what they do not know of", () => {
  const first = open();
  first.add(group(1), [tokens(0, 0, [5, 5])]);
  const second = open(5);
  second.add(group(1, 7), [tokens(0, 0, [7])]); // the group started anew after a later checkpoint, which was then lost
  expect(found(open(5), group(1))).toEqual([[0, 2, 0]]);
});

test("a file that is deleted under way is named", () => {
  const kept = open();
  rmSync(path);
  expect(() => kept.add(group(1), [tokens(0, 0, [5])])).toThrow(/unfinished.bin: it was deleted/);
  appendFileSync(path, "");
});

test.each([
  [512, 12.15],
  [16, 15.2],
])("a token costs what docs/reference/rollouts.md says (%i)", (every, most) => {
  using unfinished = open();
  const versions = new Array<number>(every).fill(5);
  for (let from = 0; from < 2048; from += every)
    unfinished.add(
      group(1),
      Array.from({ length: 8 }, (_, attempt) => tokens(attempt, from, versions)),
    );
  expect(unfinished.size / (8 * 2048)).toBeGreaterThan(12);
  expect(unfinished.size / (8 * 2048)).toBeLessThan(most);
});

test("what comes once it is closed goes into no other file, and closes none", () => {
  const unfinished = open();
  unfinished.add(group(1), [tokens(0, 0, [5, 5])]);
  unfinished[Symbol.dispose]();
  const written = readFileSync(path);
  const other = openSync(join(dir, "other"), "w+"); // reuses the descriptor that was closed
  unfinished.add(group(1), [tokens(0, 2, [5, 5])]);
  unfinished.retain(() => false);
  expect(fstatSync(other).size).toBe(0);
  closeSync(other);
  expect(readFileSync(path)).toEqual(written);
});
