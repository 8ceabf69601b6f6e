import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importUserModule } from "../lib/user-module.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-module-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const write = (name: string, source: string) => {
  writeFileSync(join(dir, name), source);
  return pathToFileURL(join(dir, name)).href;
};

test("a module in TypeScript or JavaScript is imported, and what it imports", async () => {
  write("other.ts", "export const one: number = 1;");
  const typed = write("typed.mts", 'import { one } from "./other.ts"; export const two: number = one + 1;');
  expect(await importUserModule(typed)).toMatchObject({ two: 2 });
  expect(await importUserModule(write("plain.mjs", "export default 3;"))).toMatchObject({ default: 3 });
});

test("what it throws passes through", async () => {
  await expect(importUserModule(write("throws.ts", 'throw new RangeError("no");'))).rejects.toThrow("no");
  await expect(importUserModule(pathToFileURL(join(dir, "none.mjs")).href)).rejects.toThrow(/none\.mjs/);
});
