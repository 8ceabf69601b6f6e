import { Script } from "node:vm";
import { expect, test } from "vitest";
import { bundle } from "../../lib/live/bundle.ts";

const from = (files: Record<string, string>) => (name: string) => files[name]!;

test("puts each module once, after what it needs", () => {
  const files = {
    "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\nexport const a = b + c;\na;',
    "b.js": 'import { c } from "./c.js";\nexport const b = c + 1;\n',
    "c.js": "export const c = 1;\nexport function unused() {}\n",
  };
  expect(new Script(bundle("a.js", from(files))).runInNewContext()).toBe(3);
});

test("the page itself becomes one script that the browser would parse: no name occurs twice", () => {
  const text = bundle("main.js");
  expect(() => new Script(text)).not.toThrow();
  expect(text).not.toMatch(/^(import|export) /m);
});

test.each([
  ["a default export", { "a.js": "export default 1;" }],
  ["an import that renames", { "a.js": 'import { b as c } from "./b.js";\n', "b.js": "" }],
  ["an import from elsewhere", { "a.js": 'import { b } from "elsewhere";\n' }],
  [
    "a module that imports itself",
    { "a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n' },
  ],
])("refuses %s", (_, files) => {
  expect(() => bundle("a.js", from(files))).toThrow(expect.objectContaining({ code: "HONE_ERR_INTERNAL" }));
});
