import { expect, test } from "vitest";
import { defineRecipe } from "../../lib/config/index.ts";
import { minimal } from "./recipes.ts";

const verification = (given: object) => defineRecipe({ ...minimal(), verification: given }).verification;

test("modules are named by path or file URL, and given no variables unless they are named", () => {
  const modules = { a: "./a.mjs", b: "file:///srv/b.ts" };
  expect(verification({ modules })).toMatchObject({ modules, env: [], journal: true });
  expect(verification({ env: ["JUDGE_API_KEY"] }).env).toEqual(["JUDGE_API_KEY"]);
});

test.each([
  ["data:text/javascript,1", /modules.a: is "data:.*must be a module by path: ".\/mine.ts", or file:\/\/\//],
  ["https://there/a.mjs", /must be a module by path/],
  ["lodash", /must be a module by path/],
])("%s names no module", (place, message) => {
  expect(() => verification({ modules: { a: place } })).toThrow(message);
});

test("a variable's value is no name", () => {
  expect(() => verification({ env: ["sk-1234"] })).toThrow(/must be the name of an environment variable/);
});
