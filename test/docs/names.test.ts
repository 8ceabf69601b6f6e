import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { DATASETS } from "../../lib/domains/datasets.ts";

// Deliberate faults (mutants) that these tests detect: a path does not exist, a class is renamed, a file name has no
// folder.

const ROOT = join(import.meta.dirname, "../..");
const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const pages = files.filter((file) => /^(?:docs\/.+\.md|README\.md)$/.test(file));

/** Names that the text made up, or that belong to others: Node, the kernel, Python, CMake's targets. */
const NOT_OURS = new Set([
  "PascalCase",
  "snake_case",
  "trailing_",
  "kPascal",
  "camelCase",
  "arena_bytes", // an example in docs/architecture.md
  "NODE_USE_ENV_PROXY",
  "process_vm_",
  "pidfd_",
  "io_uring",
  "run_delay",
  "__eq__",
  "UndefinedBehaviorSanitizer",
  "english_",
  "contract_cuda",
  "cuda_packs",
  "lm_head_sm90", // parts of names
]);

const names = new Set<string>();
for (const file of files) {
  if (!/\.(?:ts|mjs|cc|h|cu|cuh|inc|json|txt|sh|py|gyp)$|^\.ci\/run$/.test(file)) continue;
  if (/^test\/docs\/|package-lock|bench\/results|fixtures/.test(file)) continue;
  for (const name of read(file).match(/[A-Za-z_]\w*/g) ?? []) names.add(name);
}
const known = new Set([...files.map((file) => basename(file)), ...names]);

/** The code of a page's examples. */
const examplesOf = (page: string) =>
  [...read(page).matchAll(/^```\w[^\n]*\n[\s\S]*?^```$/gm)].map(([block]) => block).join("\n");

/**
 * The page's text without the names of other libraries: without first cells, and without the section "What Hone lacks"
 * of the pages on other trainers.
 */
const ownText = (page: string) =>
  /from-(?:trl|verl)\.md$/.test(page)
    ? read(page)
        .replaceAll(/^\| [^|]+ \|/gm, "|")
        .replace(/^## What Hone lacks[\s\S]*/m, "")
    : read(page);

/** Text in backticks and in diagrams, which are fenced blocks without a language. */
function codeOf(page: string): string[] {
  const text = ownText(page);
  const fenced = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
  const diagrams = fenced.filter(([, language]) => language === "").map((m) => m[2]!);
  const spans = text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g);
  return [...[...spans].map((m) => m[1]!), ...diagrams];
}

/** Matches camelCase, PascalCase of at least two words, and snake_case. */
const NAME = /(?<![\w./-])[A-Za-z_]\w*(?![\w/-]|\.\w)/g;
const isName = (word: string) => /[a-z][A-Z]|[A-Za-z]_[A-Za-z]|^_|_$/.test(word);
const isTarget = (word: string) =>
  /^(?:bench|test)_/.test(word) && files.some((f) => f.replaceAll(/[/.]/g, "_").includes(word.slice(6)));

describe.each(pages)("%s", (page) => {
  test("every path it names is there", () => {
    const found = codeOf(page).flatMap((code) => [
      ...code.matchAll(/(?<![\w/.~-])(?:csrc|lib|test|docs|bench|scripts|recipes)\/[\w./-]*[\w/]/g),
    ]);
    const whole = found.filter(
      ({ 0: path, input, index }) => !/[<*{…]/.test(input[index + path.length] ?? ""),
    );
    const missing = whole.map(([path]) => path).filter((path) => !existsSync(join(ROOT, path)));
    expect([...new Set(missing)].filter((path) => !examplesOf(page).includes(path))).toEqual([]);
  });

  test("every file it names without a folder is somewhere", () => {
    const found = codeOf(page).flatMap(
      (code) => code.match(/(?<![\w./*>-])[a-z][\w-]+\.(?:ts|cc|h|cu|mjs|inc)(?![\w/])/g) ?? [],
    );
    const missing = found.filter((file) => !known.has(file) && !examplesOf(page).includes(file));
    expect([...new Set(missing)]).toEqual([]);
  });

  test("every name in code is one of the tree's", () => {
    const found = codeOf(page).flatMap((code) => code.match(NAME) ?? []);
    const strange = found.filter((n) => isName(n) && !known.has(n) && !NOT_OURS.has(n) && !isTarget(n));
    expect([...new Set(strange)].filter((name) => !examplesOf(page).includes(name))).toEqual([]);
  });
});

test.each(pages)("%s has a title and text", (page) => {
  const text = read(page);
  expect(text).toMatch(/^# \S/m);
  expect(text.length).toBeGreaterThan(1000);
});

test("docs/reference/data.md names every kind of data set", () => {
  const text = read("docs/reference/data.md");
  expect(Object.keys(DATASETS).filter((kind) => !new RegExp(`[\`"]${kind}[\`"]`).test(text))).toEqual([]);
});
