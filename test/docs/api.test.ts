// Compares the API page with the source. Deliberate faults (mutants) that these tests detect: an export's comment is
// missing, a comment changes, a type re-exported under another name has no comment.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { API_PAGE, readApi } from "../../scripts/api-page.mjs";
import { long } from "../long.ts";

const root = join(import.meta.dirname, "../..");

test.runIf(long)(
  "every export of the package has a comment, and the page is what they say (node scripts/api-page.mjs)",
  () => {
    const { page, undocumented } = readApi();
    expect(undocumented).toEqual([]);
    expect(readFileSync(API_PAGE, "utf8")).toBe(page);
    expect(page.match(/^### hone-rl: /gm)!.length).toBeGreaterThan(100);
    for (const name of [
      "hone-rl: defineRecipe",
      "hone-rl/verifiers: runPython",
      "hone-rl/chat-template: ChatTemplate",
    ])
      expect(page).toContain(`### ${name}\n`);
  },
  60_000,
);

test("an export without a comment is named, with its file; its bodies and private parts are not shown", () => {
  const folder = mkdtempSync(join(root, "build", "api-"));
  try {
    const shown =
      "/** Adds. */\nexport const add = (a: number, b: number): number => a + b;\nexport type { Bare as Renamed };\n";
    const bare =
      "interface Bare { readonly a: string }\n/** Counts. */\nexport class Counter { #n = 0; next() { return this.#n++; } }\n";
    writeFileSync(join(folder, "entry.ts"), shown + bare);
    const { page, undocumented } = readApi([["mine", relative(root, join(folder, "entry.ts"))]]);
    expect(undocumented).toEqual([`Renamed (${relative(root, folder)}/entry.ts)`]);
    expect(page).toContain("### mine: Renamed, declared as Bare\n");
    expect(page).toContain("/** Adds. */\nexport declare const add: (a: number, b: number) => number;");
    expect(page).toContain("/** Counts. */\nexport declare class Counter {\n    next(): number;\n}");
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);
