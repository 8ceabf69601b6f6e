import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { loadHashed } from "../lib/hashed-module.ts";
import { fileHash } from "../lib/trust.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-hashed-"));
afterAll(() => rmSync(folder, { recursive: true }));
const USE = { what: "thing", code: "HONE_ERR_CONFIG", hint: "A hint." } as const;

function moduleOf(source: string, name = "") {
  const path = join(folder, "mine.mjs");
  writeFileSync(path, source);
  return { module: `${pathToFileURL(path).href}${name}`, sha256: fileHash(path) };
}

test("the function that a module exports is the one of the file with that hash", async () => {
  const first = moduleOf("export default () => 1; export const two = () => 2;");
  expect((await loadHashed<() => number>(first, USE))()).toBe(1);
  expect((await loadHashed<() => number>({ ...first, module: `${first.module}#two` }, USE))()).toBe(2);
  // the module is cached by hash: after a change of the file the new hash gives the new function, the old hash the old
  // one
  const changed = moduleOf("export default () => 3;");
  expect((await loadHashed<() => number>(changed, USE))()).toBe(3);
  expect((await loadHashed<() => number>(first, USE))()).toBe(1);
  const again = { ...first, module: `${first.module}#two` };
  await expect(loadHashed(again, { ...USE, what: "other" })).rejects.toThrow(
    /^other: .*mine\.mjs has hash [0-9a-f]{64}; the recipe has recorded [0-9a-f]{64}$/,
  );
});

test("a module without the function, and one that is not there, are errors of the use's code", async () => {
  const none = moduleOf("export const one = () => 1; export const n = 5;");
  await expect(loadHashed(none, USE)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringMatching(/^thing: .*exports no function default \(its functions: one\)$/) as string,
  });
  await expect(loadHashed({ ...none, module: "file:///not/here.mjs" }, USE)).rejects.toThrow(
    /^thing: \/not\/here\.mjs cannot be read/,
  );
});
