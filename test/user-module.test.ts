import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  exportNameFault,
  exportPlace,
  importUserModule,
  isForeignUrl,
  isModulePlace,
  moduleUrl,
  sourceUrl,
} from "../lib/user-module.ts";
import { scriptOn } from "./fixtures/child-program.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-module-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const write = (name: string, source: string) => {
  writeFileSync(join(dir, name), source);
  return pathToFileURL(join(dir, name)).href;
};

const USE = { what: "the thing", code: "HONE_ERR_DATA", hint: "Mend it." } as const;
const refused = (message: RegExp) => ({
  code: "HONE_ERR_DATA",
  message: expect.stringMatching(message),
  hint: "Mend it.",
});

test("a module in TypeScript or JavaScript is imported, and what it imports", async () => {
  write("other.ts", "export const one: number = 1;");
  const typed = write("typed.mts", 'import { one } from "./other.ts"; export const two: number = one + 1;');
  expect(await importUserModule(typed, USE)).toMatchObject({ two: 2 });
  expect(await importUserModule(write("plain.mjs", "export default 3;"), USE)).toMatchObject({ default: 3 });
});

test("TypeScript that Node would not run itself is imported too", async () => {
  const source =
    'import { one } from "./another"; enum Size { Two = 2 } export const three = one + Size.Two;';
  write("another.ts", "export const one: number = 1;");
  expect(await importUserModule(write("enum.ts", source), USE)).toMatchObject({ three: 3 });
});

test.each(["js", "ts"])(
  "a module beside a package.json that says commonjs is one all the same: .%s",
  async (ending) => {
    mkdirSync(join(dir, "made"), { recursive: true });
    write("made/package.json", '{ "type": "commonjs" }'); // as npm init writes it
    write("made/two.mjs", "export const two = 2;");
    const three = write(
      `made/rows.${ending}`,
      'import { two } from "./two.mjs"; export const three = two + 1;',
    );
    const { node, url } = await scriptOn("user-module.ts"); // a child process: here vitest would load it, not Node
    const script = `import(${JSON.stringify(url)})
      .then(({ importUserModule }) => importUserModule(${JSON.stringify(three)}, ${JSON.stringify(USE)}))
      .then(({ three }) => console.log(three), (error) => console.log(error.message));`;
    expect(spawnSync(process.execPath, [...node, "-e", script], { encoding: "utf8" }).stdout).toBe("3\n");
  },
);

test("what cannot be imported is a typed error that names use, path and cause, and runs once", async () => {
  const runs = "globalThis.runs = (globalThis.runs ?? 0) + 1;";
  const throws = importUserModule(write("throws.ts", `${runs} throw new RangeError("no");`), USE);
  await expect(throws).rejects.toMatchObject({
    ...refused(/^the thing: \/.*throws\.ts cannot be imported: RangeError: no$/),
    cause: expect.objectContaining({ message: "no" }),
  });
  expect(globalThis).toMatchObject({ runs: 1 });
  const parses = importUserModule(write("parses.mjs", `${runs} JSON.parse("{");`), USE);
  await expect(parses).rejects.toMatchObject(refused(/parses\.mjs cannot be imported: SyntaxError: /));
  expect(globalThis).toMatchObject({ runs: 2 });
  const none = importUserModule(pathToFileURL(join(dir, "none.mjs")).href, USE);
  await expect(none).rejects.toMatchObject(
    refused(/^the thing: \/.*none\.mjs cannot be imported: the file does not exist$/),
  );
  const nowhere = importUserModule("file:///srv/%zz.ts", USE);
  await expect(nowhere).rejects.toMatchObject(refused(/^the thing: file:.*%zz\.ts is not a file URL: /));
});

test("the export's name is what follows #, unescaped", () => {
  const url = "file:///srv/a%20b.ts";
  expect(exportPlace(url, USE)).toEqual({ url });
  expect(exportPlace(`${url}#`, USE)).toEqual({ url });
  expect(exportPlace(`${url}#two%20words`, USE)).toEqual({ url, name: "two words" });
  expect(() => exportPlace(`${url}#%zz`, USE)).toThrow(
    "the thing: /srv/a b.ts: the name #%zz has a % that is not part of a %XX escape",
  );
  expect(exportNameFault(`${url}#two%20words`)).toBeUndefined();
  expect(exportNameFault("./100%.ts")).toBeUndefined(); // a % in the path is not an escape
  expect(exportNameFault(`${url}#%zz`)).toMatch(/#%zz has a % that is not part of a %XX escape; write %25/);
});

test.each([
  "data:text/javascript,globalThis.ran=1",
  "DATA:text/javascript,globalThis.ran=1",
  "http://127.0.0.1:1/a.mjs",
  "blob:nodedata:1",
  "node:fs",
  "lodash",
])("%s is no file, and is not imported", async (url) => {
  await expect(importUserModule(url, USE)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining("is not a file; only files are imported"),
    hint: expect.stringContaining("./mine.ts"),
  });
  expect(globalThis).not.toHaveProperty("ran");
});

test("a module's place is a path or a file URL; # names an export but in a source", () => {
  expect(["./a.ts", "../a.ts", "/a.ts", "file:///a.ts"].map(isModulePlace)).toEqual([true, true, true, true]);
  expect(["procedural/math", "orz", "data:,", "http://a/b.mjs"].some(isModulePlace)).toBe(false);
  expect(["data:,", " DATA:,", "https://a/b.mjs", "node:fs"].every(isForeignUrl)).toBe(true);
  expect(["orz:/data", "taco:data:1.parquet", "./data:1.mjs"].some(isForeignUrl)).toBe(false);
  expect(moduleUrl("/srv/a.ts#name")).toBe("file:///srv/a.ts#name");
  expect(sourceUrl("/srv/a#b.ts")).toBe("file:///srv/a%23b.ts");
});
