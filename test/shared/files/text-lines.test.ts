import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { objectOfLine, textLines } from "../../../lib/shared/files/text-lines.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-text-lines-"));
  path = join(dir, "a.txt");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function linesOf(text: string): Promise<string[]> {
  writeFileSync(path, text);
  const lines: string[] = [];
  for await (const line of textLines(path)) lines.push(line);
  return lines;
}

test.each([
  ["", []],
  ["\n", [""]],
  ["a\n\nb", ["a", "", "b"]],
  ["a\r\n b \r\n", ["a", " b "]],
  ["é\u2028😀\u0085\nz\n", ["é\u2028😀\u0085", "z"]],
])("%j is the lines %j", async (text, lines) => {
  expect(await linesOf(text)).toEqual(lines);
});

test.each([
  ['{"a":1}', { a: 1 }],
  ["[1]", [1]],
  ['{"a":', undefined],
  ["", undefined],
  ["null", undefined],
  ["7", undefined],
])("the object of the line %j is %j", (line, object) => {
  expect(objectOfLine(line)).toEqual(object);
});

test("a byte order mark is no part of the first line", async () => {
  expect(await linesOf("\ufeff{}\n\ufeffx")).toEqual(["{}", "\ufeffx"]);
});

test("a line without an end in sight is named by its number", async () => {
  writeFileSync(path, "a\n");
  appendFileSync(path, Buffer.alloc((1 << 26) + 10, "x"));
  const lines = textLines(path);
  expect((await lines.next()).value).toBe("a");
  await expect(lines.next()).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: `${path}:2: the line is longer than ${1 << 26} characters`,
  });
});

test.each([
  ["a named pipe", () => execFileSync("mkfifo", [path]), (): string => path],
  ["a device", () => undefined, (): string => "/dev/zero"],
])("%s is refused, not waited for", async (kind, make, where) => {
  make();
  await expect(textLines(where()).next()).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: `${where()} is ${kind}, not a file`,
  });
});

test("a line, and a letter of four bytes, may cross any border of blocks", async () => {
  const text = Array.from({ length: 3 }, (_, i) => `${"x".repeat(i)}${"😀".repeat(100_000)}`);
  expect(await linesOf(text.join("\n"))).toEqual(text);
});

test.each([
  ["that is not there", "none", /^cannot read .*none: ENOENT/],
  ["that is a folder", ".", /is a folder, not a file$/],
])("a file %s is named, with the hint", async (_, name, message) => {
  const failing = textLines(join(dir, name), "Look elsewhere.").next();
  await expect(failing).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringMatching(message),
    hint: "Look elsewhere.",
  });
});

test("who stops early leaves no file open", async () => {
  writeFileSync(path, "1\n".repeat(100_000));
  for await (const line of textLines(path)) if (line === "1") break;
  const open = () => readdirSync("/proc/self/fd").filter((fd) => linkOf(fd) === path);
  await expect.poll(open, { timeout: 60_000 }).toEqual([]);
});

/** The file to which a descriptor of this process leads. The listing's own descriptor is closed by then. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
}
