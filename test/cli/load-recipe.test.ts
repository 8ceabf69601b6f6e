import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadEntry, loadRecipe } from "../../lib/cli/load-recipe.ts";
import { recipeInput } from "../../lib/config/index.ts";
import { ConfigError } from "../../lib/errors.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-recipes-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}
const PLAIN = JSON.stringify(recipeInput(smallRecipe()));

test("TypeScript is loaded as it is, and hone in it is this package", async () => {
  const path = file(
    "a.ts",
    `import { defineRecipe, type RecipeInput } from "hone-rl";
    const input: RecipeInput = ${PLAIN};
    export default defineRecipe(input);`,
  );
  expect(await loadRecipe(path)).toEqual(smallRecipe());
});

test.each([
  ["a second import", 'import { CounterRandom } from "hone-rl";'],
  ["one at its time", 'const { CounterRandom } = await import("hone-rl");'],
])("a recipe that asks for more than its definition gets it: %s", async (name, asks) => {
  const text = `import { defineRecipe } from "hone-rl";
${asks}
export default defineRecipe({ ...${PLAIN}, seed: new CounterRandom(1).int(5, 5) });`;
  expect((await loadRecipe(file(`more-${name.length}.ts`, text))).seed).toBe(5);
});

test("what a TypeScript recipe throws is this package's own error, not a copy's", async () => {
  const path = file("t.ts", 'import { defineRecipe } from "hone-rl";\ndefineRecipe({ name: 3 } as never);');
  await expect(loadRecipe(path)).rejects.toBeInstanceOf(ConfigError);
});

test("a plain object is checked like any recipe, and overrides apply", async () => {
  const path = file("b.mjs", `export default ${PLAIN};`);
  expect((await loadRecipe(path, ["training.steps=9"])).training.steps).toBe(9);
});

test("the quick start's recipe can be loaded without starting it", async () => {
  expect(await loadRecipe(join(import.meta.dirname, "../../recipes/quickstart.ts"))).toMatchObject({
    name: "quickstart",
    lengthPenalty: { kind: "dap", bufferTokens: 64 },
  });
});

test.each([
  ["nothing there", "missing.ts", undefined, /there is no recipe at/],
  ["no default export", "c.mjs", "export const recipe = 1;", /no recipe as its default export/],
  ["not a recipe", "d.mjs", "export default { name: 3 };", /d.mjs: \d+ problem/],
  ["no script", "e.yaml", "name: x", /e.yaml is no script/],
  ["TypeScript that does not parse", "g.ts", "export default {\n  name: 3,\n", /g.ts, line 3: Unexpected/],
  ["an import of nothing", "h.mjs", "import './none.mjs'; export default {};", /h.mjs cannot be .*none.mjs/],
  ["an import of no package", "i.cjs", "require('no-such')", /i.cjs cannot be loaded: .*no-such/],
])("%s is a usage error", async (_, name, text, message) => {
  const path = text === undefined ? join(dir, name) : file(name, text);
  await expect(loadRecipe(path)).rejects.toMatchObject({
    code: expect.stringMatching(/^HONE_ERR_(USAGE|CONFIG)$/) as string,
    message: expect.stringMatching(message) as string,
  });
});

test("a folder is no recipe", async () => {
  await expect(loadRecipe(dir)).rejects.toThrow("is a folder");
});

test("what the file's own code throws passes through, a SyntaxError of JSON.parse too", async () => {
  const path = file("k.mjs", "export default JSON.parse('{');");
  const error = await loadRecipe(path).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SyntaxError);
  expect((error as Error).stack).toContain("k.mjs:1");
});

test("sinks that a file exports beside its recipe come with it; what is none is refused", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-entry-"));
  const recipe = JSON.stringify(recipeInput(smallRecipe()));
  const write = (sinks: string) => {
    const file = join(dir, `entry-${Math.random()}.mjs`);
    writeFileSync(file, `export default ${recipe};\n${sinks}`);
    return file;
  };
  expect((await loadEntry(write(""))).sinks).toEqual([]);
  const both = "export const sinks = [{ name: 'a', send() {} }, { name: 'b', write() {}, close() {} }];";
  expect((await loadEntry(write(both))).sinks.map(({ name }) => name)).toEqual(["a", "b"]);
  for (const wrong of ["[{ name: 'a' }]", "[{ send() {} }]", "{}", "[{ name: 'a', send: 1 }]", "[null]"])
    await expect(loadEntry(write(`export const sinks = ${wrong};`))).rejects.toThrow(/is no list of sinks/);
  rmSync(dir, { recursive: true });
});

test("where a recipe of the package is meant, and is not here, its place is said", async () => {
  const here = (name: string) => loadRecipe(join(tmpdir(), "recipes", name));
  await expect(here("quickstart.ts")).rejects.toMatchObject({
    hint: "This package has one of that name: recipes/quickstart.ts",
  });
  await expect(here("missing.ts")).rejects.toMatchObject({ hint: "Those of this package are in recipes." });
});
