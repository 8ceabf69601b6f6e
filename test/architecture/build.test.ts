// What tsc makes of the sources, where it is known to go wrong.
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { filesUnder, read } from "./source-tree.ts";

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  rewriteRelativeImportExtensions: true,
};
const built = (text: string) => ts.transpileModule(text, { compilerOptions }).outputText;
const KEPT = /\bimport\("\.[^"]*\.ts"\)/;

describe("an import() keeps .ts, which does not exist in dist/, in a function that has `using`", () => {
  test("tsc 6 does so", () => {
    const text = 'export async function f() { using a = g(); await import("./x.ts"); }';
    expect(built(text)).toMatch(KEPT);
    expect(built(text.replace("using", "const"))).not.toMatch(KEPT);
  });

  test("no file has one", () => {
    const suspects = filesUnder("lib", [".ts"]).filter((file) =>
      ["using ", 'import("'].every((word) => read(file).includes(word)),
    );
    expect(suspects.length).toBeGreaterThan(0);
    expect(suspects.filter((file) => KEPT.test(built(read(file))))).toEqual([]);
  });
});
