import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { openProblemSource } from "../../lib/domains/index.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-source-"));
afterAll(() => rmSync(folder, { recursive: true }));

function module(name: string, code: string): string {
  const path = join(folder, name);
  writeFileSync(path, code);
  return path;
}

test("a TypeScript module is opened by path and by URL, with seed and ordinal", async () => {
  const path = module(
    "mine.ts",
    'export const openSource = (o: { seed: number; ordinal: number }) => ({ domain: ["d", o.seed, o.ordinal].join("-") });',
  );
  for (const name of [path, pathToFileURL(path).href]) {
    expect(await openProblemSource(name, { seed: 5, ordinal: 2 })).toEqual({ domain: "d-5-2" });
  }
});

test.each([
  ["not there", () => join(folder, "absent.ts"), /^problem source: .*absent\.ts cannot be imported: /],
  [
    "at no file's URL",
    () => "file:///srv/%zz.ts",
    /^problem source: file:\/\/\/srv\/%zz\.ts is not a file URL: /,
  ],
  ["broken", () => module("broken.ts", "export const = 1"), /broken\.ts cannot be imported: /],
  ["without openSource", () => module("empty.ts", "export const x = 1;"), /exports no openSource/],
])("a module that is %s is a data error that names it", async (_, path, message) => {
  await expect(openProblemSource(path(), { seed: 0, ordinal: 0 })).rejects.toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) }),
  );
});
