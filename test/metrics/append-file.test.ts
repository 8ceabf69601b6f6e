import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppendFile, linesOf, wholeLines } from "../../lib/metrics/append-file.ts";

/** The free bytes of the disk. */
const disk = { room: Number.POSITIVE_INFINITY };
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const writeSync = (fd: number, bytes: Buffer, from: number) => {
    if (disk.room === 0) throw new Error("ENOSPC: no space left on device, write");
    const written = fs.writeSync(fd, bytes, from, Math.min(bytes.length - from, disk.room));
    disk.room -= written;
    return written;
  };
  return { ...fs, writeSync };
});

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-append-"));
  path = join(dir, "new", "log");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("keeps whole lines, cuts a torn one, and begins anew where it is told to", () => {
  const first = new AppendFile(path);
  first.append("one\n");
  first.close();
  appendFileSync(path, "tor");
  const second = new AppendFile(path);
  second.append("two\nthree\n");
  second.close();
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  new AppendFile(path, { fresh: true }).close();
  expect(readFileSync(path, "utf8")).toBe("");
  expect(() => second.append("four\n")).toThrowError(expect.objectContaining({ code: "HONE_ERR_STATE" }));
});

test.each([false, true])(
  "a line that a full disk cut off is gone before the next one, in a file begun anew: %s",
  (fresh) => {
    const file = new AppendFile(path, { fresh });
    file.append("one\n");
    disk.room = 3;
    expect(() => file.append("two\n")).toThrowError(expect.objectContaining({ code: "HONE_ERR_IO" }));
    disk.room = Number.POSITIVE_INFINITY;
    file.append("three\n");
    file.close();
    expect(readFileSync(path, "utf8")).toBe("one\nthree\n");
  },
);

test("a file deleted under way is a typed error that names it", () => {
  const file = new AppendFile(path);
  rmSync(path);
  const error = { code: "HONE_ERR_IO", message: `${path}: it was deleted during the run` };
  expect(() => file.append("one\n")).toThrowError(expect.objectContaining(error));
  file.close();
});

test("lines are whole across blocks, whatever bytes they have, and the torn one is left out", () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `${i} ${"añ€😀".repeat(i % 97)}`);
  lines[4000] = "x".repeat(3 << 20);
  appendFileSync(join(dir, "log"), `${lines.join("\n")}\ntorn`);
  expect([...wholeLines(join(dir, "log"))]).toEqual(lines);
  writeFileSync(join(dir, "log"), "");
  expect([...wholeLines(join(dir, "log"))]).toEqual([]);
  expect(() => [...wholeLines(join(dir, "none"))]).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_IO" }),
  );
});

test("places are those of the file, behind lines longer than a block and bytes that are no text", () => {
  const file = join(dir, "log");
  const lines = [
    Buffer.alloc(200_000, "x"),
    Buffer.from([0x61, 0xff, 0xc3]),
    Buffer.from("ñ"),
    Buffer.alloc(0),
  ];
  writeFileSync(file, Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")])));
  const written = readFileSync(file);
  const found = [...linesOf(file)];
  expect(found.map(({ bytes }) => written.subarray(bytes.start, bytes.end - 1))).toEqual(lines);
  expect(found.map(({ text }) => text)).toEqual(lines.map((line) => line.toString("utf8")));
  expect([...linesOf(file, { start: found[1]!.bytes.start, end: found[2]!.bytes.end })]).toEqual(
    found.slice(1, 3),
  );
});
