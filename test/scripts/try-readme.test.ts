import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { CASE_LINES, differences } from "../../scripts/sandbox-cases.mjs";
// @ts-expect-error a script, not a module with types
import { readSteps } from "../../scripts/try-readme.mjs";

const TEXT = `
\`\`\`ts
// recipe.ts
export default 1;
\`\`\`
<!-- tried -->
\`\`\`sh
npx hone run recipe.ts
\`\`\`
\`\`\`sh
npm test
\`\`\`
\`\`\`ts
const aside = 1;
\`\`\`
`;

test("files by the comment in their first line, and the shell blocks that are marked", () => {
  expect(readSteps(TEXT)).toEqual({
    files: { "recipe.ts": "// recipe.ts\nexport default 1;\n" },
    typed: ["npx hone run recipe.ts"],
  });
});

const { files, typed } = readSteps(readFileSync("README.md", "utf8")) as {
  files: Record<string, string>;
  typed: string[];
};

test("the README has files, and types commands that name each of them, or another file does", () => {
  expect(Object.keys(files)).not.toHaveLength(0);
  for (const name of Object.keys(files)) {
    const others = Object.entries(files).flatMap(([other, text]) => (other === name ? [] : [text]));
    expect([...typed, ...others].join("\n")).toContain(name);
  }
});

test("nothing in its files is too new for Node 20, or needs a package of type module", () => {
  for (const [name, text] of Object.entries(files)) {
    expect(text).not.toMatch(/\bawait using\b/);
    // Only .mjs files and files that `hone` itself loads may use top-level await and import.
    if (!name.endsWith(".mjs")) expect(text).not.toMatch(/^(?:\w+ )*await\b/m);
  }
});

test("every verdict on a program is looked at", () => {
  const count = CASE_LINES.trim().split("\n").length;
  const all = (status: string, verdicts = count) =>
    `npm warn\n${`{"status":"${status}"}\n`.repeat(verdicts)}`;
  expect(count).toBe(20);
  expect(differences(all("correct"))).toHaveLength(14);
  expect(differences(all("wrong"))).toHaveLength(7);
  expect(differences(all("unscored"))).toHaveLength(20);
  expect(differences(all("correct", 19))).toEqual(["19 verdicts for 20 cases"]);
});
