import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPlainFile } from "../../../lib/shared/files/plain-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-plain-file-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("a file is read whole, up to a size", () => {
  const path = join(dir, "a");
  writeFileSync(path, "abc");
  expect(readPlainFile(path, 3).toString()).toBe("abc");
  expect(() => readPlainFile(path, 2)).toThrow(`${path} has 3 bytes; a file of its kind may have 2 at most`);
});

test("what is no file is refused before anything is read", () => {
  const pipe = join(dir, "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(() => readPlainFile(pipe, 10)).toThrow(`${pipe} is a named pipe, not a file`);
  expect(() => readPlainFile("/dev/zero", 10)).toThrow("/dev/zero is a device, not a file");
  expect(() => readPlainFile(dir, 10)).toThrow(`${dir} is a folder, not a file`);
  expect(() => readPlainFile(join(dir, "none"), 10)).toThrow(/cannot read .*none: ENOENT/);
});
