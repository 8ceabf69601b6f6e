import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isSocketHere, nameOf, unixPath } from "../../../lib/streams/socket/address.ts";

/** A process that is killed while it listens, so that its socket file remains. */
const LEAVES_SOCKET =
  "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 9))";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-address-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("an address is a path, absolute or of the working folder", () => {
  expect(unixPath("unix:/run/a.sock")).toBe("/run/a.sock");
  expect(unixPath("unix:///run/a.sock")).toBe("/run/a.sock");
  expect(unixPath("unix:runs/a.sock")).toBe(join(process.cwd(), "runs/a.sock"));
  for (const other of ["memory:", "redis://x", "redis+unix:///x", "sqlite:x", "/run/a.sock"])
    expect(unixPath(other)).toBeUndefined();
});

test.each(["unix:", "unix:/run/", `unix:/run/${"x".repeat(51)}`, "unix:/run/a\0b"])(
  "%j names no socket",
  (url) => {
    expect(() => unixPath(url)).toThrow(
      expect.objectContaining({
        code: "HONE_ERR_USAGE",
        message: expect.stringContaining("names no socket"),
      }),
    );
  },
);

test("a path longer than a socket's may be is reached all the same", async () => {
  const folder = join(dir, "x".repeat(100), "y".repeat(100));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "a.sock");
  const server = createServer();
  {
    using at = nameOf(path);
    expect(Buffer.byteLength(at.name)).toBeLessThan(108);
    await new Promise<void>((done) => server.listen(at.name, done));
    expect(isSocketHere(path)).toBe(true);
    await new Promise((done) => server.close(done));
  }
  expect(() => nameOf(join(folder, "missing", "a.sock"))).toThrow(
    expect.objectContaining({ code: "HONE_ERR_IO" }),
  );
});

test("what is no socket, or another user's, is refused", async () => {
  const file = join(dir, "file");
  writeFileSync(file, "mine");
  expect(() => isSocketHere(file)).toThrow(`${file} is not a socket`);
  expect(isSocketHere(join(dir, "nothing"))).toBe(false);
  const path = join(dir, "own.sock");
  spawnSync(process.execPath, ["-e", LEAVES_SOCKET, path]);
  expect(statSync(path).isSocket()).toBe(true);
  expect(isSocketHere(path)).toBe(true);
  const own = statSync(path).uid;
  vi.spyOn(process, "getuid").mockReturnValue(own + 1);
  expect(() => isSocketHere(path)).toThrow(`is a socket of user ${own}, not of ${own + 1}`);
  vi.spyOn(process, "getuid").mockReturnValue(0);
  expect(isSocketHere(path)).toBe(true);
  vi.restoreAllMocks();
});
