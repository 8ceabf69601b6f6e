import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { program } from "../../lib/cli/program.ts";
// @ts-expect-error a script, not a module with types
import { commandsPage, EXAMPLES, leaves } from "../../scripts/commands-page.mjs";

// Mutants tried: an option described otherwise, a verb without its example, an example with an unknown option.

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

test.each(all)("the example of hone $words is a command that is accepted", async ({ words }) => {
  const tree = program();
  const called: string[] = [];
  for (const { words: name, command } of leaves(tree) as { words: string; command: Command }[])
    command.action(() => void called.push(name));
  const typed = (EXAMPLES as Record<string, string>)[words]!;
  const parts = [...typed.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  expect(parts.shift()).toBe("hone");
  await tree.parseAsync(parts, { from: "user" });
  expect(called).toEqual([words]);
});
