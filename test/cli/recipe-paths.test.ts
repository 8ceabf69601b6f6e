import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "vitest";
import { besideFile } from "../../lib/cli/recipe-paths.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-recipe-paths-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
for (const name of ["rows.jsonl", "f.py", "m.ts", "t.jinja", "drops.json"])
  writeFileSync(join(dir, name), "");
mkdirSync(join(dir, "openai/gsm8k"), { recursive: true });

const file = join(dir, "recipe.yaml");
/** Spells a file of the recipe's folder as a path from the working folder. */
const seen = (name: string) => join(relative("", dir), name);

test("a path that is there beside the recipe is named as the working folder sees it", () => {
  const given = {
    model: { folder: "openai/gsm8k" },
    chatTemplate: { file: "t.jinja" },
    objective: { slopes: "./m.ts#slopes" },
    domains: {
      a: { source: "jsonl:rows.jsonl", reward: { python: "f.py#one" } },
      b: {
        source: "rows.jsonl",
        rewards: { x: { weight: 1, reward: "./m.ts" }, y: { reward: { python: "f.py" } } },
      },
      c: {
        source: { kind: "jsonl", path: ["rows.jsonl", "none.jsonl"], drops: "drops.json", map: "./m.ts#row" },
      },
    },
    evaluation: { sets: { d: { source: "math500:rows.jsonl", reward: "./m.ts#judge" } } },
  };
  expect(besideFile(given, file)).toEqual({
    model: { folder: seen("openai/gsm8k") },
    chatTemplate: { file: seen("t.jinja") },
    objective: { slopes: `${seen("m.ts")}#slopes` },
    domains: {
      a: { source: `jsonl:${seen("rows.jsonl")}`, reward: { python: `${seen("f.py")}#one` } },
      b: {
        source: seen("rows.jsonl"),
        rewards: { x: { weight: 1, reward: seen("m.ts") }, y: { reward: { python: seen("f.py") } } },
      },
      c: {
        source: {
          kind: "jsonl",
          path: [seen("rows.jsonl"), "none.jsonl"],
          drops: seen("drops.json"),
          map: `${seen("m.ts")}#row`,
        },
      },
    },
    evaluation: { sets: { d: { source: `math500:${seen("rows.jsonl")}`, reward: `${seen("m.ts")}#judge` } } },
  });
});

test("all else stays: what is not there, the Hub's names, addresses, absolute paths, other fields", () => {
  const given = {
    name: "f.py",
    model: { folder: "org/name" },
    domains: {
      a: { source: "hf:openai/gsm8k", reward: "verifier" },
      b: { source: "procedural/math", reward: "./none.ts" },
      c: { source: join(dir, "rows.jsonl"), reward: `file://${dir}/m.ts` },
      d: null,
      e: { source: { kind: "jsonl", path: "x", heldOut: 0.1 }, reward: { judge: { url: "http://f.py" } } },
    },
  };
  expect(besideFile(given, file)).toEqual(given);
});

test("in the working folder itself nothing changes", () => {
  const given = { domains: { a: { source: "package.json" } } };
  expect(besideFile(given, "recipe.yaml")).toBe(given);
});

test("a module below the working folder keeps the dot that makes it a module", () => {
  const given = { objective: { slopes: "./quickstart.ts" }, domains: { a: { reward: "./quickstart.ts#f" } } };
  expect(besideFile(given, "recipes/mine.yaml")).toEqual({
    objective: { slopes: "./recipes/quickstart.ts" },
    domains: { a: { reward: "./recipes/quickstart.ts#f" } },
  });
});
