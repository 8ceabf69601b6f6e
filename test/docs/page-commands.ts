// The commands and files of the documentation's pages.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../fixtures/command-line.ts";

const read = (page: string): string => readFileSync(join(ROOT, page), "utf8");

/** The pages that readers type from. */
export const pages = (): string[] =>
  spawnSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" })
    .stdout.split("\n")
    .filter((name) => /^(?:README|CONTRIBUTING|docs\/.*)\.md$/.test(name));

/** The lines of a page's shell blocks that start a program, without comments. */
export const commandsOf = (page: string): string[] =>
  [...read(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
    block!
      .replaceAll(/\\\n\s*/g, " ")
      .split("\n")
      .map((line) => line.replace(/\s+#\s.*$/, "").trim())
      .filter((line) =>
        /^(?:\w+=\S+ )*(?:npx|npm|node|srun|python3|redis-server|mkdir|cp|echo)\b/.test(line),
      ),
  );

/** The files that a page gives: blocks with a name, or whose first line is a comment with one. */
export function filesOf(page: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [, given, body] of read(page).matchAll(/^```\w+(?: file=(\S+))?\n([\s\S]*?)^```$/gm)) {
    const name = given ?? /^(?:\/\/|#) ([\w.-]+\.(?:[cm]?[jt]s|py))\s*\n/.exec(body!)?.[1];
    if (name !== undefined) files[name] = body!;
  }
  return files;
}
