// Tests which process may continue a partial file, and what becomes of the file.
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isBeingDownloaded, PartialFile } from "../../lib/inference/partial-file.ts";

const digest = {
  algorithm: "sha256",
  hex: createHash("sha256").update("hello world").digest("hex"),
} as const;
/** Larger than any process id on Linux. */
const NOBODY = 2 ** 22 + 1;
const HERE = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

let dir: string;
let target: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-partial-"));
  target = join(dir, "blob");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = () => PartialFile.open(target, 11, digest);

test("what is appended becomes the file when its checksum is right", async () => {
  const partial = await open();
  await partial.append(Buffer.from("hello "));
  expect([partial.position, partial.complete]).toEqual([6, false]);
  await partial.append(Buffer.from("world"));
  expect(partial.complete).toBe(true);
  expect(await partial.commit()).toBe(true);
  await partial.close();
  expect(readdirSync(dir)).toEqual(["blob"]);
  expect(readFileSync(target, "utf8")).toBe("hello world");
});

test("a wrong checksum empties it", async () => {
  const partial = await open();
  await partial.append(Buffer.from("hello worle"));
  expect(await partial.commit()).toBe(false);
  expect(partial.position).toBe(0);
  await partial.append(Buffer.from("hello world"));
  expect(await partial.commit()).toBe(true);
  await partial.close();
  expect(readFileSync(target, "utf8")).toBe("hello world");
});

test("git's checksum covers git's header", async () => {
  // printf 'hello world' | git hash-object --stdin
  const hex = "95d09f2b10159347eece71399a7e2e907ea3df4f";
  const partial = await PartialFile.open(target, 11, { algorithm: "git-sha1", hex });
  await partial.append(Buffer.from("hello world"));
  expect(await partial.commit()).toBe(true);
  await partial.close();
});

test("more bytes than the file has are refused", async () => {
  const partial = await open();
  await expect(partial.append(Buffer.alloc(12))).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
  await partial.close();
  expect(readdirSync(dir)).toEqual([]);
});

test("given back, it is gone on with; the longest one first", async () => {
  const first = await open();
  await first.append(Buffer.from("hel"));
  await first.close();
  writeFileSync(`${target}.${HERE}-${NOBODY}-1.partial`, "hello w");
  const second = await open();
  expect(second.position).toBe(7);
  await second.append(Buffer.from("orld"));
  expect(await second.commit()).toBe(true);
  await second.close();
});

test("of one that is silent for long and goes on after all, another has a copy: each writes its own", async () => {
  const silent = await open();
  await silent.append(Buffer.from("hello"));
  const longAgo = Date.now() / 1000 - 61;
  utimesSync(join(dir, readdirSync(dir)[0]!), longAgo, longAgo);
  const other = await open();
  expect(other.position).toBe(5);
  await silent.append(Buffer.from(" w"));
  await other.append(Buffer.from(" world"));
  expect(await other.commit()).toBe(true);
  await other.close();
  await silent.append(Buffer.from("orld"));
  expect(await silent.commit()).toBe(true);
  await silent.close();
  expect(readFileSync(target, "utf8")).toBe("hello world");
  expect(readdirSync(dir)).toEqual(["blob"]);
});

test("what is taken over from one that is gone counts as alive while it is read", async () => {
  const gone = `${target}.${HERE}-4194305-1.partial`; // larger than any process id on Linux
  writeFileSync(gone, "hello");
  const longAgo = Date.now() / 1000 - 61;
  utimesSync(gone, longAgo, longAgo);
  const heir = await open();
  expect(await isBeingDownloaded(target)).toBe(true);
  await heir.close();
});

test("one that is silent beyond the end of another's has nothing to finish, and leaves nothing", async () => {
  const silent = await open();
  await silent.append(Buffer.from("hello"));
  const stopped = join(dir, readdirSync(dir)[0]!);
  const longAgo = Date.now() / 1000 - 61;
  utimesSync(stopped, longAgo, longAgo);
  const other = await open();
  await other.append(Buffer.from(" world"));
  expect(await other.commit()).toBe(true);
  await other.close();
  expect(existsSync(stopped)).toBe(false);
  await silent.append(Buffer.from(" world"));
  expect(await silent.commit()).toBe(true);
  await silent.close();
  expect(readdirSync(dir)).toEqual(["blob"]);
});

test("longer than the file can be, it is begun anew", async () => {
  writeFileSync(`${target}.partial`, "hello world!");
  const partial = await open();
  expect(partial.position).toBe(0);
  await partial.close();
});

test("of two that began together, one goes first; of two with bytes, the one that has them", async () => {
  const first = await open();
  const second = await open();
  expect([await first.isSecond(), await second.isSecond()]).toEqual([false, true]);
  await second.append(Buffer.from("h"));
  expect([await first.isSecond(), await second.isSecond()]).toEqual([true, true]);
  await second.close();
  expect(await first.isSecond()).toBe(false);
  await first.close();
});

describe("a part belongs", () => {
  test("to the process that writes it, while that lives and writes", async () => {
    const partial = await open();
    expect(await isBeingDownloaded(target)).toBe(true);
    const other = await open();
    await other.close();
    const [name] = readdirSync(dir);
    const longAgo = Date.now() / 1000 - 61;
    utimesSync(join(dir, name!), longAgo, longAgo);
    expect(await isBeingDownloaded(target)).toBe(false);
    await partial.close();
    expect(await isBeingDownloaded(target)).toBe(false);
  });

  test.each([
    ["a process that is gone", `${HERE}-${NOBODY}-1`, false],
    ["another user's process", `${HERE}-1-1`, true],
    ["another machine on a shared disk", `00000000-${NOBODY}-1`, true],
    ["something else of that name", "hone", false],
  ])("to %s", async (_, owner, expected) => {
    writeFileSync(`${target}.${owner}.partial`, "hello");
    expect(await isBeingDownloaded(target)).toBe(expected);
  });

  test("and another blob's part is none of this one's", async () => {
    writeFileSync(`${target}2.${HERE}-1-1.partial`, "hello");
    expect(await isBeingDownloaded(target)).toBe(false);
    const partial = await open();
    expect(partial.position).toBe(0);
    await partial.close();
  });
});

test("a folder that is not there is named", async () => {
  await expect(PartialFile.open(join(dir, "no", "blob"), 1, digest)).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringContaining(join(dir, "no")),
  });
});
