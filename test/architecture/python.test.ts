// Only lib/python/ implements Python's rules, and only lib/sandbox/ runs Python. Five checks test this.
import { expect, test } from "vitest";
import { filesUnder, read, tsImports } from "./source-tree.ts";

const files = filesUnder("lib", [".ts"]).filter((file) => !/^lib\/(?:python|sandbox)\//.test(file));
const codeOf = (file: string) => read(file).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, "");

function found(pattern: RegExp, exempt: Readonly<Record<string, string>> = {}, of = codeOf): string[] {
  const isExempt = (file: string) => Object.keys(exempt).some((start) => file.startsWith(start));
  return files
    .filter((file) => !isExempt(file))
    .flatMap((file) => (of(file).match(pattern) ?? []).map((hit) => `${file}: ${hit.trim()}`));
}

test("its grammar and its interpreter are imported nowhere else", () => {
  const imports = files.flatMap((file) => tsImports(file).packages.map((name) => `${file}: ${name}`));
  expect(imports.filter((one) => /@lezer\/python|pyodide/.test(one))).toEqual([]);
  expect(found(/["'`]python3?["'`]\s*,\s*\[/g)).toEqual([]);
});

test("its constants are spelled and read nowhere else", () => {
  const exempt = {
    "lib/text/jinja/": "templates have these constants in their own grammar, and errors in Python's words",
    "lib/domains/logic/games/boolean-expressions/draw.ts": "words of a puzzle's question",
    "lib/domains/instruction-following/read/if-rlvr.ts": "a sample row, as it is published",
    "lib/shared/models/tool-call-forms.ts":
      "writes calls in the forms of models that call in Python; shared files import nothing",
    "lib/launch/jobset-file.ts": "the state of a pod's condition, as Kubernetes spells it",
  };
  expect(found(/["'`|(\s[](?:True|False|None)\b["'`|)\],].*/g, exempt)).toEqual([]);
  const spelled = files.filter(
    (file) => file.startsWith("lib/text/jinja/") && /\? "True"/.test(codeOf(file)),
  );
  expect(spelled).toEqual([]);
});

test("what is white space or the end of a line to it stands in one table", () => {
  expect(found(/\\x1[cde]|\\x85|\\u001[cde]|\\u0085/gi)).toEqual([]);
});

test("nobody else has a source of knowledge that is its documentation", () => {
  const comments = (file: string) =>
    read(file)
      .match(/\/\*[\s\S]*?\*\//g)
      ?.join("\n") ?? "";
  expect(
    found(/Source:[^/]*?(?:The Python Standard|Python (?:language|3)|CPython|docs\.python)/g, {}, comments),
  ).toEqual([]);
});

test("numbers and strings by its rules are read nowhere else", () => {
  const reading =
    /\(\?:_\\d\+\)\*|\[rRbBuUfF\]|["'`](?:ast\.)?literal_eval|function (?:repr|unrepr)\w*|\\p\{Nd\}\\P/g;
  expect(
    found(reading, {
      "lib/text/jinja/values.ts": "repr() of a template's values, each spelled by lib/python",
    }),
  ).toEqual([]);
});
