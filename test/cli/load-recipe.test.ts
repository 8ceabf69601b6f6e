import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { isRecipe, loadEntry, loadRecipe } from "../../lib/cli/load-recipe.ts";
import { recipeInput, recipeJsonSchema } from "../../lib/config/index.ts";
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

const IN_YAML = stringify(recipeInput(smallRecipe()));

test.each([
  ["f.yaml", IN_YAML],
  ["f.yml", IN_YAML],
  ["f.json", PLAIN],
])("YAML and JSON say the same recipe: %s", async (name, text) => {
  const path = file(name, text);
  expect(await loadRecipe(path)).toEqual(smallRecipe());
  expect(recipeInput(await loadRecipe(path))).toEqual(recipeInput(smallRecipe()));
  expect((await loadRecipe(path, ["training.steps=9"])).training.steps).toBe(9);
  expect((await loadEntry(path)).sinks).toEqual([]);
});

test("an override of one of two domains that an anchor gives the same fields leaves the other", async () => {
  const path = file(
    "anchors.yaml",
    IN_YAML.replace(
      /domains:\n(?: .*\n)+/,
      "domains:\n  math: &one { weight: 1, source: procedural/math }\n  logic: { <<: *one, source: procedural/logic }\n  code: { <<: *one, source: procedural/code }\n",
    ),
  );
  const { domains } = await loadRecipe(path, ["domains.math.weight=3"]);
  expect(Object.entries(domains).map(([name, { weight }]) => [name, weight])).toEqual([
    ["math", 3],
    ["logic", 1],
    ["code", 1],
  ]);
});

test("every wrong value of YAML is told with line and column, the rule and the nearest name", async () => {
  const text =
    "name: x\nmodel:\n  config: { width: 8, layers: 0, heads: 2, mlpWidth: 8 }\noptimiser:\n  lr: 1\ndeterministic: yes\n";
  const error: unknown = await loadRecipe(file("wrong.yaml", text)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  const { message } = error as ConfigError;
  expect(message).toContain("model.config.layers, line 3, column 31: is 0; it must be above 0");
  expect(message).toContain(
    "optimiser, line 4, column 1: is not a field of a recipe (did you mean optimizer?)",
  );
  expect(message).toMatch(
    /deterministic, line 6, column 16: is "yes"; expected true or false.*did you mean true/,
  );
  expect(message).toMatch(/domains: is required/);
});

test("modules and Python files are found beside the recipe, data and models there first", async () => {
  mkdirSync(join(dir, "beside"));
  for (const name of ["f.py", "m.ts", "rows.jsonl"]) writeFileSync(join(dir, "beside", name), "");
  const { domains: _, ...rest } = recipeInput(smallRecipe());
  const domains = {
    a: { source: "jsonl:rows.jsonl", reward: { python: "f.py#f" } },
    b: { source: "procedural/math", reward: "./m.ts#f" },
  };
  const recipe = await loadRecipe(file("beside/r.yaml", stringify({ ...rest, domains })));
  const seen = (name: string) => relative("", join(dir, "beside", name));
  const sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; // the hash of an empty file
  expect(recipe.domains).toMatchObject({
    a: { source: `jsonl:${seen("rows.jsonl")}`, reward: { python: `${seen("f.py")}#f`, sha256 } },
    b: { reward: `${seen("m.ts")}#f` },
  });
});

test("the page's recipe in YAML is one", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/reference/recipe.md"), "utf8");
  const [, text] = /```yaml\n([^`]*)```/.exec(page)!;
  const recipe = await loadRecipe(file("page.yaml", text!.replace("rewards.py", "beside/f.py")));
  expect(recipe).toMatchObject({ model: { folder: "Qwen/Qwen3-0.6B" }, training: { steps: 40 } });
});

test("a .json is a recipe where it has domains, and rows otherwise", () => {
  expect(isRecipe(file("r.json", PLAIN))).toBe(true);
  expect(isRecipe(file("rows.json", '[{"question": "x", "domains": 1}]'))).toBe(false);
  expect(isRecipe(file("row.json", '{"question": "\\"domains\\": {"}'))).toBe(false);
  expect(["a.yaml", "b.ts", "c.jsonl", "missing.json", "org/name"].map(isRecipe)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("the schema that editors are given is the one that `hone schema` prints", () => {
  // Made by: npx hone schema > recipes/recipe.schema.json && npx biome format --write recipes/recipe.schema.json
  const shipped = readFileSync(join(import.meta.dirname, "../../recipes/recipe.schema.json"), "utf8");
  expect(JSON.parse(shipped)).toEqual(JSON.parse(JSON.stringify(recipeJsonSchema())));
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
  ["neither a script nor data", "e.toml", "name = 'x'", /e.toml is no recipe/],
  ["YAML that is no recipe", "e.yaml", "- x", /e.yaml: 1 problem/],
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
    await expect(loadEntry(write(`export const sinks = ${wrong};`))).rejects.toThrow(
      /is not a list of sinks/,
    );
  rmSync(dir, { recursive: true });
});

test("where a recipe of the package is meant, and is not here, its place is said", async () => {
  const here = (name: string) => loadRecipe(join(tmpdir(), "recipes", name));
  await expect(here("quickstart.ts")).rejects.toMatchObject({
    hint: "The package has a recipe of that name: recipes/quickstart.ts",
  });
  await expect(here("missing.ts")).rejects.toMatchObject({
    hint: "`npx hone init` writes a recipe; the package's recipes are in recipes.",
  });
  const dir = mkdtempSync(join(tmpdir(), "hone-beside-"));
  for (const name of ["b.yaml", "a.mjs", "types.d.ts", "rows.jsonl"]) writeFileSync(join(dir, name), "");
  await expect(loadRecipe(join(dir, "missing.ts"))).rejects.toMatchObject({
    hint: "In that folder: a.mjs, b.yaml.",
  });
  rmSync(dir, { recursive: true });
});
