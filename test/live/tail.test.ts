import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Tail } from "../../lib/live/tail.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-tail-"));
  path = join(dir, "log");
});
afterEach(() => rmSync(dir, { recursive: true }));

test("gives each whole line once, a torn one when it is whole", () => {
  const tail = new Tail(path);
  const look = () => [...tail.lines(() => {})].map(({ text }) => text);
  expect(look()).toEqual([]);
  writeFileSync(path, "a\nb\nhal");
  expect(look()).toEqual(["a", "b"]);
  expect(tail.end).toBe(4);
  expect(look()).toEqual([]);
  appendFileSync(path, "f ö\nc\n");
  expect(look()).toEqual(["half ö", "c"]);
  expect(tail.end).toBe(14);
});

test.each([
  ["cut short", () => writeFileSync(path, "z\n")],
  [
    "replaced by a longer one",
    () => {
      writeFileSync(`${path}.new`, "z\nsecond\nthird\n");
      renameSync(`${path}.new`, path);
    },
  ],
  [
    "deleted, and made again, with its inode, before anybody looked",
    () => {
      rmSync(path);
      writeFileSync(path, "z\nsecond\nthird\n");
    },
  ],
] as const)("reads a file anew that was %s", async (_, change) => {
  writeFileSync(path, "a\nb\n");
  const tail = new Tail(path);
  for (const _line of tail.lines(() => {}));
  await new Promise((resolve) => setTimeout(resolve, 20)); // the file system's clock has coarse ticks
  change();
  let replaced = 0;
  const lines = [...tail.lines(() => (replaced += 1))];
  expect(replaced).toBe(1);
  expect(lines[0]?.text).toBe("z");
});

test("a folder in its place has no lines", () => {
  expect([...new Tail(dir).lines(() => {})]).toEqual([]);
});
