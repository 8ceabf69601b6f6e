import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectNew, rewardOf } from "../../lib/cli/init.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-init-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}
const one = file(
  "one.py",
  "import re\n\ndef score(completions):\n    def inner():\n        pass\n    return []\n",
);
const two = file("two.py", "def a(completions): ...\nasync def b(completions): ...\n");
const named = file("named.py", "def a(x): ...\ndef reward(completions): ...\n");
const helped = file(
  "helped.py",
  "def boxed(text, last=True):\n    ...\n\ndef accuracy(\n    completions, solution, **kwargs\n):\n    ...\n\ndef main():\n    ...\n",
);
const script = file("mine.ts", "");

test.each([
  ["math", { verifier: "math" }],
  [one, { python: `${one}#score` }],
  [`${two}#b`, { python: `${two}#b` }],
  [named, { python: named }],
  [helped, { python: `${helped}#accuracy` }],
  [`${script}#f`, { module: `${script}#f` }],
])("the reward that %s names", (text, expected) => {
  expect(rewardOf(text)).toEqual(expected);
});

test.each([
  ["maths", /neither a verifier nor a file/],
  [two, /which of its functions\? a, b/],
  [join(dir, "none.py"), /there is no .*none\.py here/],
])("no reward: %s", (text, message) => {
  expect(() => rewardOf(text)).toThrow(message);
});

test("a file that is there, or has no recipe's name, is refused", () => {
  expect(() => expectNew(script)).toThrow(/exists, and hone init overwrites no file/);
  expect(() => expectNew(join(dir, "recipe.txt"))).toThrow(/ends in \.ts, \.mjs, \.yaml or \.json/);
  expect(() => expectNew(join(dir, "new.ts"))).not.toThrow();
});
