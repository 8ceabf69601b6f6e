import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

// Deliberate faults (mutants) that these tests detect: no index row names a page, a source names a page by its old
// path, a heading is renamed.

const ROOT = join(import.meta.dirname, "../..");
const tracked = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
const files = tracked.filter((file) => existsSync(join(ROOT, file)));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const pages = files.filter((file) => file.endsWith(".md"));

/** The ids of a page's headings, as GitHub makes them. */
const headings = (page: string) =>
  read(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .match(/^#+ .*$/gm)!
    .map((line) => line.replace(/^#+ /, "").toLowerCase())
    .map((line) => line.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"));

test.each(pages)("every link of %s leads to a file and a heading that are there", (page) => {
  const text = read(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const dead: string[] = [];
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target!)) continue;
    const [path, heading] = target!.split("#") as [string, string?];
    const file = path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path));
    if (!existsSync(join(ROOT, file))) dead.push(target!);
    else if (heading !== undefined && !headings(file).includes(heading)) dead.push(target!);
  }
  expect(dead).toEqual([]);
});

test("every page that code, messages and pages name is there", () => {
  const text = files.filter((file) => /\.(?:ts|js|mjs|cc|h|cu|cuh|inc|py|sh|txt|md|json)$/.test(file));
  const dead = text
    .filter((file) => !/^(?:bench\/results\/|test\/docs\/|package-lock)/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md/g)]
        .filter(([path]) => !existsSync(join(ROOT, path)))
        .map(([path]) => `${file}: ${path}`),
    );
  expect(dead).toEqual([]);
});

test("docs/README.md lists every page once", () => {
  const listed = [...read("docs/README.md").matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(
    ([, at]) => `docs/${at}`,
  );
  const all = files.filter((file) => /^docs\/[\w-]+\/.+\.md$/.test(file));
  expect(listed.toSorted()).toEqual(all.toSorted());
});
