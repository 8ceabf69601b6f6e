import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";

/**
 * Applies a diff that only adds lines: inserts them after the line before them, which must occur exactly once in the
 * text.
 */
export function patched(text: string, diff: string): string {
  let result = `\n${text}`;
  for (const [, anchor, added] of diff.matchAll(/^ (.*)\n((?:\+.*\n)+)/gm)) {
    expect(result.split(`\n${anchor}\n`), anchor).toHaveLength(2);
    const lines = added!.replaceAll(/^\+/gm, "");
    result = result.replace(`\n${anchor}\n`, () => `\n${anchor}\n${lines}`);
  }
  return result.slice(1);
}

/** Applies the code blocks of a page to a copy of the files and returns the files' names. */
export function applyPage(page: string, root: string, folder: string): string[] {
  const blocks = [...page.matchAll(/```(ts|diff) file=(\S+)\n([\s\S]*?)```/g)];
  for (const [, kind, name, code] of blocks) {
    const file = join(folder, name!);
    mkdirSync(dirname(file), { recursive: true });
    if (kind === "diff") cpSync(join(root, name!), file);
    writeFileSync(file, kind === "diff" ? patched(readFileSync(file, "utf8"), code!) : code!);
  }
  return blocks.map(([, , name]) => name!);
}
