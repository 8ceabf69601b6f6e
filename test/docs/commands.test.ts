import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { program } from "../../lib/cli/program.ts";
// @ts-expect-error a script, not a module with types
import { commandsPage, EXAMPLES, leaves } from "../../scripts/commands-page.mjs";

// Deliberate faults (mutants) that these tests detect: an option described otherwise, a verb without its example, an
// example with an unknown option; in pages, a renamed option, a script that package.json does not have.

const root = join(import.meta.dirname, "../..");
const all = leaves(program()) as { words: string; command: Command }[];
const page = readFileSync(join(import.meta.dirname, "../../docs/reference/commands.md"), "utf8");

test("the page is what the command tree gives (node scripts/commands-page.mjs writes it)", () => {
  expect(page).toBe(commandsPage(program()));
});

test("the command that the page names agrees", () => {
  const { status, stderr } = spawnSync("node", ["scripts/commands-page.mjs", "--check"], {
    cwd: join(import.meta.dirname, "../.."),
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
});

test("every verb that help lists, and every option of it, is on the page", () => {
  const help = program().helpInformation();
  const verbs = [...help.matchAll(/^ {2}([a-z]+)(?= |$)/gm)]
    .map(([, verb]) => verb!)
    .filter((verb) => verb !== "help");
  expect(verbs.length).toBeGreaterThan(30);
  expect(verbs.filter((verb) => !new RegExp(`^## hone ${verb}\\b`, "m").test(page))).toEqual([]);
  for (const { words, command } of all) {
    const [, own] = page.split(`\n## hone ${words}\n`);
    const until = own!.split("\n## ")[0]!;
    for (const { long } of command.options.filter(({ hidden }) => !hidden))
      expect(until, words).toContain(`\`${long}`);
  }
});

/** Which verb the words after `hone` call; throws where the command refuses them. */
async function calledBy(parts: readonly string[]): Promise<string[]> {
  const tree = program();
  const called: string[] = [];
  for (const { words, command } of leaves(tree) as { words: string; command: Command }[])
    command.action(() => void called.push(words)).exitOverride();
  for (const command of tree.commands) command.exitOverride();
  await tree.exitOverride().parseAsync([...parts], { from: "user" });
  return called;
}

/** The words of a shell's command up to a comment, a pipe or a redirection. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, single, double, plain] of line.matchAll(
    /'([^']*)'|"([^"]*)"|((?:[^\s'"]|(?<==)["'][^"']*["'])+)/g,
  )) {
    if (plain !== undefined && /^(?:#|\||&|;|\d?>)/.test(plain)) break;
    words.push(single ?? double ?? plain!);
  }
  return words;
}

test.each(all)("the example of hone $words is a command that is accepted", async ({ words }) => {
  const [hone, ...parts] = wordsOf((EXAMPLES as Record<string, string>)[words]!);
  expect(hone).toBe("hone");
  expect(await calledBy(parts)).toEqual([words]);
});

/** Lines of a page's shell blocks. */
const typedIn = (page: string): string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
    block!.replaceAll("\\\n", " ").split("\n"),
  );

/** Commands in the text of a page, which may leave out what does not matter there. */
const mentionedIn = (page: string): string[] => {
  const prose = readFileSync(join(root, page), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/`(?:npx )?hone ([a-z][^`\n]*)`/g)].map(([, command]) => command!);
};

const tracked = spawnSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).stdout.split("\n");
const pages = tracked.filter((name) => /^(?:README|CONTRIBUTING|docs\/.*)\.md$/.test(name));

test.each(pages)("commands of %s are accepted by hone, or are scripts that are there", async (name) => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const line of typedIn(name)) {
    const words = wordsOf(line);
    const at = words.findIndex((word, i) => word === "hone" && words[i - 1] === "npx");
    const [, , script] = /^(?:\w+=\S+ )*npm (run )?([\w:-]+)/.exec(line) ?? [];
    if (at >= 0) await expect(calledBy(words.slice(at + 1)), line).resolves.toHaveLength(1);
    else if (/^(?:\w+=\S+ )*npm run /.test(line)) expect(Object.keys(scripts), line).toContain(script);
    else if (words[0] === "node" && /^(?:scripts|bench)\//.test(words[1]!))
      expect(existsSync(join(root, words[1]!)), line).toBe(true);
  }
});

test.each(pages)("commands in the text of %s have verbs and options that are there", (name) => {
  for (const line of mentionedIn(name)) {
    const known = all.filter(({ words }) => line.startsWith(words.split(" ")[0]!));
    expect(known, line).not.toEqual([]);
    const options = new Set(known.flatMap(({ command }) => command.options.map(({ long }) => long)));
    for (const [option] of line.matchAll(/(?<![\w-])--[a-z][\w-]*/g))
      if (option !== "--help") expect([...options], line).toContain(option);
  }
});
