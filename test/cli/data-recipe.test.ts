// Recipes in YAML and JSON: what YAML's pitfalls turn into, and which place an error names. The expected values come
// from the YAML 1.2 specification (10.3.2, the core schema), not from the parser.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isDataRecipe, readDataRecipe } from "../../lib/cli/data-recipe.ts";
import { ConfigError } from "../../lib/errors.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-data-recipes-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(text: string, name = "recipe.yaml"): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}
const read = async (text: string, name?: string) => (await readDataRecipe(file(text, name))).value;
const issuesOf = async (text: string, name?: string) => {
  const error: unknown = await read(text, name).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).issues;
};

test.each([
  ["the words of YAML 1.1 are texts", "a: [no, yes, on, off, y, NO]", ["no", "yes", "on", "off", "y", "NO"]],
  ["its booleans", "a: [true, False, TRUE]", [true, false, true]],
  ["numbers with an exponent and no point", "a: [1e-6, 1E3, +2e0]", [1e-6, 1000, 2]],
  ["a number in quotes is a text", "a: '1e-6'", "1e-6"],
  ["bases", "a: [0o17, 0x1F, 0, -0.5, 0.10]", [15, 31, 0, -0.5, 0.1]],
  ["what YAML 1.1 reads as numbers", "a: [1_000, '1:30', 1:30]", ["1_000", "1:30", "1:30"]],
  ["dates", "a: 2024-01-01", "2024-01-01"],
  ["null", "a: [null, ~, ]", [null, null]],
  ["a comment begins behind a blank alone", "a: rewards.py#f # of ours", "rewards.py#f"],
  ["a colon that no blank follows", "a: hf:openai/gsm8k", "hf:openai/gsm8k"],
  ["several lines", "a: |\n  x\n  y\n", "x\ny\n"],
  ["Windows' line ends, and a mark of bytes' order", "\uFEFFa:\r\n  b: 1\r\n", { b: 1 }],
])("%s", async (_, text, expected) => {
  expect(await read(text)).toEqual({ a: expected });
});

test("anchors and merge keys: a value of one's own comes first, and no two places share an object", async () => {
  const text = "base: &base { weight: 2, source: a }\nx: { <<: *base, weight: 3 }\ny: *base\nz: *base\n";
  const value = (await read(text)) as Record<string, object>;
  expect(value).toEqual({
    base: { weight: 2, source: "a" },
    x: { weight: 3, source: "a" },
    y: { weight: 2, source: "a" },
    z: { weight: 2, source: "a" },
  });
  expect(value["y"]).not.toBe(value["z"]);
});

test.each([
  ["a tab as indentation", "a:\n\tb: 1", "line 2, column 1", /Tabs.*indent YAML with spaces/],
  ["a key twice", "a: 1\nb:\n  c: 1\n  c: 2", "line 4, column 3", /unique: give the key once/],
  ["two documents", "a: 1\n---\nb: 2", "line 2, column 1", /one document/],
  [
    "a tag that makes something",
    "a: 1\nb: !!js/function 'x'",
    "line 2, column 4",
    /put the function into a module/,
  ],
  ["YAML 1.1 by its own word", "%YAML 1.1\n---\na: yes", "line 1, column 1", /YAML 1\.1; .*1\.2/],
  [
    "octal as YAML 1.1 writes it",
    "a: 1\nb: 010",
    "line 2, column 4",
    /010.*10 in YAML 1\.2 and 8 in YAML 1\.1/,
  ],
  [
    "a number with more digits than it keeps",
    "seed: 12345678901234567890",
    "line 1, column 7",
    /12345678901234567890/,
  ],
  ["a key that is a number", "a:\n  1e3: 2", "line 2, column 3", /1e3.*1000.*quotes/],
  ["a key that is a list", "? [a]\n: 1", "line 1, column 3", /not a text/],
  ["a list that does not end", "a: [1, 2", undefined, /\]/],
  ["a reserved mark", "a: @x", "line 1, column 4", /@/],
])("%s is refused, with its place", async (_, text, at, message) => {
  const issues = await issuesOf(text);
  if (at !== undefined) expect(issues.map((issue) => issue.at)).toEqual([at]);
  expect(issues[0]!.message).toMatch(message);
});

test("all faults of a file are told at once", async () => {
  const issues = await issuesOf("a: 010\nb: 1\nb: 2\nc: !x 1");
  expect(issues.map(({ at }) => at)).toEqual(["line 3, column 1", "line 4, column 4", "line 1, column 4"]);
});

test.each([
  ["an alias of nothing", "a: *none", /none/],
  [
    "a thousand of a thousand",
    `a0: &a0 [1, 1]\n${"123456789"
      .split("")
      .map(
        (n) =>
          `a${n}: &a${n} [${Array(10)
            .fill(`*a${Number(n) - 1}`)
            .join(", ")}]`,
      )
      .join("\n")}`,
    /alias/,
  ],
  ["nothing", "", /is not a recipe/],
  ["a list", "- 1", /is not a recipe/],
])("%s is refused", async (_, text, message) => {
  expect((await issuesOf(text))[0]!.message).toMatch(message);
});

test("JSON is JSON: no comments, no comma at the end, no key twice; `$schema` is the editor's", async () => {
  expect(await read('{\n\t"$schema": "x", "a": 1e-6, "b": 10 }', "r.json")).toEqual({ a: 1e-6, b: 10 });
  expect(await read("$schema: x\na: 1")).toEqual({ a: 1 });
  const [comma] = await issuesOf('{\n  "a": 1,\n}', "r.json");
  expect(comma).toMatchObject({ at: "line 3, column 1" });
  expect(comma!.message).toMatch(/is not JSON: .*trailing commas are YAML's/);
  expect(await issuesOf('{\n  "a": 1', "r.json")).toMatchObject([{ at: "line 2, column 9" }]);
  expect(await issuesOf('{ "a": 1,\n  "a": 2 }', "r.json")).toMatchObject([{ at: "line 2, column 3" }]);
});

const TEXT = `domains:
  math: &math
    weight: -1
    rewards:
      a.b: { weight: 0, reward: "(x) => 1" } # a name with a dot
  other:
    <<: *math
    source: 3
sinks: [jsonl,
  nowhere]
deterministic: yes
reward: rewards.py#f
empty:
`;

test.each([
  ["domains.math.weight", "line 3, column 13"],
  ["domains.math.rewards.a.b.weight", "line 5, column 22"],
  ["domains.math", "line 2, column 3"], // for a section the place is that of its name
  ["domains.other.weight", "line 3, column 13"], // merged
  ["domains.other.source", "line 8, column 13"],
  ["domains.other.nothing", "line 6, column 3"], // the path's last part that exists
  ["sinks.1", "line 10, column 3"],
  ["empty", "line 13, column 7"],
  ["", undefined],
])("the place of %s", async (path, at) => {
  const { located } = await readDataRecipe(file(TEXT));
  expect(located([{ path, message: "m" }])[0]!.at).toBe(at);
});

test("what data cannot hold is said: functions, YAML 1.1's words", async () => {
  const { located } = await readDataRecipe(file(TEXT));
  const [code, word] = located([
    { path: "domains.math.rewards.a.b.reward", message: "m" },
    { path: "deterministic", message: "expected true or false" },
  ]);
  expect(code!.message).toMatch(/text of a function; .*"\.\/mine\.ts#name"/);
  expect(word!.suggestion).toBe("true");
});

test("what a recipe in YAML or JSON is called", () => {
  expect(["a.yaml", "b.yml", "c.json", "d.jsonl", "e.ts", "f.yaml.gz"].map(isDataRecipe)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
